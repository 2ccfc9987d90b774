import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { AUDIT_SCHEMA } from '../../builtins/stores/audit-schema.ts';
import type { Database } from '../../builtins/stores/database/database.ts';
import { tellNobody } from '../../builtins/stores/database/listen.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { KEY_SCHEMA } from '../../builtins/stores/key-schema.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { SqlAudit } from '../../builtins/stores/sql-audit.ts';
import { SqlKeys } from '../../builtins/stores/sql-keys.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { AuditStore } from '../../host/stores/audit/audit-store.ts';
import { UseWriter } from '../../host/stores/keys/use-writer.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { RequestLogStore } from '../../host/stores/log/request-log-store.ts';
import { StoreLink } from '../../host/stores/store-link.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import {
  atEnd,
  cases,
  Dice,
  fakeClock,
  type FakeClock,
  forSuite,
  startPostgres,
  temporaryFolder,
} from '../kit/index.ts';
import { SILENT } from './backends.ts';

const KEYS = ['a', 'b', 'c'];
const WRITES = new Set(['book', 'addUses', 'append', 'annotate']);

/** What is in the way of the calls that write. */
class Weather {
  readonly #dice: Dice;
  readonly #mayBeLate: boolean;
  /** Calls that the server has not begun yet, though who sent them has given up. */
  readonly #late: (() => Promise<unknown>)[] = [];
  readonly #running = new Set<Promise<unknown>>();
  isCalm = false;

  constructor(dice: Dice, mayBeLate: boolean) {
    this.#dice = dice;
    this.#mayBeLate = mayBeLate;
  }

  /** A repository whose writes fail before they reach it, reach it late, are given up while they run, or lose their answer. */
  over<R extends object>(repository: R): R {
    return new Proxy(repository, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        const call = (...values: unknown[]): Promise<unknown> =>
          Reflect.apply(member, target, values) as Promise<unknown>;
        return WRITES.has(String(name)) ? (...values: unknown[]) => this.#meet(() => call(...values)) : call;
      },
    });
  }

  /** What came late arrives. */
  arrive(most = Infinity): void {
    for (const call of this.#late.splice(0, most)) this.#keep(call());
  }

  async settle(): Promise<void> {
    this.arrive();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #meet(call: () => Promise<unknown>): Promise<unknown> {
    const choice = this.isCalm ? 9 : this.#dice.below(12);
    if (choice === 0) throw new Error('away');
    if (choice === 1) throw new WriteFault('conflict', new Error('deadlock'));
    if (choice === 2) {
      this.#keep(call());
      throw new Error('given up while it runs');
    }
    if (choice === 3 && this.#mayBeLate) {
      this.#late.push(call);
      throw new Error('given up before it began');
    }
    const answer = await call();
    if (choice < 6) throw new Error('the answer is lost');
    return answer;
  }

  #keep(running: Promise<unknown>): void {
    const ended = running
      .catch(() => {}) // who sent it has given up
      .finally(() => this.#running.delete(ended));
    this.#running.add(ended);
  }
}

interface Scene {
  readonly clock: FakeClock;
  readonly ledgers: StoredLedgers;
  readonly uses: UseWriter;
  readonly audit: AuditStore;
  readonly logs: RequestLogStore;
  readonly weather: Weather;
}

async function scene(database: Database, weather: Weather): Promise<Scene> {
  const clock = fakeClock();
  const deps = { clock, log: SILENT, redactor: createRedactor({}), randomBytes };
  const keys = weather.over(new SqlKeys(database, tellNobody));
  const audit = new AuditStore(deps);
  audit.supply('test', weather.over(new SqlAudit(database)));
  return {
    clock,
    weather,
    audit,
    ledgers: await StoredLedgers.load(weather.over(new SqlLedgers(database)), { ...deps, backend: 'test' }),
    uses: new UseWriter({
      ...deps,
      repository: () => keys,
      link: new StoreLink('keys', { ...deps, backend: () => 'test' }),
    }),
    logs: new RequestLogStore(weather.over(new SqlLogs(database)), {
      ...deps,
      backend: 'test',
      retention: { days: undefined, rows: undefined },
      dropped: () => {},
    }),
  };
}

/** What must stand in the tables. */
interface Expected {
  readonly spent: Record<string, number>;
  readonly used: Record<string, number>;
  readonly audited: string[];
  readonly logged: (readonly [trace: string, error: string | null])[];
}

const nothingYet = (): Expected => {
  const none = Object.fromEntries(KEYS.map((key) => [key, 0]));
  return { spent: { ...none }, used: { ...none }, audited: [], logged: [] };
};

/** Turns of the event loop, and of the threads behind it, in which calls to a database end or do not. */
async function aFewTurns(dice: Dice): Promise<void> {
  for (let turn = dice.below(12); turn > 0; turn -= 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

function act({ ledgers, uses, audit, logs }: Scene, expected: Expected, dice: Dice): void {
  const key = dice.pick(KEYS);
  const choice = dice.below(5);
  if (choice === 0) {
    const amount = 1 + dice.below(50);
    ledgers.open('l', { maxKeys: 0 }).commit(key, amount);
    expected.spent[key]! += amount;
  } else if (choice === 1) {
    uses.count(key);
    expected.used[key]! += 1;
  } else if (choice === 2) {
    const action = `act ${expected.audited.length}`;
    audit.append({ action, actor: 'ada', outcome: 'ok' });
    expected.audited.push(action);
  } else {
    const trace_id = `t${expected.logged.length}`;
    const row = { trace_id, stage: 'after_request' as const, model: 'm', created_at: 1 };
    logs.append(row);
    const isNoted = choice === 4;
    if (isNoted) logs.annotate('after_request', { ...row, error_message: 'late' });
    expected.logged.push([trace_id, isNoted ? 'late' : null]);
  }
}

async function run(database: Database, seed: number): Promise<Expected> {
  const dice = new Dice(seed);
  const weather = new Weather(dice, database.dialect.name === 'postgres');
  const all = await scene(database, weather);
  const expected = nothingYet();
  for (let step = 0; step < 250; step += 1) {
    for (let acts = dice.below(4); acts > 0; acts -= 1) act(all, expected, dice);
    if (dice.below(3) === 0) weather.arrive(1);
    if (dice.below(2) === 0) all.clock.advance(dice.pick([100, 1000, 2000]));
    await aFewTurns(dice);
  }
  weather.isCalm = true;
  await Promise.all([all.ledgers.close(), all.uses.close(), all.audit.close(), all.logs.close()]);
  await weather.settle(); // what arrives now is void
  return expected;
}

async function stored({ knex }: Database): Promise<Expected> {
  const sums = async (table: string, key: string, sum: string): Promise<Record<string, number>> => {
    const rows = (await knex(table).select({ key, sum })) as { key: string; sum: unknown }[];
    return Object.fromEntries([...KEYS.map((name) => [name, 0]), ...rows.map((row) => [row.key, Number(row.sum)])]);
  };
  const rows = (await knex('request_logs').orderBy('id').select('trace_id', 'error_message')) as {
    trace_id: string;
    error_message: string | null;
  }[];
  return {
    spent: await sums('ledger_accounts', 'account', 'committed'),
    used: await sums('api_keys', 'id', 'usage_count'),
    audited: await knex('audit_log').orderBy('id').pluck('action'),
    logged: rows.map((row) => [row.trace_id, row.error_message]),
  };
}

async function prepared(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  for (const schema of [SHARED_SCHEMA, KEY_SCHEMA, LEDGER_SCHEMA, AUDIT_SCHEMA, LOG_SCHEMA])
    await migrate(database, schema, SILENT, Date.now);
  const keys = new SqlKeys(database, tellNobody);
  for (const id of KEYS)
    await keys.insert({
      id,
      digest: id,
      display: id,
      name: id,
      scopes: [],
      createdAt: 0,
      usageCount: 0,
      active: true,
      limits: {},
    });
  return database;
}

function suite(open: () => Promise<Database>): void {
  for (let seed = 1; seed <= cases(60, 15); seed += 1) {
    it(`stands there once, whatever was lost on the way: seed ${seed}`, async () => {
      const database = await prepared(open);
      const expected = await run(database, seed);
      expect(await stored(database)).to.deep.equal(expected);
    });
  }
}

describe('what is written in the background, on SQLite', () => {
  suite(async () => {
    const folder = await temporaryFolder();
    return openSqlite(join(folder, 'all.db'), folder);
  });
});

describe('what is written in the background, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  suite(async () => openPostgres(await server().createDatabase()));
});
