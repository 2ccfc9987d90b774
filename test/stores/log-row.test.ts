import v8 from 'node:v8';
import vm from 'node:vm';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import type { RequestLogRow } from '../../host/contract/index.ts';
import { shippedRedactor } from '../kit/redactor.ts';
import type { LogRow } from '../../host/stores/log/log-repository.ts';
import { LogQueue } from '../../host/stores/log/log-queue.ts';
import { givenRow, storedRow } from '../../host/stores/log/log-row.ts';
import { type DecisionMembers, RouteDecision } from '../../host/stores/log/route-decision.ts';
import { atEnd, forSuite, some, startPostgres } from '../kit/index.ts';
import { SILENT } from './backends.ts';

/** The size of one text; longer ones may stand outside of the heap. */
const MEGABYTES = 0.5;
const MANY = 160;
/** Beside what is collected late. */
const MOST_KEPT = (MEGABYTES * MANY) / 4;
const TEXTS = [
  'trace_id',
  'stage',
  'model',
  'provider',
  'api_key_id',
  'error_message',
  'ab_label',
  'target',
  'cache',
  'catalog_version',
  'surface',
  'client_wire',
  'upstream_request_id',
  'session_id',
] as const;

const redactor = shippedRedactor({});
const given = (more: object = {}): RequestLogRow => ({
  trace_id: 't',
  stage: 'after_request',
  model: 'm',
  created_at: 1,
  ...more,
});
const stored = (more: object): LogRow => storedRow(givenRow(given(more), redactor));
/** One text of its own in memory. */
const long = (at: number): string => Buffer.alloc(MEGABYTES * 2 ** 20, `${at} `).toString('latin1');

function decisionOf(model: string): RouteDecision {
  const members: DecisionMembers = {
    model,
    requested_model: `${model}0`,
    surface: 'chat',
    streaming: false,
    strategy: 'single',
    rule: model,
    ab_label: model,
    unroutable: model,
    order: [{ target: 'a', reason: model, figures: {}, provider: 'p', upstream_model: model }],
    dropped: [{ target: 'b', reason: model, figures: {} }],
    attempts: [
      {
        target: 'a',
        upstream_model: `${model}1`,
        status: 500,
        duration_ms: 1,
        ended: 'upstream_error',
        message: model,
      },
    ],
  };
  return new RouteDecision(members);
}

async function megabytesOf(make: () => unknown): Promise<number> {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const used = async (): Promise<number> => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const before = await used();
  const kept = make();
  const after = await used();
  expect(kept).to.not.equal(undefined);
  return after - before;
}

describe('a row of the request log that waits', () => {
  for (const name of some(TEXTS, { every: 7 })) {
    it(`keeps little of a long ${name} in memory`, async () => {
      const kept = await megabytesOf(() =>
        Array.from({ length: MANY }, (_, at) => givenRow(given({ [name]: long(at) }), redactor)),
      );
      expect(kept).to.be.below(MOST_KEPT);
    });
  }

  it('keeps little of an excerpt, of other members and of a decision', async () => {
    const kept = await megabytesOf(() =>
      Array.from({ length: MANY }, (_, at) => [
        givenRow(given({ error_message: long(at).slice(0, 500) }), redactor),
        givenRow(given({ body: long(at) }), redactor),
        givenRow(given({ decision: decisionOf(long(at)) }), redactor),
        givenRow(given({ decision: { deep: [long(at)] } }), redactor),
      ]),
    );
    expect(kept).to.be.below(MOST_KEPT);
  });

  it('is let go once it is taken', async () => {
    const queue = new LogQueue(1000);
    const kept = await megabytesOf(() => {
      for (let at = 0; at < MANY; at += 1)
        queue.add(
          givenRow(
            given({
              decision: Object.fromEntries(
                Array.from({ length: 500 }, (_, member) => [`${at} ${member}`, 'word '.repeat(130)]),
              ),
            }),
            redactor,
          ),
          { isTerminal: true, annotates: undefined },
        );
      return queue.take(MANY).length;
    });
    expect(kept).to.be.below(MOST_KEPT);
    expect(queue.length).to.equal(0);
  });

  it('hides a credential that stands where a text is cut', () => {
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwx';
    for (const before of [1000, 1020, 2040, 8170, 8190, 16_380, 40_950]) {
      const text = `${'a '.repeat(before / 2)}${secret} ${'b '.repeat(40_000)}`;
      const {
        error_message: error,
        session_id: session,
        decision,
      } = stored({ error_message: text, session_id: text, decision: decisionOf(text) });
      expect(`${error} ${session} ${decision}`).to.not.match(/sk-proj-|abcdefghi/);
    }
  });

  it('has no number that its column does not hold', () => {
    for (const number of [2 ** 53, 1e23, Infinity, NaN, 0.5])
      expect(stored({ total_tokens: number, attempts: number }), `${number}`).to.deep.include({
        total_tokens: 0,
        attempts: null,
      });
    for (const number of [Infinity, NaN, Number.MAX_VALUE])
      expect(stored({ cost_usd: number }).cost_usd, `${number}`).to.equal(null);
    expect(stored({ total_tokens: Number.MAX_SAFE_INTEGER, cost_usd: 1e308 })).to.deep.include({
      total_tokens: Number.MAX_SAFE_INTEGER,
      cost_usd: 1e308,
    });
  });

  it('says as much of an error as is kept, and all of one that is not long', () => {
    expect(stored({ error_message: 'e'.repeat(8192) }).error_message).to.equal('e'.repeat(8192));
    expect(stored({ error_message: 'e'.repeat(90_000) }).error_message).to.equal('e'.repeat(8192));
    expect(stored({ model: 'm'.repeat(1025) }).model).to.equal('m'.repeat(1024));
  });
});

function suite(open: () => Promise<Database>): void {
  it('can be read, whatever moment, stage or number a module wrote', async () => {
    const database = await open();
    await migrate(database, LOG_SCHEMA, SILENT, Date.now);
    const logs = new SqlLogs(database);
    const moments = [
      0,
      1,
      -1,
      1.5,
      1_763_892_000_123_000,
      8.64e15,
      8.64e15 + 1,
      1e300,
      -8.64e15,
      -62_167_219_200_001,
      -62_167_219_200_000,
      253_402_300_799_999,
      253_402_300_800_000,
      NaN,
      Infinity,
    ];
    const rows = moments.map((created_at) => stored({ created_at }));
    rows.push(
      stored({ stage: 'a\0\ud800b' }),
      stored({ same_wire: NaN }),
      stored({ same_wire: Infinity }),
      stored({ same_wire: 1e300 }),
      stored({ prompt_tokens: 2 ** 53, cost_usd: 1e308, duration_ms: -0, attempts: 1.5 }),
    );
    for (const row of rows) await logs.append([row]);
    await logs.append(rows);
    const page = await logs.list({ stages: [] }, 100, 0);
    expect([page.total, page.rows.length]).to.deep.equal([2 * rows.length, 2 * rows.length]);
    for (const { created_at: at } of page.rows) expect(new Date(at).toISOString()).to.match(/^\d{4}-/);
    expect(page.rows.filter(({ stage }) => stage === 'a\ufffd\ufffdb')).to.have.length(2);
  });
}

describe('a row of a module, on SQLite', () =>
  suite(async () => {
    const database = await openSqlite(':memory:', '.');
    atEnd(() => database.close());
    return database;
  }));

describe('a row of a module, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  suite(async () => {
    const database = await openPostgres(await server().createDatabase());
    atEnd(() => database.close());
    return database;
  });
});
