import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { type Database, rowsOf } from '../../builtins/stores/database/database.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { BEAT_MS } from '../../builtins/stores/replicas/beat.ts';
import { type Clock, systemClock } from '../../host/common/clock.ts';
import { LOOK_MS } from '../../host/stores/log/log-retention.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  fakeClock,
  forSuite,
  replyJson,
  startHost,
  startPostgres,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const DAY_MS = 24 * 60 * 60 * 1000;
const FAMILIES = ['keys', 'config', 'log'] as const;

const LOGGED = [
  { name: 'request-logger', type: 'logging', stage: 'after_request', enabled: true, config: { persist: true } },
];

const onPostgres = (dsn: string): Record<string, string> => ({
  API_KEY_STORE_BACKEND: 'postgres',
  API_KEY_STORE_DSN: dsn,
  CONFIG_STORE_BACKEND: 'postgres',
  CONFIG_STORE_DSN: dsn,
  REQUEST_LOG_STORE_BACKEND: 'postgres',
  REQUEST_LOG_STORE_DSN: dsn,
  REQUEST_LOG_RETENTION: '30d',
});

async function replica(dsn: string, clock?: Clock, variables: Record<string, string> = {}): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return startHost(
    { targets: [stub.target('a')], plugins: LOGGED },
    { variables: { ...onPostgres(dsn), ...variables }, ...(clock && { clock, isOfDatabase: true }) },
  );
}

const led = ({ host }: TestHost): readonly string[] =>
  FAMILIES.filter((family) => host.stores.leaders.isLeader(family));
/** Waits until it is so, and fails where it never is. */
async function soon(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(isSo, 20_000);
  expect(await isSo()).to.equal(true);
}

const statusWith = async (t: TestHost, key: string): Promise<number> =>
  (await t.post(CHAT, ask(), { authorization: `Bearer ${key}` })).status;

async function opened(dsn: string): Promise<Database> {
  const database = await openPostgres(dsn);
  atEnd(() => database.close());
  return database;
}

const rows = async ({ knex }: Database, sql: string): Promise<readonly Record<string, unknown>[]> =>
  rowsOf(await knex.raw(sql));

describe('replicas on one Postgres', function replicas() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);

  it('have a row each while they live, and one of them does the jobs', async () => {
    const dsn = await server().createDatabase();
    const [one, two] = [await replica(dsn, undefined, { GW_REPLICA_NAME: 'web-1' }), await replica(dsn)];
    const database = await opened(dsn);
    const members = await rows(
      database,
      'SELECT id, host, protocol, until > clock_timestamp() AS live FROM gw_replicas ORDER BY joined',
    );
    expect(members.map(({ id }) => id)).to.deep.equal([one.host.stores.replica.id, two.host.stores.replica.id]);
    expect(members[0]).to.deep.include({ host: 'web-1', protocol: 0, live: true });
    expect([led(one), led(two)]).to.deep.equal([FAMILIES, []]);
    const [fleet] = await rows(database, 'SELECT fleet FROM gw_fleet');
    expect(fleet?.['fleet']).to.match(/^[0-9a-f]{12}$/);
    await one.close();
    await soon(async () => led(two).length === 3);
    expect(await rows(database, 'SELECT id FROM gw_replicas')).to.deep.equal([{ id: two.host.stores.replica.id }]);
  });

  it('take the jobs of one that was lost, once its lease has ended', async () => {
    const dsn = await server().createDatabase();
    const clock = fakeClock(Date.now());
    const [lost, other] = [await replica(dsn, clock), await replica(dsn)]; // no time passes for the first
    const database = await opened(dsn);
    expect([led(lost), led(other)]).to.deep.equal([FAMILIES, []]);
    await rows(database, "UPDATE gw_leases SET until = clock_timestamp() + interval '1 second'");
    await soon(async () => led(other).length === 3);
    expect(led(lost), 'as it believes, for at most twelve seconds').to.deep.equal(FAMILIES);
    clock.advance(BEAT_MS);
    await soon(() => led(lost).length === 0);
  });

  it('join anew under another id after they were taken for gone', async () => {
    const dsn = await server().createDatabase();
    const t = await replica(dsn);
    const before = t.host.stores.replica.id;
    const database = await opened(dsn);
    await rows(database, "UPDATE gw_replicas SET until = clock_timestamp() - interval '1 second'");
    await soon(async () =>
      (await rows(database, 'SELECT id FROM gw_replicas WHERE until > clock_timestamp()')).some(
        ({ id }) => id !== before,
      ),
    );
    expect(t.lines.filter(({ msg }) => msg === 'this replica was expelled and joins anew')).to.have.length(1);
    const two = await replica(dsn);
    const { key, record } = await two.host.stores.keys.create({ name: 'heard', scopes: ['read_only'] });
    expect(await statusWith(t, key)).to.equal(200);
    await two.host.stores.keys.revoke(record.id, 'another');
    await soon(async () => (await statusWith(t, key)) === 401);
  });

  it('remove what is over, by the leader and the clock of the database', async () => {
    const dsn = await server().createDatabase();
    const clock = fakeClock(Date.now());
    const t = await replica(dsn, clock);
    const database = await opened(dsn);
    const session = (id: string, created: string, expires: string): string =>
      `('${id}', '${id}', 's', 'c', '[]', now() + interval '${created}', now() + interval '${expires}')`;
    await rows(
      database,
      `INSERT INTO sessions (id, token_hash, subject, credential_id, scopes, created_at, expires_at) VALUES
      ${session('expired', '-1 minute', '-1 second')}, ${session('idle', '-61 minutes', '1 hour')}, ${session('live', '-59 minutes', '1 hour')}`,
    );
    await rows(
      database,
      `INSERT INTO unbooked_responses (id, body, created_at) VALUES ('old', '{}', now() - interval '25 hours'), ('new', '{}', now() - interval '23 hours')`,
    );
    await rows(
      database,
      `INSERT INTO gw_writers (writer, stream, seq, seen_at) VALUES ('old', 's', 1, now() - interval '31 days'), ('new', 's', 1, now() - interval '29 days')`,
    );
    await rows(
      database,
      `INSERT INTO gw_replicas (id, host, version, protocol, joined, knows, pid, workers, boot, mode, started_at, seen_at, until)
      SELECT id, '', '', 0, 0, 0, 0, 1, '', '', now(), now(), now() - gone FROM (VALUES ('old', interval '25 hours'), ('new', interval '23 hours')) AS ended (id, gone)`,
    );
    const left = async (table: string, column: string): Promise<readonly unknown[]> =>
      (await rows(database, `SELECT ${column} AS it FROM ${table} ORDER BY 1`)).map(({ it }) => it);
    const own = t.host.stores.replica.id;
    const all = async (): Promise<readonly (readonly unknown[])[]> => [
      await left('sessions', 'id'),
      await left('unbooked_responses', 'id'),
      await left('gw_writers', 'writer'),
      (await left('gw_replicas', 'id')).filter((id) => id !== own),
    ];
    expect((await all()).map(({ length }) => length)).to.deep.equal([3, 2, 2, 2]);
    await soon(async () => {
      clock.advance(BEAT_MS / 4); // beats are answered meanwhile
      return isDeepStrictEqual(await all(), [['live'], ['new'], ['new'], ['new']]);
    });
  });

  it('do not go by a clock that is 400 days ahead: nothing young is deleted, nothing ends early, and events keep their order', async () => {
    const dsn = await server().createDatabase();
    const aheadMs = 400 * DAY_MS;
    const wrongClock: Clock = { ...systemClock, now: () => Date.now() + aheadMs };
    const [right, wrong] = [await replica(dsn), await replica(dsn, wrongClock)];
    const database = await opened(dsn);
    const { stores } = right.host;
    const soon = Date.now() + 30 * 60_000;
    const { key, record } = await stores.keys.create({ name: 'short', scopes: ['admin'], expiresAt: soon });
    const { token } = await stores.sessions.create({ credentialId: record.id, subject: 's', scopes: ['admin'] });
    expect([await statusWith(wrong, key), await statusWith(wrong, token)]).to.deep.equal([200, 200]);
    await wrong.host.stores.sessions.create({ credentialId: record.id, subject: 's', scopes: ['admin'] });
    for (const [at, { host }] of [right, wrong, right, wrong].entries()) {
      host.stores.audit.append({ action: `action ${at}`, actor: 'a', outcome: 'ok' });
      await host.stores.audit.flush();
      await rows(database, 'SELECT pg_sleep(0.1)'); // one after another, by more than clocks are read to
    }
    expect(await statusWith(right, key)).to.equal(200);
    expect((await right.host.stores.sessions.page(10)).sessions.length).to.equal(2);
    await wrong.host.stores.keys.flush();
    expect((await stores.keys.get(record.id))?.lastUsedAt).to.be.closeTo(Date.now(), 60_000);
    const { entries } = await stores.audit.list({ limit: 4, offset: 0 });
    expect(entries.map(({ action }) => action)).to.deep.equal(['action 3', 'action 2', 'action 1', 'action 0']);
    expect(entries.every(({ occurredAt }) => Math.abs(occurredAt - Date.now()) < 60_000)).to.equal(true);
    await wrong.host.stores.logReader.value?.count(); // written
    const [logged] = await rows(
      database,
      "SELECT count(*) AS count, max(abs(extract(epoch FROM created_at - now()))) AS off FROM request_logs WHERE stage = 'after_request'",
    );
    expect(Number(logged?.['count'])).to.be.at.least(2);
    expect(Number(logged?.['off'])).to.be.lessThan(60);
    const warned = wrong.lines.filter(({ rule }) => rule === 'WN80');
    expect(warned.map(({ offset_ms: ms }) => Math.round(Number(ms) / 60_000))).to.deep.equal([aheadMs / 60_000]);
    expect(right.lines.filter(({ rule }) => rule === 'WN80')).to.deep.equal([]);
    const { components } = (await wrong.get('/admin/health')).json();
    expect(components[1]).to.include({ name: 'Key store', status: 'healthy' });
    expect(components[1].message).to.match(/^the clock of this machine is 345600\d\d s ahead of the database's$/);
    expect((await right.get('/admin/health')).json().components[1]).to.deep.equal({
      name: 'Key store',
      status: 'healthy',
    });
  });

  it('leave the shared log alone where the clock is 400 days ahead, and delete by the clock of the database', async () => {
    const dsn = await server().createDatabase();
    const [right, wrong] = [fakeClock(Date.now()), fakeClock(Date.now() + 400 * DAY_MS)];
    const two = await replica(dsn, wrong);
    const database = await opened(dsn);
    const log = (stage: string, age: string): Promise<unknown> =>
      rows(
        database,
        `INSERT INTO request_logs (stage, prompt_tokens, completion_tokens, total_tokens, created_at) VALUES ('${stage}', 0, 0, 0, now() - interval '${age}')`,
      );
    await Promise.all([log('young', '29 days'), log('old', '31 days')]);
    const stages = async (): Promise<readonly unknown[]> =>
      (await rows(database, 'SELECT stage FROM request_logs ORDER BY stage')).map(({ stage }) => stage);
    for (let at = 0; at < 3; at += 1) {
      wrong.advance(LOOK_MS);
      await two.host.stores.logReader.value?.count();
    }
    expect([led(two), await stages()]).to.deep.equal([[], ['old', 'young']]);
    const one = await replica(dsn, right);
    expect(led(one)).to.deep.equal(FAMILIES);
    right.advance(LOOK_MS);
    await soon(async () => isDeepStrictEqual(await stages(), ['young']));
  });

  it('keep a row of the log at its moment, however long it waited', async () => {
    const dsn = await server().createDatabase();
    const clock = fakeClock(Date.now() - DAY_MS);
    const t = await replica(dsn, clock);
    const database = await opened(dsn);
    await t.post(CHAT, ask());
    clock.advance(10 * 60_000); // it was not written yet
    await t.host.stores.logReader.value?.count();
    const [row] = await rows(
      database,
      "SELECT extract(epoch FROM now() - created_at) AS age FROM request_logs WHERE stage = 'after_request'",
    );
    expect(Number(row?.['age'])).to.be.within(-1, 60);
  });
});
