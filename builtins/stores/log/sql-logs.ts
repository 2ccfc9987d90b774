import type { Knex } from 'knex';
import type { LogColumnKind } from '../../../host/contract/log-column.ts';
import { LOG_COLUMN_LIST } from '../../../host/contract/log-columns.ts';
import {
  endingOf,
  type LogFilters,
  type LogPage,
  type LogRepository,
  type LogRow,
  type LogSeries,
  type LogShare,
  type LogSplit,
  type LogStatistics,
  type LogWindow,
  type SearchPage,
} from '../../../host/stores/log/log-repository.ts';
import type { CountBounds, CountedPart, SearchBounds } from '../../../host/stores/log/log-search.ts';
import type { LogValues, ValuesQuestion } from '../../../host/stores/log/log-values.ts';
import { amount } from '../../../host/stores/log/row-values.ts';
import { type Database, timeOf } from '../database/database.ts';
import { withFaults } from '../database/driver-faults.ts';
import { SentOnce, Writer } from '../database/numbered-writes.ts';
import type { Row } from '../key-rows.ts';
import { areCounted, countedRows, isOldestBeyond, NewRows } from './log-counts.ts';
import { seriesOf, sharesOf, statisticsOf } from './log-figures.ts';
import { type Guard, insertion } from './log-insert.ts';
import { valuesOf } from './quarters/log-values.ts';
import { QuarterKeeper } from './quarters/quarter-keeper.ts';
import type { Filtered } from './quarters/quarter-sums.ts';
import { rowsOfTrace } from './log-traces.ts';
import { searched } from './searched.ts';
import { countFound, type SearchedRows, searchRows } from './search-rows.ts';

const TABLE = 'request_logs';
const COLUMNS: readonly string[] = LOG_COLUMN_LIST.map(([name]) => name);

/** The request log in one table of SQLite or Postgres. */
export class SqlLogs implements LogRepository {
  readonly #database: Database;
  readonly #newRows: NewRows;
  readonly #quarters: QuarterKeeper;
  readonly #writer = new Writer('log');
  readonly #sent = new SentOnce<void>();

  constructor(database: Database) {
    this.#database = database;
    this.#newRows = new NewRows(database);
    this.#quarters = new QuarterKeeper(database);
  }

  async append(rows: readonly LogRow[], number?: number): Promise<void> {
    if (rows.length === 0) return;
    const isPostgres = this.#database.dialect.name === 'postgres';
    const { moved, isFirst } = this.#writer.once(isPostgres ? number : undefined);
    await withFaults(() =>
      isPostgres
        ? this.#insert(rows, { before: { ...moved, sql: `WITH ${moved.sql}` }, holds: isFirst })
        : this.#sent.send(number, () => this.#insert(rows)),
    );
    this.#newRows.wrote(rows.length);
  }

  settle(): Promise<void> {
    return this.#newRows.settle();
  }

  async annotate(row: LogRow, stage: string, number?: number): Promise<void> {
    await withFaults(() =>
      this.#database.dialect.name === 'postgres'
        ? this.#annotateOrInsert(row, stage, number)
        : this.#sent.send(number, async () => {
            const noted = await this.#newest(row, stage).update(endingOf(row));
            if (noted === 0) await this.#insert([row]);
          }),
    );
    this.#newRows.wrote(1);
  }

  list(filters: LogFilters, limit: number, offset: number, signal?: AbortSignal): Promise<LogPage> {
    return this.#database.read(async (db) => {
      const rows = (await newestFirst(this.#filtered(filters, db)).limit(limit).offset(offset)) as Row[];
      return { rows: rows.map(rowOf), total: await this.#count(filters, db) };
    }, signal);
  }

  search(filters: LogFilters, bounds: SearchBounds, signal?: AbortSignal): Promise<SearchPage> {
    return this.#database.read(async (db) => {
      const found = await searchRows(this.#searched(filters, bounds, db), bounds);
      return { ...found, rows: found.rows.map(rowOf) };
    }, signal);
  }

  countFound(filters: LogFilters, bounds: CountBounds, signal?: AbortSignal): Promise<CountedPart> {
    return this.#database.read((db) => countFound(this.#searched(filters, bounds, db), bounds), signal);
  }

  ofTrace(traceId: string, most: number, signal?: AbortSignal): Promise<readonly LogRow[]> {
    return this.#database.read(
      async (db) => ((await newestFirst(this.#ofTrace(traceId, db)).limit(most)) as Row[]).map(rowOf),
      signal,
    );
  }

  count(filters: LogFilters, signal?: AbortSignal): Promise<number> {
    return this.#database.read((db) => this.#count(filters, db), signal);
  }

  newestOf(traceId: string, signal?: AbortSignal): Promise<LogRow | undefined> {
    return this.#database.read(async (db) => {
      const row = (await newestFirst(this.#ofTrace(traceId, db)).first()) as Row | undefined;
      return row && rowOf(row);
    }, signal);
  }

  statistics(filters: LogFilters, stage: string | undefined, signal?: AbortSignal): Promise<LogStatistics> {
    const everyStage = { ...filters, stages: stage === undefined ? [] : [stage] };
    return this.#database.read(
      (db) => statisticsOf(this.#asked(db), this.#filteredOn(db), filters, everyStage),
      signal,
    );
  }

  shares(filters: LogFilters, by: LogSplit, signal?: AbortSignal): Promise<readonly LogShare[]> {
    return this.#database.read((db) => sharesOf(this.#asked(db), this.#filteredOn(db), filters, by), signal);
  }

  series(filters: LogFilters, window: LogWindow, signal?: AbortSignal): Promise<LogSeries> {
    return this.#database.read((db) => seriesOf(this.#asked(db), this.#filteredOn(db), filters, window), signal);
  }

  values(question: ValuesQuestion, signal?: AbortSignal): Promise<LogValues> {
    return this.#database.read((db) => valuesOf(this.#asked(db), this.#filteredOn(db), question), signal);
  }

  sum(now: number): Promise<boolean> {
    return this.#quarters.step(now);
  }

  async newestId(): Promise<number> {
    const { id } = (await this.#database.on('lookups')(TABLE).max({ id: 'id' }).first()) as { readonly id: unknown };
    return Number(id ?? 0);
  }

  async purge(filters: LogFilters, upTo: number, most: number): Promise<number> {
    const ids = this.#filtered(filters).where('id', '<=', upTo).select('id').limit(most);
    if (filters.before === undefined && filters.olderThan === undefined) void ids.orderBy('id');
    else void ids.orderBy([{ column: 'created_at' }, { column: 'id' }]);
    return this.#database.knex(TABLE).whereIn('id', ids).delete();
  }

  async purgeBeyond(rows: number, most: number): Promise<number> {
    const { knex } = this.#database;
    if ((await this.#count({ stages: [] }, this.#database.on('reads'))) <= rows) return 0;
    return knex(TABLE)
      .whereRaw(`id ${isOldestBeyond(this.#database)}`, [most, rows])
      .delete();
  }

  async ping(): Promise<void> {
    await this.#database.verify?.();
    await this.#database.on('lookups')(TABLE).select('id').limit(1);
  }

  async #count(filters: LogFilters, db: Knex): Promise<number> {
    if (areCounted(filters)) return countedRows(this.#asked(db), filters.stages);
    const { total } = (await this.#filtered(filters, db).count({ total: '*' }).first()) as { readonly total: unknown };
    return Number(total);
  }

  async #insert(rows: readonly LogRow[], guard?: Guard): Promise<void> {
    const { sql, bindings } = insertion(this.#database.dialect, TABLE, rows, guard);
    await this.#database.on('log').raw(sql, bindings);
  }

  /** The newest row of its trace at a stage that has no error. */
  #newest({ trace_id: traceId }: LogRow, stage: string): Knex.QueryBuilder {
    const newest = this.#ofTrace(traceId).where({ stage }).whereRaw("coalesce(error_message, '') = ''").max('id');
    return this.#database.on('log')(TABLE).where('id', newest);
  }

  /** One statement: a row that is repeated would not find what it was written onto, and be kept as another. */
  async #annotateOrInsert(row: LogRow, stage: string, number: number | undefined): Promise<void> {
    const { moved, isFirst } = this.#writer.once(number);
    const { sql, bindings } = this.#newest(row, stage).whereRaw(isFirst).update(endingOf(row)).toSQL();
    await this.#insert([row], {
      before: {
        sql: `WITH ${moved.sql}, noted AS (${sql} RETURNING 1)`,
        bindings: [...moved.bindings, ...bindings],
      },
      holds: `${isFirst} AND NOT EXISTS (SELECT 1 FROM noted)`,
    });
  }

  /** The database by the connection of one reading. */
  #asked(knex: Knex): Pick<Database, 'knex' | 'dialect'> {
    return { knex, dialect: this.#database.dialect };
  }

  #ofTrace(traceId: string, db = this.#database.knex): Knex.QueryBuilder {
    return rowsOfTrace(db, traceId, this.#database.dialect.name === 'sqlite');
  }

  #filteredOn(db: Knex): Filtered {
    return (filters, table) => this.#filtered(filters, db, table);
  }

  /** What has an index leaves rows for the search, which looks at each. */
  #searched(
    { search: { traceId, equal, ...others } = {}, credential, group, affinity, ...filters }: LogFilters,
    { upTo }: Pick<SearchBounds, 'upTo'>,
    db: Knex,
  ): SearchedRows {
    const indexed = (): Knex.QueryBuilder => {
      const query = this.#filtered({ ...filters, search: { traceId } }, db);
      return upTo === undefined ? query : query.where('id', '<=', upTo);
    };
    const search = { ...others, equal: { ...equal, credential, model_group: group, affinity } };
    return { dialect: this.#database.dialect, indexed, search };
  }

  #filtered(
    { stages, apiKeyId, search, since, before, olderThan, ...equal }: LogFilters,
    db = this.#database.knex,
    table = TABLE,
  ): Knex.QueryBuilder {
    const { name: dialect, time, ago } = this.#database.dialect;
    const query = search?.traceId === undefined ? db(db.raw(table)) : this.#ofTrace(search.traceId, db);
    const [stage] = stages;
    if (stages.length === 1) void query.where({ stage });
    else if (stages.length > 1) void query.whereIn('stage', stages);
    if (search) void searched(query, search, dialect);
    for (const [name, value] of Object.entries(equal))
      if (value !== undefined) void query.where({ [name === 'group' ? 'model_group' : name]: value });
    if (apiKeyId === null) void query.whereRaw("(api_key_id IS NULL OR api_key_id = '')");
    else if (apiKeyId !== undefined) void query.where({ api_key_id: apiKeyId });
    if (since !== undefined) void query.where('created_at', '>=', time(since));
    if (before !== undefined) void query.where('created_at', '<', time(before));
    if (olderThan) void query.whereRaw(`created_at < ${ago(olderThan.ms, olderThan.now)}`);
    return query;
  }
}

function newestFirst(query: Knex.QueryBuilder): Knex.QueryBuilder {
  return query.select(COLUMNS).orderBy([
    { column: 'created_at', order: 'desc' },
    { column: 'id', order: 'desc' },
  ]);
}

/** A value of each kind, as databases give it back. */
const READERS: Readonly<Record<LogColumnKind, (value: unknown) => string | number | null>> = {
  text: (value) => (typeof value === 'string' ? value : null),
  json: (value) => (typeof value === 'string' ? value : null),
  list: (value) => (typeof value === 'string' ? value : null),
  integer: numberOf,
  boolean: numberOf,
  real: (value) => amount(numberOf(value)),
  moment: (value) => timeOf(value) ?? 0,
};

function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function rowOf(row: Row): LogRow {
  const columns = LOG_COLUMN_LIST.map(([name, { kind, absent }]) => [name, READERS[kind](row[name]) ?? absent ?? null]);
  return { ...(Object.fromEntries(columns) as LogRow), stage: String(row['stage']) };
}
