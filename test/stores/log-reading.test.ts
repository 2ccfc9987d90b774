import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { AuditStore } from '../../host/stores/audit/audit-store.ts';
import { MemoryAudit } from '../../host/stores/audit/memory-audit.ts';
import { reading } from '../../host/stores/reading.ts';
import { RequestLogStore } from '../../host/stores/log/request-log-store.ts';
import type { LogRepository } from '../../host/stores/log/log-repository.ts';
import { GivenUp } from '../../host/stores/store-link.ts';
import { rowsOf } from '../../builtins/stores/database/database.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { as, startAdmin } from '../admin/kit.ts';
import { atEnd, eventually, fakeClock, forSuite, MASTER_KEY, startPostgres } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const NEVER = new Promise<never>(() => {});
const ALL = { stages: [] };

/** Lets promises settle. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
};

const failed = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing',
    (error: unknown) => error,
  );

/** A request log whose readings never end by themselves. */
function scene(more: Partial<LogRepository> = {}) {
  const clock = fakeClock();
  const warnings: object[] = [];
  const written: string[] = [];
  const signals: AbortSignal[] = [];
  const endless = (...given: readonly unknown[]): Promise<never> => {
    signals.push(given.at(-1) as AbortSignal);
    return NEVER;
  };
  const repository = {
    append: async (rows: readonly { readonly trace_id: string }[]) => {
      written.push(...rows.map(({ trace_id }) => trace_id));
    },
    settle: async () => {},
    list: endless,
    count: endless,
    newestOf: endless,
    statistics: endless,
    series: endless,
    ...more,
  } as unknown as LogRepository;
  const store = new RequestLogStore(repository, {
    clock,
    log: { ...SILENT, warn: (message, attributes) => void warnings.push({ message, ...attributes }) },
    redactor: createRedactor({}),
    backend: 'test',
    retention: { days: undefined, rows: undefined },
    dropped: () => {},
  });
  return { clock, store, warnings, written, signals };
}

describe('a page of the audit trail', () => {
  it('is given up after ten seconds, and with its client, and rows are written all the same', async () => {
    const clock = fakeClock();
    const warnings: object[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const kept = new MemoryAudit();
    const audit = new AuditStore({
      clock,
      log: { ...SILENT, warn: (message, attributes) => void warnings.push({ message, ...attributes }) },
      redactor: createRedactor({}),
      randomBytes,
    });
    audit.supply('test', {
      append: (entries) => kept.append(entries),
      list: (_query, signal) => {
        signals.push(signal);
        return NEVER;
      },
      ping: () => kept.ping(),
    });
    const client = new AbortController();
    const [late, left] = [undefined, client.signal].map((signal) =>
      failed(audit.list({ limit: 1, offset: 0 }, signal)),
    );
    await turns();
    client.abort();
    expect(await left).to.have.property('code', 'client_canceled');
    clock.advance(10_000);
    expect(await late)
      .to.be.instanceOf(GivenUp)
      .and.to.have.property('message', 'the audit store does not answer');
    expect(signals.map((signal) => signal?.aborted)).to.deep.equal([true, true]);
    expect(warnings).to.deep.equal([
      { message: 'a reading of the audit trail was given up', what: 'a list', ms: 10_000 },
    ]);
    expect(audit.link.isAway).to.equal(false);
    audit.append({ action: 'after', actor: 'ada', outcome: 'ok' });
    await audit.flush();
    expect((await kept.list({ limit: 9, offset: 0 })).total).to.equal(1);
  });
});

describe('a reading of the request log', () => {
  it('is given up after ten seconds in all, which says nothing of the store: rows are written on', async () => {
    const t = scene();
    const page = failed(t.store.list(ALL, 1, 0));
    await turns();
    t.clock.advance(9999);
    await turns();
    expect(t.signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
    t.clock.advance(1);
    expect(await page)
      .to.be.instanceOf(GivenUp)
      .and.to.have.property('message', 'the request log store does not answer');
    expect(t.signals[0]?.aborted).to.equal(true);
    expect(t.warnings).to.deep.equal([
      { message: 'a reading of the request log was given up', what: 'a list', ms: 10_000 },
    ]);
    t.store.append({ trace_id: 'after', stage: 'after_request', model: 'm', created_at: 1 });
    t.clock.advance(100);
    await turns();
    expect(t.written).to.deep.equal(['after']);
  });

  it('counts the writing of what waits in', async () => {
    const t = scene({ append: () => NEVER });
    t.store.append({ trace_id: 't', stage: 'after_request', model: 'm', created_at: 1 });
    const count = failed(t.store.count());
    await turns();
    t.clock.advance(10_000);
    expect(await count).to.be.instanceOf(Error);
    expect(t.signals, 'not asked').to.deep.equal([]);
  });

  it('has one limit for statistics and their series', async () => {
    const parts: string[] = [];
    const t = scene({
      statistics: async () => parts.push('statistics') as never,
      series: (...given) => {
        parts.push('series');
        t.signals.push(given[2] as AbortSignal);
        return NEVER;
      },
    });
    const window = { start: 0, end: 1000, buckets: 1 };
    const page = failed(
      t.store.statistics({ filters: ALL, stage: undefined, by: [], series: { filters: ALL, window } }),
    );
    await turns();
    expect(parts).to.deep.equal(['statistics', 'series']);
    t.clock.advance(10_000);
    expect(await page).to.be.instanceOf(GivenUp);
    expect(t.signals[0]?.aborted).to.equal(true);
  });

  it('ends when its client leaves, before it began too, and leaves no timer', async () => {
    const t = scene();
    const idle = t.clock.waiting; // of its jobs
    const client = new AbortController();
    const page = failed(t.store.list(ALL, 1, 0, client.signal));
    await turns();
    client.abort();
    expect(await page).to.have.property('code', 'client_canceled');
    await turns();
    expect([t.signals[0]?.aborted, t.clock.waiting, t.warnings]).to.deep.equal([true, idle, []]);
    expect(await failed(t.store.list(ALL, 1, 0, client.signal))).to.have.property('code', 'client_canceled');
    expect([t.signals.length, t.clock.waiting]).to.deep.equal([1, idle]);
  });

  it('that is over in time leaves nothing behind', async () => {
    const clock = fakeClock();
    const client = new AbortController();
    const late = (): void => expect.fail('it is over');
    expect(
      await reading({ clock, client: client.signal, limitMs: 5, store: 'the request log store', late }, async () => 7),
    ).to.equal(7);
    expect(clock.waiting).to.equal(0);
    client.abort();
  });
});

describe('a reading of Postgres', function onPostgres() {
  this.timeout(60_000);
  const dsn = forSuite(async () => (await startPostgres()).createDatabase());

  it('is ended by the server with the signal, and others are asked as before', async () => {
    const database = await openPostgres(dsn());
    atEnd(() => database.close());
    const running = async (): Promise<number> => {
      const { rows } = (await database.knex.raw(
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active' AND datname = current_database()",
      )) as { rows: { count: number }[] };
      return rows[0]!.count;
    };
    const end = new AbortController();
    const asleep = failed(database.read((db) => db.raw('SELECT pg_sleep(60)'), end.signal));
    await eventually(async () => (await running()) === 1);
    expect(await running()).to.equal(1);
    end.abort();
    expect(await asleep).to.be.instanceOf(Error);
    await eventually(async () => (await running()) === 0);
    expect(await running(), 'the statement goes on').to.equal(0);
    expect(rowsOf(await database.read((db) => db.raw('SELECT 7 AS n')))).to.deep.equal([{ n: 7 }]);
    expect(await failed(database.read(async () => 1, end.signal))).to.equal(end.signal.reason);
  });

  it('of the admin API ends in the server when its client leaves', async () => {
    const t = await startAdmin({
      variables: { REQUEST_LOG_STORE_BACKEND: 'postgres', REQUEST_LOG_STORE_DSN: dsn() },
    });
    const database = await openPostgres(dsn());
    atEnd(() => database.close());
    const waiting = async (): Promise<number> => {
      const [row] = rowsOf(
        await database
          .on('lookups')
          .raw(
            "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
          ),
      );
      return Number(row?.['count']);
    };
    const held = await database.knex.transaction();
    await held.raw('LOCK TABLE request_logs IN ACCESS EXCLUSIVE MODE');
    try {
      for (const path of [
        '/admin/logs',
        '/admin/logs/stats?since=2026-01-01T00:00:00Z&buckets=5',
        '/admin/dashboard',
        '/admin/explain/x',
      ]) {
        const client = new AbortController();
        const asked = failed(fetch(t.url + path, { headers: as(MASTER_KEY), signal: client.signal }));
        await eventually(async () => (await waiting()) === 1);
        expect(await waiting(), path).to.equal(1);
        client.abort();
        await asked;
        await eventually(async () => (await waiting()) === 0);
        expect(await waiting(), path).to.equal(0);
      }
    } finally {
      await held.rollback();
    }
    expect((await t.get('/admin/logs')).status).to.equal(200);
    expect(t.lines.filter(({ msg }) => msg === 'the request log store does not answer')).to.deep.equal([]);
  });
});
