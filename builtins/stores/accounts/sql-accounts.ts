import type { Knex } from 'knex';
import type { WrittenAccount } from '../../../host/common/accounts/account-members.ts';
import type { Raise } from '../../../host/common/accounts/raise.ts';
import { UNITS } from '../../../host/common/budgets/key-budget.ts';
import { readAccount } from '../../../host/common/accounts/read-account.ts';
import { tryParseJson } from '../../../host/contract/index.ts';
import type {
  AccountRepository,
  AccountStep,
  ImportRecord,
  StoredAccount,
} from '../../../host/stores/accounts/account-repository.ts';
import type { PendingChange } from '../../../host/stores/changes.ts';
import { type Database, type Dialect, exclusively, timeOf } from '../database/database.ts';
import type { Tell } from '../database/listen.ts';
import { insertOpenings } from '../openings.ts';
import { ACCOUNTS, IMPORTS, RAISES } from './account-schema.ts';

type Row = Readonly<Record<string, unknown>>;

const ACCOUNT_COLUMNS = ['path', 'body', 'import_id', 'imported_version', 'version', 'created_at', 'updated_at'];
const RAISE_COLUMNS = [
  'id',
  'subject',
  'unit',
  'rule',
  'amount',
  'starts_at',
  'ends_at',
  'note',
  'actor',
  'created_at',
];

/** Accounts and raises in tables of SQLite or Postgres. */
export class SqlAccounts implements AccountRepository {
  readonly #database: Database;
  readonly #tell: Tell;

  /** `tell` lets other processes know, in the transaction of the change. */
  constructor(database: Database, tell: Tell) {
    this.#database = database;
    this.#tell = tell;
  }

  async all(): Promise<readonly StoredAccount[]> {
    const rows = (await this.#database.on('reads')(ACCOUNTS).select(ACCOUNT_COLUMNS)) as Row[];
    return rows.map(accountIn);
  }

  get(path: string): Promise<StoredAccount | undefined> {
    return one(this.#database.on('changes')(ACCOUNTS), path);
  }

  change(path: string, step: AccountStep, pending?: PendingChange): Promise<StoredAccount | undefined> {
    const work = async (trx: Knex.Transaction): Promise<StoredAccount | undefined> => {
      const before = await one(trx(ACCOUNTS), path);
      const changed = step(before);
      const after = changed?.stored;
      if (after && before) await trx(ACCOUNTS).where({ path }).update(rowOf(after, this.#database.dialect));
      else if (after) await trx(ACCOUNTS).insert(rowOf(after, this.#database.dialect));
      else await trx(ACCOUNTS).where({ path }).delete();
      await insertOpenings(trx, this.#database.dialect, changed?.openings ?? []);
      await this.#tell(trx, 'account', path);
      return after;
    };
    return exclusively(this.#database, ACCOUNTS, work, pending);
  }

  async raises(now: number): Promise<readonly Raise[]> {
    return raisesIn(this.#running('reads', now));
  }

  async raisesOf(subject: string, now: number): Promise<readonly Raise[]> {
    return raisesIn(this.#running('changes', now).where({ subject }));
  }

  addRaise(raise: Raise, pending?: PendingChange): Promise<void> {
    const { time } = this.#database.dialect;
    const { id, subject, unit, rule = null, amount, note = null, actor } = raise;
    const work = async (trx: Knex.Transaction): Promise<void> => {
      await trx(RAISES).insert({
        id,
        subject,
        unit,
        rule,
        amount,
        note,
        actor,
        starts_at: time(raise.from),
        ends_at: time(raise.until),
        created_at: time(raise.createdAt),
      });
      await this.#tell(trx, 'account', subject);
    };
    return exclusively(this.#database, RAISES, work, pending);
  }

  removeRaise(subject: string, id: string, pending?: PendingChange): Promise<boolean> {
    const work = async (trx: Knex.Transaction): Promise<boolean> => {
      const removed = await trx(RAISES).where({ subject, id }).delete();
      await this.#tell(trx, 'account', subject);
      return removed > 0;
    };
    return exclusively(this.#database, RAISES, work, pending);
  }

  addImport({ id, source, note, actor, at }: ImportRecord, pending?: PendingChange): Promise<void> {
    const row = { id, source, note: note ?? null, actor, at: this.#database.dialect.time(at) };
    return exclusively(this.#database, IMPORTS, async (trx) => void (await trx(IMPORTS).insert(row)), pending);
  }

  async getImport(id: string): Promise<ImportRecord | undefined> {
    const row = (await this.#database
      .on('changes')(IMPORTS)
      .where({ id })
      .first('id', 'source', 'note', 'actor', 'at')) as Row | undefined;
    return (
      row && {
        id,
        source: String(row['source']),
        note: textOf(row['note']),
        actor: String(row['actor']),
        at: timeOf(row['at']) ?? 0,
      }
    );
  }

  removeImport(id: string, pending?: PendingChange): Promise<boolean> {
    const work = async (trx: Knex.Transaction): Promise<boolean> => (await trx(IMPORTS).where({ id }).delete()) > 0;
    return exclusively(this.#database, IMPORTS, work, pending);
  }

  #running(lane: 'reads' | 'changes', now: number): Knex.QueryBuilder {
    return this.#database
      .on(lane)(RAISES)
      .where('ends_at', '>', this.#database.dialect.time(now))
      .select(RAISE_COLUMNS)
      .orderBy(['created_at', 'id']);
  }
}

async function one(query: Knex.QueryBuilder, path: string): Promise<StoredAccount | undefined> {
  const row = (await query.where({ path }).first(ACCOUNT_COLUMNS)) as Row | undefined;
  return row && accountIn(row);
}

function rowOf(
  { account, version, createdAt, updatedAt, importId, importedVersion }: StoredAccount,
  { time }: Dialect,
): Row {
  const { path, ...body } = account;
  return {
    path,
    body: JSON.stringify(body),
    import_id: importId ?? null,
    imported_version: importedVersion ?? null,
    version,
    created_at: time(createdAt),
    updated_at: time(updatedAt),
  };
}

/** Throws where it is not an account: whatever it bound would be free. */
function accountIn(row: Row): StoredAccount {
  const path = String(row['path']);
  const body = tryParseJson(String(row['body']));
  const written = { ...(body as object | undefined), path };
  const { account, problems } = readAccount(written, `account ${path}`, { timezone: 'UTC', hasOpening: true });
  if (!account || typeof body !== 'object')
    throw new Error(`the table ${ACCOUNTS} has an account that cannot be read: ${problems[0]?.message ?? path}`);
  return {
    account: account satisfies WrittenAccount,
    version: Number(row['version']),
    createdAt: timeOf(row['created_at']) ?? 0,
    updatedAt: timeOf(row['updated_at']) ?? 0,
    importId: textOf(row['import_id']),
    importedVersion: typeof row['imported_version'] === 'number' ? row['imported_version'] : undefined,
  };
}

async function raisesIn(query: Knex.QueryBuilder): Promise<readonly Raise[]> {
  return ((await query) as Row[]).flatMap((row) => {
    const unit = UNITS.find((each) => each === row['unit']);
    if (!unit) return []; // of a newer program: without it less may be spent, not more
    return [
      {
        id: String(row['id']),
        subject: String(row['subject']),
        unit,
        rule: textOf(row['rule']),
        amount: Number(row['amount']),
        from: timeOf(row['starts_at']) ?? 0,
        until: timeOf(row['ends_at']) ?? 0,
        note: textOf(row['note']),
        actor: String(row['actor']),
        createdAt: timeOf(row['created_at']) ?? 0,
      },
    ];
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
