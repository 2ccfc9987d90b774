import type { Knex } from 'knex';
import type {
  AuditEntry,
  AuditOutcome,
  AuditPage,
  AuditQuery,
  AuditRepository,
} from '../../host/stores/audit/audit-entry.ts';
import { type Database, timeOf } from './database/database.ts';
import { withFaults } from './database/driver-faults.ts';
import type { Row } from './key-rows.ts';

const TABLE = 'audit_log';
const COLUMNS: readonly string[] = [
  'occurred_at',
  'action',
  'actor',
  'actor_id',
  'target_id',
  'outcome',
  'detail',
  'source_ip',
  'trace_id',
];

/** The audit trail in one table of SQLite or Postgres, to which rows are only added. */
export class SqlAudit implements AuditRepository {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async append(entries: readonly AuditEntry[]): Promise<void> {
    const {
      dialect: { time },
    } = this.#database;
    const rows = entries.map((entry) => ({
      occurred_at: time(entry.occurredAt),
      action: entry.action,
      actor: entry.actor,
      actor_id: entry.actorId ?? null,
      target_id: entry.targetId ?? null,
      outcome: entry.outcome,
      detail: entry.detail ?? null,
      source_ip: entry.sourceIp ?? null,
      trace_id: entry.traceId ?? null,
    }));
    await withFaults(async () => {
      await this.#database.on('ledger')(TABLE).insert(rows);
    });
  }

  list(query: AuditQuery, signal?: AbortSignal): Promise<AuditPage> {
    return this.#database.read((db) => this.#page(query, db), signal);
  }

  async ping(): Promise<void> {
    await this.#database.verify?.();
    await this.#database.on('lookups')(TABLE).select('id').limit(1);
  }

  async #page({ action, actorId, outcome, since, limit, offset }: AuditQuery, knex: Knex): Promise<AuditPage> {
    const { time } = this.#database.dialect;
    const filtered = (): Knex.QueryBuilder => {
      const query = knex(TABLE);
      if (action !== undefined) void query.where({ action });
      if (actorId !== undefined) void query.where({ actor_id: actorId });
      if (outcome !== undefined) void query.where({ outcome });
      if (since !== undefined) void query.where('occurred_at', '>=', time(since));
      return query;
    };
    const { total } = (await filtered().count({ total: '*' }).first()) as { readonly total: unknown };
    const rows = (await filtered()
      .select(COLUMNS)
      .orderBy([
        { column: 'occurred_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit)
      .offset(offset)) as Row[];
    return { entries: rows.map(entryOf), total: Number(total) };
  }
}

function entryOf(row: Row): AuditEntry {
  const text = (name: string): string | undefined => (typeof row[name] === 'string' ? row[name] : undefined);
  return {
    occurredAt: timeOf(row['occurred_at']) ?? 0,
    action: String(row['action']),
    actor: String(row['actor']),
    outcome: row['outcome'] as AuditOutcome,
    actorId: text('actor_id'),
    targetId: text('target_id'),
    detail: text('detail'),
    sourceIp: text('source_ip'),
    traceId: text('trace_id'),
  };
}
