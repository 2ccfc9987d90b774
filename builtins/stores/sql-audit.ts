import type { Knex } from 'knex';
import type {
  AuditEntry,
  AuditOutcome,
  AuditPage,
  AuditQuery,
  AuditRepository,
} from '../../host/stores/audit/audit-entry.ts';
import { type Database, type Dialect, timeOf } from './database/database.ts';
import { withFaults } from './database/driver-faults.ts';
import { arrayOf, SentOnce, Writer } from './database/numbered-writes.ts';
import type { Row } from './key-rows.ts';

const TABLE = 'audit_log';
const COLUMNS = [
  'occurred_at',
  'action',
  'actor',
  'actor_id',
  'target_id',
  'outcome',
  'detail',
  'source_ip',
  'trace_id',
  'changes',
  'config_version',
] as const;

/** What Postgres takes a list of; texts unless said. */
const LISTS: Readonly<Record<string, string>> = { occurred_at: 'timestamptz', config_version: 'integer' };

/** The audit trail in one table of SQLite or Postgres, to which rows are only added. */
export class SqlAudit implements AuditRepository {
  readonly #database: Database;
  readonly #writer = new Writer('audit');
  readonly #sent = new SentOnce<void>();

  constructor(database: Database) {
    this.#database = database;
  }

  async append(entries: readonly AuditEntry[], number?: number): Promise<void> {
    const { dialect } = this.#database;
    const rows = entries.map((entry) => valuesOf(entry, dialect));
    await withFaults(() =>
      dialect.name === 'postgres'
        ? this.#appendTogether(rows, number)
        : this.#sent.send(number, async () => {
            await this.#database
              .on('ledger')(TABLE)
              .insert(rows.map((values) => Object.fromEntries(COLUMNS.map((name, at) => [name, values[at]]))));
          }),
    );
  }

  list(query: AuditQuery, signal?: AbortSignal): Promise<AuditPage> {
    return this.#database.read((db) => this.#page(query, db), signal);
  }

  async ping(): Promise<void> {
    await this.#database.verify?.();
    await this.#database.on('lookups')(TABLE).select('id').limit(1);
  }

  async #page(
    { action, actorId, targetId, outcome, since, until, limit, offset }: AuditQuery,
    knex: Knex,
  ): Promise<AuditPage> {
    const { time } = this.#database.dialect;
    const filtered = (): Knex.QueryBuilder => {
      const query = knex(TABLE);
      if (action !== undefined) void query.where({ action });
      if (actorId !== undefined) void query.where({ actor_id: actorId });
      if (outcome !== undefined) void query.where({ outcome });
      if (targetId !== undefined) void query.where({ target_id: targetId });
      if (until !== undefined) void query.where('occurred_at', '<', time(until));
      if (since !== undefined) void query.where('occurred_at', '>=', time(since));
      return query;
    };
    const { total } = (await filtered().count({ total: '*' }).first()) as { readonly total: unknown };
    const rows = (await filtered()
      .select(['id', ...COLUMNS])
      .orderBy([
        { column: 'occurred_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit)
      .offset(offset)) as Row[];
    return { entries: rows.map(entryOf), total: Number(total) };
  }

  /** One statement: a list for each column. */
  async #appendTogether(rows: readonly Values[], number: number | undefined): Promise<void> {
    const { moved, isFirst } = this.#writer.once(number);
    const given = COLUMNS.map((name) => `?::${LISTS[name] ?? 'text'}[]`).join(', ');
    await this.#database.on('ledger').raw(
      `WITH ${moved.sql} INSERT INTO ${TABLE} (${COLUMNS.join(', ')})
      SELECT ${COLUMNS.join(', ')} FROM unnest(${given}) WITH ORDINALITY AS given (${COLUMNS.join(', ')}, number) WHERE ${isFirst} ORDER BY number`,
      [...moved.bindings, ...COLUMNS.map((_name, at) => arrayOf(rows.map((values) => values[at] ?? null)))],
    );
  }
}

/** What is bound, in the order of the columns. */
type Values = readonly (string | number | null)[];

function valuesOf(entry: AuditEntry, { time }: Dialect): Values {
  const { action, actor, actorId, targetId, outcome, detail, sourceIp, traceId, changes, configVersion } = entry;
  const moment = time(entry.occurredAt);
  return [moment, action, actor, actorId, targetId, outcome, detail, sourceIp, traceId, changes, configVersion].map(
    (value) => value ?? null,
  );
}

function entryOf(row: Row): AuditEntry {
  const text = (name: string): string | undefined => (typeof row[name] === 'string' ? row[name] : undefined);
  const version = row['config_version'];
  return {
    id: Number(row['id']),
    occurredAt: timeOf(row['occurred_at']) ?? 0,
    action: String(row['action']),
    actor: String(row['actor']),
    outcome: row['outcome'] as AuditOutcome,
    actorId: text('actor_id'),
    targetId: text('target_id'),
    detail: text('detail'),
    sourceIp: text('source_ip'),
    traceId: text('trace_id'),
    changes: text('changes'),
    configVersion: version === null || version === undefined ? undefined : Number(version),
  };
}
