import { expect } from 'chai';
import type { RequestLogRow } from '../../host/contract/index.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { LogQueue } from '../../host/stores/log/log-queue.ts';
import { givenRow } from '../../host/stores/log/log-row.ts';
import type { LogFilters, LogRepository, LogRow } from '../../host/stores/log/log-repository.ts';
import type { Retention } from '../../host/stores/log/log-retention.ts';
import { MOST_WAITING_ROWS, RequestLogStore } from '../../host/stores/log/request-log-store.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import { fakeClock } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const row = (more: Partial<RequestLogRow> = {}): RequestLogRow => ({
  trace_id: 't',
  stage: 'after_request',
  model: 'm',
  created_at: 1,
  ...more,
});

/** Rows in memory, behind a switch that makes every call fail. */
function scene(retention: Retention = { days: undefined, rows: undefined }) {
  const clock = fakeClock();
  const rows: (LogRow & { readonly id: number })[] = [];
  const statements: number[] = [];
  const told: string[] = [];
  const state = {
    isAway: false,
    breaks: false,
    writes: 0,
    refuses: (_row: LogRow): boolean => false,
    settles: (): Promise<void> => Promise.resolve(),
    dropped: 0,
    nextId: 1,
  };
  const answer = <T>(value: () => T): Promise<T> =>
    state.isAway ? Promise.reject(new Error('connection refused')) : Promise.resolve().then(value);
  const insert = (given: readonly LogRow[]): void => {
    if (given.some((each) => state.refuses(each))) throw new WriteFault('refused', new Error('refused'));
    statements.push(given.length);
    rows.push(...given.map((each) => ({ ...each, id: state.nextId++ })));
  };
  const repository: LogRepository = {
    append: (given) =>
      answer(() => {
        state.writes += 1;
        if (state.breaks) throw new Error('disk full');
        insert(given);
      }),
    settle: () => state.settles(),
    annotate: (row, stage) =>
      answer(() => {
        const at = rows.findLastIndex(
          (each) => each.trace_id === row.trace_id && each.stage === stage && each.error_message === null,
        );
        if (at >= 0) rows[at] = { ...rows[at]!, error_message: row.error_message };
        else insert([row]);
      }),
    list: () => answer(() => ({ rows, total: rows.length })),
    search: () => answer(() => ({ rows, next: undefined, searched: rows.length, searchedTo: undefined })),
    countFound: () => answer(() => ({ count: rows.length, next: undefined })),
    sum: () => answer(() => false),
    values: () => answer(() => ({ values: [], isPartial: false })),
    ofTrace: (id) => answer(() => rows.filter(({ trace_id }) => trace_id === id)),
    count: () => answer(() => rows.length),
    newestOf: () => answer(() => rows.at(-1)),
    statistics: () =>
      answer(() => {
        throw new Error('not asked');
      }),
    shares: () =>
      answer(() => {
        throw new Error('not asked');
      }),
    series: () =>
      answer(() => {
        throw new Error('not asked');
      }),
    newestId: () => answer(() => state.nextId - 1),
    purgeBeyond: (kept, most) => answer(() => rows.splice(0, Math.min(most, Math.max(0, rows.length - kept))).length),
    purge: ({ before = Infinity, olderThan }: LogFilters, upTo, most) =>
      answer(() => {
        const bound = olderThan ? olderThan.now - olderThan.ms : before;
        const gone = rows.filter((each) => each.created_at < bound && each.id <= upTo).slice(0, most);
        for (const each of gone) rows.splice(rows.indexOf(each), 1);
        return gone.length;
      }),
    ping: () => answer(() => undefined),
  };
  const log = {
    ...SILENT,
    warn: (message: string) => {
      told.push(message);
    },
    error: (message: string) => {
      told.push(message);
    },
  };
  const store = new RequestLogStore(repository, {
    clock,
    log,
    redactor: createRedactor({}),
    backend: 'test',
    retention,
    dropped: (count) => {
      state.dropped += count;
    },
  });
  return { clock, rows, statements, told, state, store };
}

/** Lets promises settle, some turns at most. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !isSo(); turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  expect(isSo()).to.equal(true);
}

/** How many rows there are after some turns in which none is asked for. */
async function nothingMore({ rows }: { readonly rows: readonly LogRow[] }): Promise<number> {
  for (let turn = 0; turn < 20; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  return rows.length;
}

const models = ({ rows }: { readonly rows: readonly LogRow[] }): (string | null)[] => rows.map(({ model }) => model);

describe('rows of the request log', () => {
  it('are written together, a tenth of a second after the first', async () => {
    const t = scene();
    for (let at = 0; at < 20; at += 1) t.store.append(row({ model: `m${at}` }));
    expect(t.rows).to.deep.equal([]);
    t.clock.advance(100);
    await until(() => t.rows.length === 20);
    expect([t.statements, models(t)[19]]).to.deep.equal([[20], 'm19']);
    t.store.append(row());
    t.clock.advance(100);
    await until(() => t.rows.length === 21);
  });

  it('are written at once when many wait, and by a clean stop', async () => {
    const t = scene();
    for (let at = 0; at < 1203; at += 1) t.store.append(row());
    await t.store.close();
    expect([t.rows.length, Math.max(...t.statements)]).to.deep.equal([1203, 500]);
  });

  it('that come while others are written wait for more, a tenth of a second at most: a statement of few costs nearly as much as one of many', async () => {
    const t = scene();
    for (let at = 0; at < 500; at += 1) t.store.append(row());
    await until(() => {
      t.store.append(row());
      return t.rows.length >= 500;
    });
    t.store.append(row());
    expect([t.statements, await nothingMore(t)]).to.deep.equal([[500], 500]);
    t.clock.advance(100);
    await until(() => t.statements.length === 2);
  });

  it('are there for who reads while others are written', async () => {
    const t = scene();
    for (let at = 0; at < 501; at += 1) t.store.append(row());
    expect((await t.store.list({ stages: [] }, 1, 0)).total).to.equal(501);
    t.store.append(row());
    const both = await Promise.all([
      t.store.list({ stages: [] }, 1, 0),
      Promise.resolve().then(() => {
        t.store.append(row());
        return t.store.list({ stages: [] }, 1, 0);
      }),
    ]);
    expect(both.map(({ total }) => total)).to.deep.equal([503, 503]);
  });

  it('are there for who reads, before their time', async () => {
    const t = scene();
    t.store.append(row());
    expect((await t.store.list({ stages: [] }, 1, 0)).total).to.equal(1);
  });

  it('wait while the store is away, and keep their order', async () => {
    const t = scene();
    t.state.isAway = true;
    for (let at = 0; at < 3; at += 1) t.store.append(row({ model: `m${at}` }));
    t.clock.advance(100);
    await until(() => t.told.length === 2);
    expect(t.told).to.deep.equal([
      'the request log store does not answer',
      'rows of the request log could not be written, they wait',
    ]);
    t.store.append(row({ model: 'm3' }));
    t.state.isAway = false;
    t.clock.advance(1000);
    await until(() => t.rows.length === 4);
    expect(models(t)).to.deep.equal(['m0', 'm1', 'm2', 'm3']);
  });

  it('are written once, though the store hangs behind them', async () => {
    const t = scene();
    t.state.settles = () => new Promise(() => {});
    t.store.append(row({ model: 'a' }));
    t.clock.advance(100);
    await until(() => t.rows.length === 1);
    t.clock.advance(10_000);
    await until(() => t.told.length === 1);
    t.state.settles = () => Promise.resolve();
    t.store.append(row({ model: 'b' }));
    t.clock.advance(1000);
    await until(() => t.rows.length > 1);
    expect([models(t), t.told, t.state.dropped]).to.deep.equal([
      ['a', 'b'],
      ['the request log store does not answer'],
      0,
    ]);
  });

  it('of too many that wait, those that end no request are dropped first, the oldest of them, and counted', async () => {
    const t = scene();
    t.state.isAway = true;
    const half = MOST_WAITING_ROWS / 2;
    for (let at = 0; at < half; at += 1) {
      t.store.append(row({ stage: 'before_request', model: `b${at}` }));
      t.store.append(row({ model: `a${at}` }));
    }
    await t.store.flush();
    const inHand = 500; // one batch has left the queue
    for (let at = 0; at < half + inHand; at += 1) t.store.append(row({ model: `later${at}` }));
    t.state.isAway = false;
    await t.store.flush();
    expect(t.state.dropped).to.equal(half);
    const ending = t.rows.filter(({ stage }) => stage === 'after_request').length;
    expect(ending).to.be.within(half * 2, half * 2 + inHand);
    expect(t.told).to.include('rows of the request log were dropped: too many waited for their store');
  });

  it('that the store refuses do not hold up the others, and are named', async () => {
    const t = scene();
    t.state.refuses = ({ model }) => model === 'bad';
    for (const model of ['a', 'bad', 'b', 'bad', 'c']) t.store.append(row({ model }));
    await t.store.flush();
    expect([models(t), t.state.dropped]).to.deep.equal([['a', 'b', 'c'], 2]);
    expect(t.told).to.deep.equal(['a row was refused by its store', 'a row was refused by its store']);
  });

  it('that the store refuses are found among many by halves, also where a late error stands between', async () => {
    const t = scene();
    t.state.refuses = ({ model }) => model === 'bad';
    for (let at = 0; at < 1000; at += 1) t.store.append(row({ model: at === 321 ? 'bad' : `m${at}` }));
    await t.store.flush();
    expect([t.rows.length, t.state.dropped]).to.deep.equal([999, 1]);
    expect(t.state.writes).to.be.at.most(20);
    t.store.annotate('after_request', row({ trace_id: 'other', model: 'bad', error_message: 'late' }));
    t.store.append(row({ model: 'last' }));
    await t.store.flush();
    expect([models(t).at(-1), t.state.dropped]).to.deep.equal(['last', 2]);
  });

  it('wait as a whole where the store answers but cannot write: none of them is what it refuses', async () => {
    const t = scene();
    t.state.breaks = true;
    for (let at = 0; at < 3; at += 1) t.store.append(row({ model: `m${at}` }));
    await t.store.flush();
    expect([t.rows.length, t.state.dropped]).to.deep.equal([0, 0]);
    t.state.breaks = false;
    await t.store.flush();
    expect([models(t), t.state.dropped]).to.deep.equal([['m0', 'm1', 'm2'], 0]);
  });

  it('that a module made of other types than it may do not hold up the others', async () => {
    const t = scene();
    for (const model of ['a', 7 as unknown as string, 'b']) t.store.append(row({ model }));
    await t.store.flush();
    expect([models(t), t.state.dropped]).to.deep.equal([['a', 'b'], 1]);
  });

  it('keep what they were given, whatever becomes of it later', async () => {
    const t = scene();
    const given = { ...row({ model: 'a' }), decision: { mine: 'a' } };
    t.store.append(given);
    Object.assign(given, { model: 'b' });
    given.decision.mine = 'b';
    await t.store.flush();
    expect(t.rows.map(({ model, decision }) => [model, decision])).to.deep.equal([['a', '{"mine":"a"}']]);
  });

  it('that are lost at the end are counted in the log', async () => {
    const t = scene();
    t.state.isAway = true;
    t.store.append(row());
    await t.store.close();
    expect(t.told.at(-1)).to.equal('rows of the request log are lost: their store did not come back');
  });

  it('get a late error in their order, also when it comes while they are written', async () => {
    const t = scene();
    t.store.append(row({ trace_id: 'a' }));
    const writing = t.store.flush();
    t.store.annotate('after_request', row({ trace_id: 'a', stage: 'on_error', error_message: 'late' }));
    t.store.append(row({ trace_id: 'b' }));
    await writing;
    await t.store.flush();
    expect(t.rows.map(({ trace_id, stage, error_message }) => [trace_id, stage, error_message])).to.deep.equal([
      ['a', 'after_request', 'late'],
      ['b', 'after_request', null],
    ]);
  });
});

describe('what waits for the request log', () => {
  it('is taken in the order in which it came, and counted right when there is nothing', () => {
    const queue = new LogQueue(2);
    expect([queue.take(5), queue.length]).to.deep.equal([[], 0]);
    const add = (model: string, isTerminal: boolean): string | null | undefined =>
      queue.add(givenRow(row({ model }), createRedactor({})), { isTerminal, annotates: undefined })?.row.model;
    expect([add('a', true), add('b', false), add('c', true), add('d', true)]).to.deep.equal([
      undefined,
      undefined,
      'b',
      'a',
    ]);
    expect([
      queue.take(1).map((waiting) => waiting.row.model),
      queue.length,
      queue.take(5).length,
      queue.length,
    ]).to.deep.equal([['c'], 1, 1, 0]);
  });
});

describe('retention of the request log', () => {
  it('deletes what is older than its days, and keeps what is not', async () => {
    const t = scene({ days: 2, rows: undefined });
    const day = 24 * 60 * 60 * 1000;
    const now = t.clock.now();
    for (let at = 0; at < 1200; at += 1) t.store.append(row({ created_at: now - 3 * day }));
    t.store.append(row({ model: 'young', created_at: now - day }));
    await t.store.flush();
    t.clock.advance(5000);
    await until(() => t.rows.length === 1);
    expect(models(t)).to.deep.equal(['young']);
    for (let step = 0; step < 20 && t.rows.length > 0; step += 1) {
      t.clock.advance(day / 10);
      for (let turn = 0; turn < 10; turn += 1)
        await new Promise((resolve) => {
          setImmediate(resolve);
        }); // the next look is set once one is over
    }
    expect(t.rows).to.deep.equal([]);
  });

  it('keeps as many rows as it says, the newest', async () => {
    const t = scene({ days: undefined, rows: 3 });
    for (let at = 0; at < 1200; at += 1) t.store.append(row({ model: `m${at}` }));
    await t.store.flush();
    t.clock.advance(5000);
    await until(() => t.rows.length === 3);
    expect(models(t)).to.deep.equal(['m1197', 'm1198', 'm1199']);
    await t.store.close();
  });
});
