import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { type Database, type Lane, rowsOf } from '../../builtins/stores/database/database.ts';
import { StatementTookTooLong } from '../../builtins/stores/postgres/pooled-connection.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  fakeClock,
  type FakeClock,
  forSuite,
  type Relay,
  replyJson,
  startHost,
  startPgBouncer,
  startPostgres,
  startRelay,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const LANES: readonly Lane[] = ['lookups', 'changes', 'ledger', 'log', 'state', 'reads'];

async function opened(dsn: string, clock?: FakeClock): Promise<Database> {
  const database = await openPostgres(dsn, { ...(clock && { clock }) });
  atEnd(() => database.close());
  return database;
}

const one = async (database: Database, lane: Lane): Promise<unknown> =>
  rowsOf(await database.on(lane).raw('SELECT 1 AS one'))[0]?.['one'];
const failure = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => 'it answered',
    (error: unknown) => error,
  );

/** Lets time pass until something has ended, a tenth of a second at a time. Resolves with the seconds that it took. */
async function passing(clock: FakeClock, ...ends: readonly Promise<unknown>[]): Promise<number> {
  const begun = clock.monotonic();
  const ended = Promise.all(ends).then(() => true);
  while (!(await Promise.race([ended, sleep(2, false)])) && clock.monotonic() - begun < 60_000) clock.advance(100);
  return (clock.monotonic() - begun) / 1000;
}

describe('connections to Postgres that die in silence', function onPostgres() {
  this.timeout(60_000);
  const dsn = forSuite(async () => (await startPostgres()).createDatabase());

  /** A database with an idle connection of each purpose, and a relay before it. */
  async function begun(): Promise<{ database: Database; relay: Relay; clock: FakeClock }> {
    const [relay, clock] = [await startRelay(dsn()), fakeClock()];
    const database = await opened(relay.url, clock);
    atEnd(() => {
      relay.mode = 'cut'; // no goodbye would be answered, and this clock stands still
    });
    for (const lane of LANES) expect(await one(database, lane)).to.equal(1);
    expect(relay.open).to.equal(LANES.length);
    return { database, relay, clock };
  }

  it('are destroyed with the statement that is not answered, and the next gets another', async () => {
    const { database, relay, clock } = await begun();
    const happened = relay.after('unanswered');
    const asked = failure(database.on('lookups').raw("SELECT 'unanswered'"));
    await happened;
    clock.advance(2499);
    expect(relay.open).to.equal(LANES.length);
    clock.advance(1);
    expect(await asked).to.be.instanceOf(StatementTookTooLong);
    await eventually(() => relay.open === LANES.length - 1);
    expect(relay.open).to.equal(LANES.length - 1);
    expect(await one(database, 'lookups')).to.equal(1);
    expect(relay.open).to.equal(LANES.length);
  });

  it('are given up within the bounds of what they are for', async () => {
    const { database, relay, clock } = await begun();
    const bounds = { lookups: 2500, changes: 9000, ledger: 6000, log: 6000, state: 2500, reads: 11_000 };
    for (const [lane, bound] of Object.entries(bounds) as [Lane, number][]) {
      const happened = relay.after(`unanswered ${lane}`);
      const asked = failure(database.on(lane).raw(`SELECT 'unanswered ${lane}'`));
      while (clock.next !== undefined && clock.next < 1000) clock.advance(clock.next);
      await happened;
      const before = clock.monotonic();
      clock.advance(bound);
      expect(await asked, lane).to.be.instanceOf(StatementTookTooLong);
      expect(clock.monotonic() - before).to.equal(bound);
    }
  });

  it('leave the others in doubt: those that are idle are asked before they are lent', async () => {
    const { database, relay, clock } = await begun();
    relay.mode = 'silent';
    const lost = failure(database.on('lookups').raw('SELECT 1'));
    await passing(clock, lost);
    expect(await lost).to.be.instanceOf(StatementTookTooLong);
    const asked = one(database, 'changes');
    expect(await passing(clock, asked), 'seconds until another connection answers').to.be.within(0.9, 15);
    expect(await asked).to.equal(1);
  });

  it('are thrown away, all that are idle, after three in a row', async () => {
    const { database, relay, clock } = await begun();
    relay.mode = 'silent';
    const lost = (['lookups', 'log', 'reads'] as const).map((lane) => failure(database.on(lane).raw('SELECT 1')));
    await passing(clock, ...lost);
    for (const end of lost) expect(await end).to.be.instanceOf(StatementTookTooLong);
    await eventually(() => relay.open === 0);
    expect(relay.open).to.equal(0);
    for (const lane of LANES) expect(await one(database, lane)).to.equal(1);
  });

  it('are not thrown away for a statement that the server refuses', async () => {
    const { database, relay } = await begun();
    for (let at = 0; at < 4; at += 1)
      expect(await failure(database.on('lookups').raw('SELECT nothing'))).to.have.property('code', '42703');
    expect([relay.open, relay.taken]).to.deep.equal([LANES.length, LANES.length]);
  });

  it('end a transaction of theirs, and no place is lost', async () => {
    const { database, relay, clock } = await begun();
    for (let at = 0; at < 8; at += 1) {
      void relay.after('unanswered');
      const ended = failure(
        database.knex.transaction(async (trx) => {
          await trx.raw("SELECT 'unanswered'");
        }),
      );
      await passing(clock, ended);
      expect(await ended).to.be.instanceOf(StatementTookTooLong);
      clock.advance(60_000); // nothing is in doubt any more
    }
    expect(await one(database, 'changes')).to.equal(1);
  });
});

describe('connections to Postgres that nothing is asked of', function onPostgres() {
  this.timeout(60_000);
  const dsn = forSuite(async () => (await startPostgres()).createDatabase());

  it('are five at most, none after five minutes, and none is older than half an hour', async () => {
    const [relay, clock] = [await startRelay(dsn()), fakeClock()];
    const database = await opened(relay.url, clock);
    await Promise.all(LANES.map((lane) => one(database, lane)));
    expect(relay.open).to.equal(LANES.length).and.to.be.greaterThan(5);
    clock.advance(1000);
    await eventually(() => relay.open === 5);
    expect(relay.open).to.equal(5);
    for (let minutes = 0; minutes < 30; minutes += 4) {
      expect(await one(database, 'lookups')).to.equal(1);
      clock.advance(4 * 60_000);
    }
    await eventually(() => relay.open === 1);
    const { taken } = relay;
    expect(relay.open).to.equal(1);
    expect(taken - LANES.length, 'another for look-ups, where the surplus was theirs').to.be.within(0, 1);
    for (let asked = 0; asked < 3 && relay.taken === taken; asked += 1) {
      expect(await one(database, 'lookups')).to.equal(1);
      if (relay.taken === taken) clock.advance(4 * 60_000); // it was made some minutes later, in the place of a surplus one
    }
    await eventually(() => relay.open === 1);
    expect([relay.open, relay.taken - taken], 'by another').to.deep.equal([1, 1]);
    clock.advance(5 * 60_000 + 1000);
    await eventually(() => relay.open === 0);
    expect(relay.open).to.equal(0);
  });
});

describe('what is asked of Postgres and stopped', function onPostgres() {
  this.timeout(60_000);
  const dsn = forSuite(async () => (await startPostgres()).createDatabase());
  const sleeping = async (database: Database): Promise<number> =>
    rowsOf(
      await database
        .on('lookups')
        .raw(
          "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid() AND state = 'active'",
        ),
    ).length;

  it('ends on the server as well, and the connection goes on', async () => {
    const relay = await startRelay(dsn());
    const database = await opened(relay.url);
    const stop = new AbortController();
    const asked = failure(database.on('reads', stop.signal).raw('SELECT pg_sleep(60)'));
    await eventually(async () => (await sleeping(database)) === 1);
    const before = relay.open;
    stop.abort();
    expect(await asked).to.have.property('code', '57014');
    expect(await sleeping(database)).to.equal(0);
    expect(await one(database, 'reads')).to.equal(1);
    await eventually(() => relay.open === before);
    expect(relay.open).to.equal(before);
  });

  it('ends with its transaction', async () => {
    const database = await opened(dsn());
    const stop = new AbortController();
    const asked = failure(
      database.on('reads', stop.signal).transaction(async (trx) => {
        await trx.raw('SELECT 1');
        stop.abort();
        await trx.raw('SELECT 2');
      }),
    );
    expect(await asked)
      .to.have.property('message')
      .that.includes('it was stopped before it was asked');
    expect(await one(database, 'reads')).to.equal(1);
  });

  it('is destroyed where the server does not hear of it', async () => {
    const [relay, clock] = [await startRelay(dsn()), fakeClock()];
    const database = await opened(relay.url, clock);
    atEnd(() => {
      relay.mode = 'cut'; // no goodbye would be answered, and this clock stands still
    });
    await one(database, 'reads');
    const stop = new AbortController();
    const happened = relay.after('unanswered', { all: true });
    const asked = failure(database.on('reads', stop.signal).raw("SELECT 'unanswered'"));
    await happened;
    relay.mode = 'dark';
    stop.abort();
    clock.advance(1000);
    expect(await asked).to.be.instanceOf(StatementTookTooLong);
    relay.mode = 'pass';
    expect(await one(database, 'reads')).to.equal(1);
  });
});

describe('a pooler before Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  const direct = forSuite(async () => server().createDatabase());
  const strict = forSuite(async () => startPgBouncer('transaction', direct()));
  const forgetful = forSuite(async () =>
    startPgBouncer('transaction', direct(), {
      ignores: ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
    }),
  );
  const session = forSuite(async () => startPgBouncer('session', direct()));
  const statement = forSuite(async () => startPgBouncer('statement', direct()));
  const NAMES = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
  const settings = "SELECT name, setting FROM pg_settings WHERE name IN ('" + NAMES.join("', '") + "')";

  it('is found out, and bounds go with the beginning of a transaction', async () => {
    for (const [dsn, isPooled] of [
      [direct(), false],
      [strict(), true],
      [forgetful(), true],
      [session(), true],
    ] as const) {
      const database = await opened(dsn);
      const inside = await database.knex.transaction(async (trx) => rowsOf(await trx.raw(settings)));
      expect(Object.fromEntries(inside.map(({ name, setting }) => [name, setting])), dsn).to.deep.equal({
        statement_timeout: '8000',
        lock_timeout: '7000',
        idle_in_transaction_session_timeout: '5000',
      });
      expect(database.isPooled).to.equal(isPooled);
      const outside = rowsOf(await database.knex.raw(settings)).map(({ setting }) => setting);
      expect(new Set(outside).has('0')).to.equal(isPooled);
    }
  });

  it('gets them in one message with it', async () => {
    const relay = await startRelay(strict());
    const database = await opened(relay.url);
    await one(database, 'changes');
    const [begins, settingsSent] = [relay.counts('BEGIN'), relay.counts('SET LOCAL')];
    await database.knex.transaction((trx) => trx.raw('SELECT 1'), { isolationLevel: 'repeatable read' });
    expect([begins.count, settingsSent.count]).to.deep.equal([1, 1]);
  });

  it('keeps nothing of a connection that another may get', async () => {
    const relay = await startRelay(strict());
    const database = await opened(relay.url);
    const sessionSettings = relay.counts('SET statement_timeout');
    await Promise.all(LANES.map((lane) => one(database, lane)));
    expect(sessionSettings.count).to.equal(0);
  });

  it('does not stand in the way of a gateway: tables, keys, configuration and log rows, by two that start at once', async () => {
    const url = new URL(strict());
    url.pathname = new URL(await server().createDatabase()).pathname;
    const variables = Object.fromEntries(
      ['API_KEY_STORE', 'CONFIG_STORE', 'REQUEST_LOG_STORE'].flatMap((name) => [
        [`${name}_BACKEND`, 'postgres'],
        [`${name}_DSN`, url.href],
      ]),
    );
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const logged = { name: 'request-logger', stage: 'after_request', enabled: true, config: { persist: true } };
    const start = (): Promise<TestHost> => startHost({ targets: [stub.target('a')], plugins: [logged] }, { variables });
    const [one_, two] = await Promise.all([start(), start()]);
    const { keys } = one_.host.stores;
    const { key, record } = await keys.create({ name: 'through a pooler', scopes: ['read_only'] });
    const status = async (t: TestHost): Promise<number> =>
      (await t.post('/v1/chat/completions', ask(), { authorization: `Bearer ${key}` })).status;
    expect([await status(one_), await status(two)]).to.deep.equal([200, 200]);
    await keys.revoke(record.id, 'another');
    expect(await status(one_)).to.equal(401);
    const { configuration, logReader } = one_.host.stores;
    await configuration.value.append({ kind: 'write', text: '{}', actor: 'ada' });
    expect((await two.host.stores.configuration.value.newest()).version).to.equal(1);
    await eventually(async () => (await logReader.value?.list({ stages: [] }, 10, 0))?.total === 2);
    expect((await logReader.value?.list({ stages: [] }, 10, 0))?.total).to.equal(2);
  });

  it('is refused where it passes no transactions on', async () => {
    const refused = await failure(
      startHost(
        { targets: [{ virtual_key: 'echo' }] },
        { variables: { API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: statement() } },
      ),
    );
    expect(refused).to.have.property('message').that.includes('API_KEY_STORE_DSN');
    expect((refused as Error).cause)
      .to.have.property('message')
      .that.includes('transaction or session');
  });
});
