import { expect } from 'chai';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { keyLevel } from '../../builtins/money/budget-levels.ts';
import { BudgetWarnings } from '../../builtins/money/budget-warnings.ts';
import { OpenBudgets, type OpenBudget } from '../../builtins/money/open-budgets.ts';
import { systemClock } from '../../host/common/clock.ts';
import { WINDOWS } from '../../host/common/budgets/counted-sum.ts';
import { type Ledgers, MemoryLedgers } from '../../host/stores/ledgers/ledgers.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { StoresEnd } from '../../host/stores/stores-end.ts';
import { atEnd, cases, Dice, eventually, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from '../stores/backends.ts';
import { gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = PROBES[0] as Probe;
const LINE = 'budget threshold reached';

/** One process that books, and what it wrote. */
interface Process {
  readonly ledgers: Ledgers;
  readonly book: (budget: OpenBudget, amount: number) => void;
  readonly told: number[];
}

function process({ ledgers }: { readonly ledgers: Ledgers }): Process {
  const told: number[] = [];
  const warnings = new BudgetWarnings({ moved: ({ threshold }) => void told.push(threshold), now: Date.now });
  warnings.listen(ledgers);
  const ledger = ledgers.open(WINDOWS, { maxKeys: 0 });
  return {
    ledgers,
    told,
    book: (budget, amount) => {
      warnings.watch(budget);
      const held = ledger.reserve(budget.name, { amount, limit: undefined });
      if ('settle' in held) void held.settle(amount);
    },
  };
}

const budgetOf = (id: string, warn: readonly number[]): OpenBudget =>
  new OpenBudgets(() => undefined).at(Date.now(), [keyLevel(id, [{ tokens: 1000, warn }])])[0]!;

type Open = () => Promise<readonly Ledgers[]>;

const stored = async (
  open: () => Promise<Parameters<typeof migrate>[0]>,
  count: number,
): Promise<readonly Ledgers[]> => {
  const made: Ledgers[] = [];
  for (let at = 0; at < count; at += 1) {
    const database = await open();
    atEnd(() => database.close());
    if (at === 0)
      for (const schema of [SHARED_SCHEMA, LEDGER_SCHEMA]) await migrate(database, schema, SILENT, Date.now);
    const ledgers = await StoredLedgers.load(new SqlLedgers(database), {
      clock: systemClock,
      log: SILENT,
      end: new StoresEnd(systemClock),
      backend: 'test',
    });
    atEnd(() => ledgers.close());
    made.push(ledgers);
  }
  return made;
};

/** Declares the same for each kind of store, with the processes that share it. */
function tellsOnce(open: Open): void {
  it('says so once for each ratio, by the one whose booking crosses it', async () => {
    const processes = (await open()).map((ledgers) => process({ ledgers }));
    const dice = new Dice(77);
    const WARN = [0.001, 0.25, 0.5, 0.8, 1];
    const budgets = Array.from({ length: cases(40) }, (_each, at) => budgetOf(`k${at}`, WARN));
    const sums = budgets.map(() => 0);
    for (let round = 0; round < 30; round += 1)
      budgets.forEach((budget, at) => {
        const amount = dice.below(90);
        sums[at]! += amount;
        dice.pick(processes).book(budget, amount);
      });
    for (const { ledgers } of processes) await ledgers.close?.();
    const expected = WARN.map((ratio) => sums.filter((sum) => sum >= ratio * 1000).length);
    const told = processes.flatMap((each) => each.told);
    expect(WARN.map((ratio) => told.filter((each) => each === ratio).length)).to.deep.equal(expected);
  });
}

describe('a ratio of a budget at which a warning is asked for', () => {
  describe('in memory', () => tellsOnce(async () => [new MemoryLedgers({ clock: systemClock, log: SILENT })]));
  describe('on SQLite', () => {
    const folder = forSuite(() => temporaryFolder());
    tellsOnce(() => stored(() => openSqlite(`${folder()}/ledger.db`, folder()), 1));
  });
  describe('on Postgres, of three processes', () => {
    const postgres = forSuite(async () => (await startPostgres()).createDatabase());
    tellsOnce(() => stored(() => openPostgres(postgres()), 3));
  });

  it('is a line that says whose budget it is, what is spent, and when it begins again', async () => {
    const g = await gateway([], {
      accounts: [
        { path: '/acme', budgets: [{ requests: 4, every: 'day', warn: [0.5, 0.75] }] },
        { path: '#nightly', budgets: [{ requests: 2, warn: [1] }] },
      ],
    });
    const { bearer, id } = await g.key({
      account: '/acme',
      tags: ['nightly'],
      budgets: [{ requests: 2, warn: [0.1, 1] }],
    });
    const lines = (): readonly (readonly unknown[])[] =>
      g.t.lines
        .filter(({ msg }) => msg === LINE)
        .map(({ level, account, api_key_id, unit, window, threshold, spent, limit, ends_at }) => [
          level,
          account ?? api_key_id,
          unit,
          window,
          threshold,
          spent,
          limit,
          ends_at !== undefined,
        ]);
    expect(await g.send(CHAT, bearer)).to.equal(200);
    expect(await g.send(CHAT, bearer)).to.equal(200);
    await eventually(() => lines().length === 4);
    const level = lines()[0]?.[0];
    expect(lines()).to.deep.equal([
      [level, id, 'requests', 'total', 0.1, 1, 2, false],
      [level, id, 'requests', 'total', 1, 2, 2, false],
      [level, '/acme', 'requests', 'day@UTC+00:00', 0.5, 2, 4, true],
      [level, '#nightly', 'requests', 'total', 1, 2, 2, false],
    ]);
  });
});
