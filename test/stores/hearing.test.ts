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
/** What PgBouncer does not take by itself. */
const PARAMETERS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];

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

/** Beats until something is so. */
async function beatUntil(clock: FakeClock, isSo: () => boolean): Promise<void> {
  for (let beats = 0; beats < 60 && !isSo(); beats += 1) {
    clock.advance(BEAT_MS);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(isSo()).to.equal(true);
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
    await beatUntil(clock, () => hasLine(two, DEAF));
    expect(await messageOf(two)).to.match(/^changes are heard of within 5 s/);
    relay.mode = 'pass';
    await beatUntil(clock, () => two.host.stores.keys.note === undefined);
    const second = await inUse(one, two);
    await second.end();
    await eventually(async () => (await second.statuses()) === '401 401');
    expect(String(await messageOf(two))).not.to.match(/^changes are heard/);
  });

  it('comes through PgBouncer in session mode, and by the address of the server itself in transaction mode', async () => {
    const dsn = await server().createDatabase();
    const one = await replica(dsn);
    for (const [mode, listenDsn] of [['session'], ['transaction', dsn]] as const) {
      const two = await replica(await startPgBouncer(mode, dsn, { ignores: PARAMETERS }), listenDsn, fakeClock());
      const { statuses, end } = await inUse(one, two);
      await end();
      await eventually(async () => (await statuses()) === '401 401'); // no time passes for it
      expect(two.lines.filter(({ msg, rule }) => rule === 'WN81' || msg === DEAF)).to.deep.equal([]);
      await two.close();
    }
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
