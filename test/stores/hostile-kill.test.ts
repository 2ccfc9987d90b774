import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { LEDGER_SCHEMA } from '../../builtins/stores/ledger-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlLedgers } from '../../builtins/stores/sql-ledgers.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { MOST_SUM } from '../../host/common/bounded-sum.ts';
import { atEnd, cases, Dice, forSuite, inSoak, NODE_ARGS, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const SCRIPT = fileURLToPath(new URL('booking-process.ts', import.meta.url));
const ROUNDS = cases(30, 15);

type Sums = Readonly<Record<string, bigint>>;

/** What a process said until it was killed: what it began with, what it had booked at most, and what was kept of it for sure. */
interface Said {
  readonly began: Sums;
  readonly booked: Sums;
  readonly kept: Sums;
}

/** Books in a process of its own, which is killed once the database has acknowledged so many writes. */
async function bookUntilKilled(
  backend: string,
  dsn: string,
  { seed, writes }: { readonly seed: number; readonly writes: number },
): Promise<Said> {
  const child = spawn(process.execPath, [...NODE_ARGS, SCRIPT, backend, dsn, String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'close');
  const said: Record<string, Sums> = {};
  let left = writes;
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, sums } = JSON.parse(line) as {
      readonly event: string;
      readonly sums: Readonly<Record<string, string>>;
    };
    said[event] = {
      ...said[event],
      ...Object.fromEntries(Object.entries(sums).map(([key, sum]) => [key, BigInt(sum)])),
    };
    if (event === 'kept' && (left -= 1) === 0) child.kill('SIGKILL');
  }
  await gone;
  return { began: said['began'] ?? {}, booked: said['books'] ?? {}, kept: said['kept'] ?? {} };
}

async function survive(backend: string, dsn: string, database: Database): Promise<void> {
  await migrate(database, LEDGER_SCHEMA, SILENT, Date.now);
  const table = new SqlLedgers(database);
  await table.book([{ ledger: 'l', key: 'full', amount: MOST_SUM - 20e9, limit: undefined, isAnew: false }]);
  const dice = new Dice(5);
  let before: Said | undefined;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const said = await bookUntilKilled(backend, dsn, { seed: round, writes: 1 + dice.below(12) });
    for (const [key, sum] of Object.entries(said.began)) {
      expect(sum >= (before?.kept[key] ?? 0n), `round ${round}, ${key}: all that was kept is there`).to.equal(true);
      expect(sum <= (before?.booked[key] ?? sum), `round ${round}, ${key}: nothing counts twice`).to.equal(true);
    }
    expect(Object.keys(said.kept)).not.to.deep.equal([]);
    before = said;
  }
  const stored = new Map((await table.read()).map(({ key, committed }) => [key, committed]));
  for (const [key, sum] of Object.entries(before?.kept ?? {}))
    expect(BigInt(stored.get(key) ?? -1) >= sum, key).to.equal(true);
  for (const sum of stored.values()) expect(sum).to.be.within(1, MOST_SUM);
}

describe(`spend with hostile amounts, when the process that books is killed ${ROUNDS} times`, function killed() {
  this.timeout(10 * 60_000);

  it('is kept on SQLite: no more than what was in flight is lost, and nothing counts twice', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'all.db');
    const database = await openSqlite(file, folder);
    atEnd(() => database.close());
    await survive('sqlite', file, database);
  });

  describe('with Postgres', () => {
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());

    inSoak('is kept: no more than what was in flight is lost, and nothing counts twice', async () => {
      const database = await openPostgres(dsn());
      atEnd(() => database.close());
      await survive('postgres', dsn(), database);
    });
  });
});
