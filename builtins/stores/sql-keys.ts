import type { Knex } from 'knex';
import { ROOT } from '../../host/common/accounts/account-path.ts';
import type { PendingChange } from '../../host/stores/changes.ts';
import type { StoredKey } from '../../host/stores/keys/key-record.ts';
import type {
  KeyFilters,
  KeyPage,
  KeyPlace,
  KeyRepository,
  KeysAfter,
  KeysStep,
  KeyStep,
  KeyTotals,
  UsagePage,
  UsageQuery,
  Uses,
} from '../../host/stores/keys/key-repository.ts';
import { type Database, type Dialect, exclusively, placeIn, rowsOf } from './database/database.ts';
import { withFaults } from './database/driver-faults.ts';
import { arrayOf, SentOnce, Writer } from './database/numbered-writes.ts';
import { changeMany } from './many-keys.ts';
import { KEY_COLUMNS, keyOf, type Row, rowOf } from './key-rows.ts';
import type { Tell } from './database/listen.ts';

const TABLE = 'api_keys';
/** Uses that one statement of SQLite writes: it takes no more than some thousand values. */
const BATCH = 200;

/** Scopes of a key for inference, as they are kept. */
const NO_SCOPES = '[]';

const ORDERS = {
  usage: ['usage_count', 'last_used_at', 'created_at', 'id'],
  last_used: ['last_used_at', 'usage_count', 'created_at', 'id'],
} as const;

/** Keys in one table of SQLite or Postgres. */
export class SqlKeys implements KeyRepository {
  readonly #database: Database;
  readonly #tell: Tell;
  readonly #writer = new Writer('uses');
  readonly #sent = new SentOnce<void>();

  /** `tell` lets other processes know, in the transaction of the change. */
  constructor(database: Database, tell: Tell) {
    this.#database = database;
    this.#tell = tell;
  }

  insert(key: StoredKey, pending?: PendingChange): Promise<void> {
    const insert = async (trx: Knex.Transaction): Promise<void> => {
      await trx(TABLE).insert(rowOf(key, this.#database.dialect));
    };
    return exclusively(this.#database, TABLE, insert, pending);
  }

  change(id: string, { countAt, apply }: KeyStep, pending?: PendingChange): Promise<StoredKey | undefined> {
    const change = async (trx: Knex.Transaction): Promise<StoredKey | undefined> => {
      const before = await one(trx(TABLE).where({ id }));
      const after = apply(before, countAt === undefined ? 0 : await this.#usableAdmins(trx, countAt));
      if (!before) return undefined;
      if (after) await trx(TABLE).where({ id }).update(rowOf(after, this.#database.dialect));
      else await trx(TABLE).where({ id }).delete();
      await this.#tell(trx, 'key', id);
      return after;
    };
    return exclusively(this.#database, TABLE, change, pending);
  }

  changeMany(step: KeysStep, pending?: PendingChange): Promise<KeysAfter> {
    return exclusively(this.#database, TABLE, (trx) => changeMany(trx, this.#database, step, this.#tell), pending);
  }

  look(id: string): Promise<StoredKey | undefined> {
    return exclusively(this.#database, TABLE, (trx) => one(trx(TABLE).where({ id })));
  }

  get(id: string): Promise<StoredKey | undefined> {
    return one(this.#database.on('lookups')(TABLE).where({ id }));
  }

  async findAll(digests: readonly string[]): Promise<readonly StoredKey[]> {
    const rows = (await this.#database
      .on('lookups')(TABLE)
      .whereIn('key_hash', digests)
      .orWhereIn('previous_key_hash', digests)
      .select(KEY_COLUMNS)) as Row[];
    return rows.map(keyOf);
  }

  async page(filters: KeyFilters, limit: number, after?: KeyPlace): Promise<KeyPage<StoredKey>> {
    const query = this.#filtered(filters);
    if (after) void query.whereRaw('(created_at, id) < (?, ?)', [after.createdAt, after.id]);
    const rows = (await query
      .select(KEY_COLUMNS)
      .orderByRaw(this.#down(['created_at', 'id']))
      .limit(limit + 1)) as Row[];
    const keys = rows.slice(0, limit);
    return { keys: keys.map(keyOf), next: rows.length > limit ? placeIn(keys.at(-1)) : undefined };
  }

  async placeOf(id: string): Promise<KeyPlace | undefined> {
    return placeIn(await this.#database.on('reads')(TABLE).where({ id }).first('created_at', 'id'));
  }

  async count(filters: KeyFilters): Promise<number> {
    const { total } = (await this.#filtered(filters).count({ total: '*' }).first()) as Row;
    return Number(total);
  }

  async usage({ sort, active, since, access, limit, offset }: UsageQuery): Promise<UsagePage<StoredKey>> {
    const knex = this.#database.on('reads');
    const filtered = (isPage: boolean): Knex.QueryBuilder => {
      const query = knex(TABLE);
      // Nearly all keys are active: along the index of the order a page is soon full, while an index of active keys would have them sorted.
      if (isPage && active) void query.whereRaw('CASE WHEN active THEN 1 ELSE 0 END = 1');
      else if (active !== undefined) void query.where({ active });
      if (access !== undefined) void query.where('scopes', access === 'inference' ? '=' : '<>', NO_SCOPES);
      if (since !== undefined) void query.where('last_used_at', '>=', this.#database.dialect.time(since));
      return query;
    };
    // From one state of the table, so that sums and rows agree.
    return knex.transaction(
      async (trx) => {
        const sums = (await filtered(false)
          .transacting(trx)
          .first({
            keys: trx.raw('COUNT(*)'),
            active: trx.raw('SUM(CASE WHEN active THEN 1 ELSE 0 END)'),
            uses: trx.raw('SUM(usage_count)'),
          })) as Row;
        const rows = (await filtered(true)
          .transacting(trx)
          .select(KEY_COLUMNS)
          .orderByRaw(this.#down(ORDERS[sort]))
          .limit(limit)
          .offset(offset)) as Row[];
        return {
          keys: rows.map(keyOf),
          totalKeys: Number(sums['keys']),
          activeKeys: Number(sums['active'] ?? 0),
          totalUsage: Number(sums['uses'] ?? 0),
        };
      },
      { isolationLevel: this.#database.dialect.name === 'postgres' ? 'repeatable read' : undefined },
    );
  }

  async accountCounts(): Promise<ReadonlyMap<string, number>> {
    const rows = (await this.#database
      .on('reads')(TABLE)
      .whereNotNull('account')
      .groupBy('account')
      .select('account')
      .count({ total: '*' })) as Row[];
    return new Map(rows.map(({ account, total }) => [String(account), Number(total)]));
  }

  async totals(now: number): Promise<KeyTotals> {
    const {
      dialect: { time },
    } = this.#database;
    const knex = this.#database.on('reads');
    const sums = (await knex(TABLE).first(
      knex.raw(
        `COUNT(*) AS total, SUM(CASE WHEN active THEN 1 ELSE 0 END) AS active, SUM(usage_count) AS uses,
      SUM(CASE WHEN expires_at < ? THEN 1 ELSE 0 END) AS expired`,
        [time(now)],
      ),
    )) as Row;
    const sum = (name: string): number => Number(sums[name] ?? 0);
    return { total: sum('total'), active: sum('active'), expired: sum('expired'), uses: sum('uses') };
  }

  async addUses(uses: readonly Uses[], number?: number): Promise<void> {
    await withFaults(() =>
      this.#database.dialect.name === 'postgres'
        ? this.#addTogether(uses, number)
        : this.#sent.send(number, () => this.#addInParts(uses)),
    );
  }

  async ping(): Promise<void> {
    await this.#database.verify?.();
    await this.#database.on('lookups')(TABLE).select('id').limit(1);
  }

  #filtered({ name, ids, account, tag }: KeyFilters): Knex.QueryBuilder {
    const query = this.#database.on('reads')(TABLE);
    if (account !== undefined && account !== ROOT)
      void query.whereRaw('(account = ? OR SUBSTR(account, 1, ?) = ?)', [account, account.length + 1, `${account}/`]);
    if (tag !== undefined)
      void query.whereRaw(`${this.#database.dialect.position}(tags, ?) > 0`, [
        tag.endsWith('*') ? `"${tag.slice(0, -1)}` : `"${tag}"`,
      ]);
    if (ids) void query.whereIn('id', ids);
    if (name !== undefined) void query.whereRaw(this.#database.dialect.holds('name'), [name]);
    return query;
  }

  #down(columns: readonly string[]): string {
    return columns.map((column) => this.#database.dialect.down(column)).join(', ');
  }

  async #usableAdmins(trx: Knex.Transaction, now: number): Promise<number> {
    const { position, time } = this.#database.dialect;
    // The quotes belong to the element: no longer word holds them on both sides.
    const [row] = rowsOf(
      await trx.raw(
        `SELECT COUNT(*) AS admins FROM ${TABLE} WHERE active = ? AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at >= ?) AND ${position}(scopes, ?) > 0`,
        [true, time(now), '"admin"'],
      ),
    );
    return Number(row?.['admins']);
  }

  /** One statement. In one order everywhere, so that two processes do not wait for each other's rows. */
  async #addTogether(uses: readonly Uses[], number: number | undefined): Promise<void> {
    const { dialect } = this.#database;
    const { moved, isFirst } = this.#writer.once(number);
    await this.#database.on('ledger').raw(
      `WITH ${moved.sql}, added AS (
        SELECT given.id, given.uses, given.moment FROM unnest(?::text[], ?::bigint[], ?::timestamptz[]) AS given (id, uses, moment) WHERE ${isFirst}),
      locked AS (SELECT id FROM ${TABLE} WHERE id IN (SELECT id FROM added) ORDER BY id FOR NO KEY UPDATE)
      ${adding(dialect)} FROM added WHERE ${TABLE}.id = added.id AND ${TABLE}.id IN (SELECT id FROM locked)`,
      [
        ...moved.bindings,
        arrayOf(uses.map(({ id }) => id)),
        arrayOf(uses.map(({ count }) => count)),
        arrayOf(uses.map(({ at }) => dialect.time(at))),
      ],
    );
  }

  async #addInParts(uses: readonly Uses[]): Promise<void> {
    const { dialect } = this.#database;
    await this.#database.on('ledger').transaction(async (trx) => {
      for (let at = 0; at < uses.length; at += BATCH) {
        const part = uses.slice(at, at + BATCH);
        const values = part.map(() => 'SELECT ? AS id, ? AS uses, ? AS moment').join(' UNION ALL ');
        await trx.raw(
          `${adding(dialect)} FROM (${values}) AS added WHERE ${TABLE}.id = added.id`,
          part.flatMap(({ id, count, at: moment }) => [id, count, dialect.time(moment)]),
        );
      }
    });
  }
}

const adding = ({ plus }: Dialect): string => `UPDATE ${TABLE} SET usage_count = ${plus('usage_count', 'added.uses')},
  last_used_at = CASE WHEN last_used_at IS NULL OR last_used_at < added.moment THEN added.moment ELSE last_used_at END`;

async function one(query: Knex.QueryBuilder): Promise<StoredKey | undefined> {
  const row = (await query.first(KEY_COLUMNS)) as Row | undefined;
  return row && keyOf(row);
}
