import type { AuditEntry, AuditPage, AuditQuery, AuditRepository } from './audit-entry.ts';

/** What memory keeps of the trail. See docs/reference/admin.md#audit-trail. */
const NEWEST = 1000;

/** The newest rows of this process, gone with it. */
export class MemoryAudit implements AuditRepository {
  #entries: AuditEntry[] = [];

  async append(entries: readonly AuditEntry[]): Promise<void> {
    this.#entries = [...this.#entries, ...entries].slice(-NEWEST);
  }

  async list({ action, actorId, outcome, since, limit, offset }: AuditQuery): Promise<AuditPage> {
    const found = this.#entries.filter(
      (entry) =>
        (action === undefined || entry.action === action) &&
        (actorId === undefined || entry.actorId === actorId) &&
        (outcome === undefined || entry.outcome === outcome) &&
        (since === undefined || entry.occurredAt >= since),
    );
    const sorted = found.toReversed().toSorted((a, b) => b.occurredAt - a.occurredAt); // a stable sort: of one moment the last comes first
    return { entries: sorted.slice(offset, offset + limit), total: found.length };
  }

  async ping(): Promise<void> {}
}
