import type { AuditEntry, AuditPage, AuditQuery, AuditRepository } from './audit-entry.ts';

/** What memory keeps of the trail. See docs/reference/admin.md#audit-trail. */
const NEWEST = 1000;

/** The newest rows of this process, gone with it. */
export class MemoryAudit implements AuditRepository {
  #entries: AuditEntry[] = [];
  #last = 0;

  async append(entries: readonly AuditEntry[]): Promise<void> {
    const numbered = entries.map((entry) => ({ ...entry, id: (this.#last += 1) }));
    this.#entries = [...this.#entries, ...numbered].slice(-NEWEST);
  }

  async list({ action, actorId, targetId, outcome, since, until, limit, offset }: AuditQuery): Promise<AuditPage> {
    const found = this.#entries.filter(
      (entry) =>
        (action === undefined || entry.action === action) &&
        (actorId === undefined || entry.actorId === actorId) &&
        (outcome === undefined || entry.outcome === outcome) &&
        (targetId === undefined || entry.targetId === targetId) &&
        (until === undefined || entry.occurredAt < until) &&
        (since === undefined || entry.occurredAt >= since),
    );
    const sorted = found.toReversed().toSorted((a, b) => b.occurredAt - a.occurredAt); // a stable sort: of one moment the last comes first
    return { entries: sorted.slice(offset, offset + limit), total: found.length };
  }

  async ping(): Promise<void> {}
}
