import type { Knex } from 'knex';
import { type LogColumnKind, LOG_COLUMN_LIST } from '../../../host/contract/log-columns.ts';
import type {
  LogFilters,
  LogPage,
  LogRepository,
  LogRow,
  LogSeries,
  LogStatistics,
  LogWindow,
} from '../../../host/stores/log/log-repository.ts';
import { amount } from '../../../host/stores/log/row-values.ts';
import { type Database, timeOf } from '../database/database.ts';
import { withFaults } from '../database/driver-faults.ts';
import { SentOnce, Writer } from '../database/numbered-writes.ts';
import type { Row } from '../key-rows.ts';
import { areCounted, countedRows, NewRows } from './log-counts.ts';
import { seriesOf, statisticsOf } from './log-figures.ts';
import { type Guard, insertion } from './log-insert.ts';
import { rowsOfTrace } from './log-traces.ts';

const TABLE = 'request_logs';
const COLUMNS: readonly string[] = LOG_COLUMN_LIST.map(([name]) => name);

/** The request log in one table of SQLite or Postgres. */
export class SqlLogs implements LogRepository {
  readonly #database: Database;
  readonly #newRows: NewRows;
  readonly #writer = new Writer('log');
  readonly #sent = new SentOnce<void>();

  constructor(database: Database) {
    this.#database = database;
    this.#newRows = new NewRows(database);
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
            const noted = await this.#newest(row, stage).update({ error_message: row.error_message ?? '' });
            if (noted === 0) await this.#insert([row]);
          }),
    );
    this.#newRows.wrote(1);
  }

  async list(filters: LogFilters, limit: number, offset: number): Promise<LogPage> {
    const [rows, total] = await Promise.all([
      newestFirst(this.#filtered(filters)).limit(limit).offset(offset) as Promise<Row[]>,
      this.count(filters),
    ]);
    return { rows: rows.map(rowOf), total };
  }

  async count(filters: LogFilters): Promise<number> {
    if (areCounted(filters)) return countedRows(this.#reading, filters.stages);
    const { total } = (await this.#filtered(filters).count({ total: '*' }).first()) as { readonly total: unknown };
    return Number(total);
  }

  async newestOf(traceId: string): Promise<LogRow | undefined> {
    const row = (await newestFirst(this.#ofTrace(traceId)).first()) as Row | undefined;
    return row && rowOf(row);
  }

  statistics(filters: LogFilters, stage: string | undefined): Promise<LogStatistics> {
    return statisticsOf(this.#reading, (of = filters) => this.#filtered(of), {
      ...filters,
      stages: stage === undefined ? [] : [stage],
    });
  }

  series(filters: LogFilters, window: LogWindow): Promise<LogSeries> {
    return seriesOf(this.#reading, () => this.#filtered(filters), window);
  }

  async newestId(): Promise<number> {
    const { id } = (await this.#database.on('reads')(TABLE).max({ id: 'id' }).first()) as { readonly id: unknown };
    return Number(id ?? 0);
  }

  async idBehind(count: number): Promise<number | undefined> {
    const row = (await this.#database.on('reads')(TABLE).select('id').orderBy('id', 'desc').offset(count).first()) as
      | { readonly id: unknown }
      | undefined;
    return row && Number(row.id);
  }

  async purge(filters: LogFilters, upTo: number, most: number): Promise<number> {
    const ids = this.#filtered(filters).where('id', '<=', upTo).select('id').limit(most);
    if (filters.before === undefined) void ids.orderBy('id');
    else void ids.orderBy([{ column: 'created_at' }, { column: 'id' }]);
    return this.#database.knex(TABLE).whereIn('id', ids).delete();
  }

  async ping(): Promise<void> {
    await this.#database.on('lookups')(TABLE).select('id').limit(1);
  }

  get #reading(): Database {
    return { ...this.#database, knex: this.#database.on('reads') };
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
    const { sql, bindings } = this.#newest(row, stage)
      .whereRaw(isFirst)
      .update({ error_message: row.error_message ?? '' })
      .toSQL();
    await this.#insert([row], {
      before: {
        sql: `WITH ${moved.sql}, noted AS (${sql} RETURNING 1)`,
        bindings: [...moved.bindings, ...bindings],
      },
      holds: `${isFirst} AND NOT EXISTS (SELECT 1 FROM noted)`,
    });
  }

  #ofTrace(traceId: string): Knex.QueryBuilder {
    const {
      dialect: { name },
    } = this.#database;
    return rowsOfTrace(this.#database.on('reads'), traceId, name === 'sqlite');
  }

  #filtered({ stages, model, provider, apiKeyId, since, before }: LogFilters): Knex.QueryBuilder {
    const {
      dialect: { time },
    } = this.#database;
    const query = this.#database.on('reads')(TABLE);
    const [stage] = stages;
    if (stages.length === 1) void query.where({ stage });
    else if (stages.length > 1) void query.whereIn('stage', stages);
    if (model !== undefined) void query.where({ model });
    if (provider !== undefined) void query.where({ provider });
    if (apiKeyId === null) void query.whereRaw("(api_key_id IS NULL OR api_key_id = '')");
    else if (apiKeyId !== undefined) void query.where({ api_key_id: apiKeyId });
    if (since !== undefined) void query.where('created_at', '>=', time(since));
    if (before !== undefined) void query.where('created_at', '<', time(before));
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
