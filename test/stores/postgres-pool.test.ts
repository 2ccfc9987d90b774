import { expect } from 'chai';
import { Client } from 'pg';
import { PG_CONNECTIONS } from '../../host/environment/store-settings.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  forSuite,
  type PostgresServer,
  replyJson,
  startHost,
  startPostgres,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const STORES = ['API_KEY_STORE', 'CONFIG_STORE', 'REQUEST_LOG_STORE'] as const;

/** A gateway whose stores stand at these addresses, in their order. */
async function gateway(
  dsns: readonly (string | undefined)[],
  variables: Readonly<Record<string, string>> = {},
): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const stores = STORES.flatMap((name, at) =>
    dsns[at] === undefined ? [] : [[`${name}_BACKEND`, 'postgres'] as const, [`${name}_DSN`, dsns[at]] as const],
  );
  return startHost({ targets: [stub.target('a')] }, { variables: { ...Object.fromEntries(stores), ...variables } });
}

async function client(dsn: string): Promise<Client> {
  const made = new Client({ connectionString: dsn });
  await made.connect();
  atEnd(() => made.end());
  return made;
}

/** Connections of the gateway to this database; of those that a test opens, none. */
async function connections(dsn: string): Promise<() => Promise<number>> {
  const observer = await client(dsn);
  return async () => {
    const { rows } = await observer.query(
      "SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gw'",
    );
    return Number(rows[0]?.['open']);
  };
}

const statusWith = async (t: TestHost, key: string): Promise<number> =>
  (await t.post('/v1/chat/completions', ask(), { authorization: `Bearer ${key}` })).status;

describe('the connections of a gateway to Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite<PostgresServer>(startPostgres);

  for (const [most, variables] of [
    [PG_CONNECTIONS.unlessSaid, {}],
    [PG_CONNECTIONS.least, { GW_PG_CONNECTIONS: '6' }],
  ] as const)
    it(`are ${most} at most; pages that hang hold up no key and no change, and five are left while it drains`, async () => {
      const dsn = await server().createDatabase();
      const t = await gateway([dsn, dsn, dsn], variables);
      const { keys, audit } = t.host.stores;
      const unseen = await keys.create({ name: 'never seen', scopes: ['read_only'] });
      const open = await connections(dsn);
      const holder = await client(dsn);
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE');
      let answered = 0;
      const pages = Array.from({ length: 30 }, () =>
        audit.list({ limit: 10, offset: 0 }).finally(() => {
          answered += 1;
        }),
      );
      const unknown = Array.from({ length: 30 }, (_, at) => statusWith(t, `gw_${at}`));
      expect(await statusWith(t, unseen.key)).to.equal(200);
      expect(await Promise.all(unknown)).to.deep.equal(unknown.map(() => 401));
      const made = await keys.create({ name: 'made meanwhile', scopes: ['read_only'] });
      await keys.revoke(unseen.record.id, 'another');
      expect([await statusWith(t, made.key), await statusWith(t, unseen.key)]).to.deep.equal([200, 401]);
      expect(answered, 'pages that were answered meanwhile').to.equal(0);
      expect(await open()).to.be.at.most(most);
      await holder.query('ROLLBACK');
      await Promise.all(pages);
      t.host.isLeaving = true;
      await eventually(async () => (await open()) <= 5);
      expect(await open()).to.be.at.most(5);
      await Promise.all([...pages.map(() => audit.list({ limit: 1, offset: 0 })), keys.list(), keys.totals()]);
      expect(await open()).to.be.at.most(5);
    });

  it('are one pool for DSNs that mean the same, and another for each that does not', async () => {
    const dsn = await server().createDatabase();
    const other = await server().createDatabase();
    const spelled = (change: (url: URL) => void): string => {
      const url = new URL(dsn);
      change(url);
      return url.href;
    };
    const password = new URL(dsn).password;
    const cases: readonly (readonly [number, string, string])[] = [
      [1, dsn, dsn],
      [1, dsn.replace('postgres:', 'postgresql:'), spelled((url) => url.searchParams.set('application_name', 'gw'))],
      [1, dsn, spelled((url) => (url.password = `%${password.charCodeAt(0).toString(16)}${password.slice(1)}`))],
      [2, dsn, other],
      [2, dsn, spelled((url) => (url.hostname = 'localhost'))],
    ];
    for (const [pools, first, second] of cases) {
      const before = await gateway([undefined, first, undefined]);
      const alone = before.host.carryover.size;
      await before.close();
      const t = await gateway([undefined, first, second]);
      expect(t.host.carryover.size - alone, second).to.equal(pools - 1);
      await t.close();
    }
  });

  it('are warned of where the server has too few for all replicas', async () => {
    const dsn = await server().createDatabase();
    const warned = async (connections_: number): Promise<unknown> => {
      const t = await gateway([dsn], { GW_PG_CONNECTIONS: String(connections_) });
      const line = t.lines.find(({ rule }) => rule === 'WN87');
      await t.close();
      return line?.['msg'];
    };
    const observer = await client(dsn);
    const { rows } = await observer.query("SELECT current_setting('max_connections')::int AS most");
    const most = Number(rows[0]?.['most']);
    expect(await warned(10)).to.equal(undefined);
    await observer.query('CREATE TABLE IF NOT EXISTS gw_replicas (until timestamptz)');
    const live = Math.ceil((most * 0.8) / 10);
    await observer.query(`INSERT INTO gw_replicas SELECT now() + interval '1 hour' FROM generate_series(1, ${live})`);
    expect(await warned(10)).to.match(
      new RegExp(`^${live + 1} live replicas may hold ${(live + 1) * 10} of the ${most} `),
    );
  });
});
