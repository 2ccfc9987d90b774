import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { rowsOf } from '../../builtins/stores/database/database.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { BEAT_MS } from '../../builtins/stores/replicas/beat.ts';
import type { Clock } from '../../host/common/clock.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  type FakeClock,
  fakeClock,
  forSuite,
  replyJson,
  startHost,
  startPgBouncer,
  startPostgres,
  startRelay,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const DEAF = 'changes by other processes cannot be heard of; keys are looked up again every 5 s';

async function replica(dsn: string, listenDsn?: string, clock?: Clock): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return startHost(
    { targets: [stub.target('a')] },
    {
      variables: {
        API_KEY_STORE_BACKEND: 'postgres',
        API_KEY_STORE_DSN: dsn,
        ...(listenDsn !== undefined && { API_KEY_STORE_LISTEN_DSN: listenDsn }),
      },
      ...(clock && { clock }),
    },
  );
}

/** Waits until it is so, and fails where it never is. */
async function soon(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(isSo, 20_000);
  expect(await isSo()).to.equal(true);
}

const statusWith = async (t: TestHost, key: string): Promise<number> =>
  (await t.post(CHAT, ask(), { authorization: `Bearer ${key}` })).status;
const hasLine = (t: TestHost, text: string): boolean => t.lines.some(({ msg, rule }) => msg === text || rule === text);
const messageOf = async (t: TestHost): Promise<unknown> => (await t.get('/admin/health')).json().components[1].message;

/** A key and a session that both are in use at `two`, and their end at `one`. */
async function inUse(one: TestHost, two: TestHost) {
  const { key, record } = await one.host.stores.keys.create({ name: 'shared', scopes: ['read_only'] });
  const { record: parent } = await one.host.stores.keys.create({ name: 'parent', scopes: ['read_only'] });
  const { token, session } = await one.host.stores.sessions.create({
    credentialId: parent.id,
    subject: 's',
    scopes: ['read_only'],
  });
  const statuses = async (): Promise<string> => `${await statusWith(two, key)} ${await statusWith(two, token)}`;
  expect(await statuses()).to.equal('200 200');
  return {
    statuses,
    end: async () => {
      await one.host.stores.keys.revoke(record.id, 'another');
      await one.host.stores.sessions.delete(session.id);
    },
  };
}

/** Moves time on until something is so, by half a beat at a time: a beat is answered, as its row shows, before its limit comes. */
async function beatUntil(t: TestHost, { clock, dsn }: Scene, isSo: () => boolean): Promise<void> {
  const database = await openPostgres(dsn);
  const seen = async (): Promise<unknown> =>
    rowsOf(await database.knex.raw('SELECT seen_at FROM gw_replicas WHERE id = ?', [t.host.stores.replica.id]))[0]?.[
      'seen_at'
    ];
  for (let steps = 0; steps < 80 && !isSo(); steps += 1) {
    const before = await seen();
    clock.advance(BEAT_MS / 2);
    await eventually(async () => (await seen()) !== before, 100);
    await sleep(20); // the answer, and the echo
  }
  await database.close();
  expect(isSo()).to.equal(true);
}

interface Scene {
  readonly clock: FakeClock;
  /** Past any relay or pooler. */
  readonly dsn: string;
}

describe('what a replica hears of others', function hearing() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);

  it('is known within five seconds where the way there loses notifications, and at once when it no longer does', async () => {
    const dsn = await server().createDatabase();
    const relay = await startRelay(dsn);
    const clock = fakeClock();
    const [one, two] = [await replica(dsn), await replica(dsn, relay.url, clock)];
    clock.advance(1); // from its first beat on it hears
    relay.mode = 'deaf';
    const first = await inUse(one, two);
    await first.end();
    clock.advance(4998);
    expect(await first.statuses(), 'what was read counts for five seconds').to.equal('200 200');
    clock.advance(2);
    expect(await first.statuses()).to.equal('401 401');
    await beatUntil(two, { clock, dsn }, () => hasLine(two, DEAF));
    expect(await messageOf(two)).to.match(/^changes are heard of within 5 s/);
    relay.mode = 'pass';
    await beatUntil(two, { clock, dsn }, () => two.host.stores.keys.note === undefined);
    const second = await inUse(one, two);
    await second.end();
    await soon(async () => (await second.statuses()) === '401 401');
    expect(String(await messageOf(two))).not.to.match(/^changes are heard/);
  });

  it('comes through PgBouncer in session mode, and by the address of the server itself in transaction mode', async () => {
    const dsn = await server().createDatabase();
    const one = await replica(dsn);
    for (const [mode, listenDsn] of [['session'], ['transaction', dsn]] as const) {
      const two = await replica(await startPgBouncer(mode, dsn), listenDsn, fakeClock());
      const { statuses, end } = await inUse(one, two);
      await end();
      await soon(async () => (await statuses()) === '401 401'); // no time passes for it
      expect(two.lines.filter(({ msg, rule }) => rule === 'WN81' || msg === DEAF)).to.deep.equal([]);
      await two.close();
    }
  });

  it('is known within five seconds through PgBouncer in transaction mode alone, which is said once', async () => {
    const dsn = await server().createDatabase();
    const one = await replica(dsn);
    const clock = fakeClock();
    const two = await replica(await startPgBouncer('transaction', dsn), undefined, clock);
    const { statuses, end } = await inUse(one, two);
    await end();
    clock.advance(5001);
    expect(await statuses()).to.equal('401 401');
    await beatUntil(two, { clock, dsn }, () => hasLine(two, 'WN81'));
    expect(await messageOf(two)).to.match(/^changes are heard of within 5 s/);
    const until = clock.monotonic() + 10 * BEAT_MS;
    await beatUntil(two, { clock, dsn }, () => clock.monotonic() >= until);
    expect(two.lines.filter(({ msg, rule }) => rule === 'WN81' || msg === DEAF)).to.have.length(2);
    expect(two.host.stores.leaders.isLeader('keys') || one.host.stores.leaders.isLeader('keys')).to.equal(true);
  });

  it('refuses the start where the listening address reaches another database, and makes nothing there', async () => {
    const [dsn, foreign] = [await server().createDatabase(), await server().createDatabase()];
    for (const [own, other] of [
      [dsn, foreign],
      [foreign, dsn],
    ] as const) {
      const start = await replica(own, other).then(
        () => 'started',
        ({ cause }: Error) => (cause as Error).message,
      );
      expect(start).to.match(/^API_KEY_STORE_LISTEN_DSN reaches another database than API_KEY_STORE_DSN/);
    }
    const database = await openPostgres(foreign);
    atEnd(() => database.close());
    const tables = await database.knex.raw("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace");
    expect(rowsOf(tables)).to.deep.equal([]);
  });
});
