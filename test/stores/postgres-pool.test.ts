import { expect } from 'chai';
import { Client } from 'pg';
import { addressOf } from '../../builtins/stores/postgres/address.ts';
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

describe('the address of a DSN', () => {
  const DSN = 'postgres://me:secret@db.example:5432/gw';
  const same = async (other: string): Promise<boolean> => (await addressOf(DSN)) === (await addressOf(other));

  for (const other of [
    'postgresql://me:secret@db.example/gw',
    'postgres://me:%73ecret@DB.example:5432/gw?application_name=other',
    'postgres://me:another@db.example/gw?sslmode=disable',
    'postgres://db.example/gw?user=me&password=secret',
  ])
    it(`is the same for ${other}`, async () => {
      expect(await same(other)).to.equal(true);
    });

  for (const other of [
    'postgres://me:secret@db.example:5433/gw',
    'postgres://me:secret@db2.example/gw',
    'postgres://you:secret@db.example/gw',
    'postgres://me:secret@db.example/gw2',
    'postgres://me:secret@db.example/GW',
    'postgres://me:secret@db.example/gw?sslmode=verify-full',
  ])
    it(`is another for ${other}`, async () => {
      expect(await same(other)).to.equal(false);
    });

  it('holds no password', async () => {
    expect(await addressOf(DSN)).not.to.include('secret');
  });
});

describe('the connections of a gateway to Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite<PostgresServer>(startPostgres);

  for (const [most, variables] of [
    [PG_CONNECTIONS.unlessSaid, {}],
    [PG_CONNECTIONS.least, { GW_PG_CONNECTIONS: '6' }],
  ] as const)
    it(`are ${most} at most; pages that hang hold up no key${most > 6 ? ' and no change' : ''}, and five are left while it drains`, async () => {
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
      if (most > PG_CONNECTIONS.least) {
        const made = await keys.create({ name: 'made meanwhile', scopes: ['read_only'] });
        await keys.revoke(unseen.record.id, 'another');
        expect([await statusWith(t, made.key), await statusWith(t, unseen.key)]).to.deep.equal([200, 401]);
      }
      const figures = (await t.get('/metrics')).text;
      expect(figures).to.match(/^gateway_store_connections\{state="waiting"\} (?!0$)\d+$/m);
      expect(figures).to.match(/^gateway_store_connections\{state="used"\} (?!0$)\d+$/m);
      expect(answered, 'pages that were answered meanwhile').to.equal(0);
      expect(await open()).to.be.at.most(most);
      await holder.query('ROLLBACK');
      await Promise.all(pages);
      t.host.isLeaving = true;
      await eventually(async () => (await open()) <= 5);
      expect(await open()).to.be.at.most(5);
      await Promise.all([...pages.map(() => audit.list({ limit: 1, offset: 0 })), keys.page({}, 1), keys.totals()]);
      expect(await open()).to.be.at.most(5);
    });

  it('are one pool for all stores of an address, and another for another', async () => {
    const [dsn, other] = [await server().createDatabase(), await server().createDatabase()];
    const carried = async (second: string): Promise<number> => {
      const t = await gateway([undefined, dsn, second]);
      const { size } = t.host.carryover;
      await t.close();
      return size;
    };
    const same = await carried(dsn.replace('postgres:', 'postgresql:'));
    expect(await carried(other)).to.be.greaterThan(same);
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
    const live = Math.ceil((most * 0.8) / 10);
    await observer.query(
      `INSERT INTO gw_replicas SELECT 'other ' || n, 'host', '1', 0, n, n, 1, 1, '', 'alone', 0, now(), now(), now() + interval '1 hour'
      FROM generate_series(1, ${live}) AS n`,
    );
    expect(await warned(10)).to.match(
      new RegExp(`^${live + 1} live replicas may hold ${(live + 1) * 10} of the ${most} `),
    );
  });
});
