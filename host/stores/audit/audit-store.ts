import { redactedCopy } from '../../log/redacted-copy.ts';
import type { Timer } from '../../common/clock.ts';
import type { AuditChange, AuditEntry, AuditPage, AuditQuery, AuditRepository } from './audit-entry.ts';
import { changeText } from './change-text.ts';
import { MemoryAudit } from './memory-audit.ts';
import { Place } from '../place.ts';
import { readFrom } from '../reading.ts';
import type { StoreDeps } from '../store-deps.ts';
import { LOOKUP_LIMIT_MS, StoreLink } from '../store-link.ts';
import { RowWriter } from '../write-rows.ts';

/** An action as the code that performed it describes it; the store adds the moment and redacts the detail. */
export interface AuditNote extends Omit<AuditEntry, 'id' | 'occurredAt' | 'detail' | 'changes'> {
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  readonly changes?: readonly AuditChange[] | undefined;
}

/** What the audit trail needs of the host. */
export interface AuditStoreDeps extends StoreDeps {
  /** A row was dropped. */
  readonly auditDropped?: () => void;
}

/** Rows that wait for the store at most; of more the oldest are dropped, and counted in the log and by a figure. */
export const MOST_WAITING = 10_000;
const BATCH = 200;
const RETRY_MS = 2000;

/**
 * The audit trail. Writing never waits and never fails the action: rows wait in a queue and are written in order, at once where
 * the store answers, else when it is back.
 */
export class AuditStore {
  readonly link: StoreLink;
  readonly #place = new Place<AuditRepository>('audit store', 'memory', new MemoryAudit());
  readonly #deps: AuditStoreDeps;
  readonly #rows: RowWriter<AuditEntry>;
  #waiting: AuditEntry[] = [];
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(deps: AuditStoreDeps) {
    this.#deps = deps;
    this.link = new StoreLink('the audit store', { ...deps, backend: () => this.backend });
    this.#rows = new RowWriter({
      write: (entries, number) => this.link.ask(() => this.#place.value.append(entries, number)),
      refused: ({ action, actorId }, fault) => this.link.refused({ action, actor_id: actorId }, fault),
    });
  }

  get backend(): string {
    return this.#place.backend;
  }

  supply(backend: string, repository: AuditRepository): void {
    this.#place.supply(backend, repository);
  }

  seal(): void {
    this.#place.seal();
  }

  append({ detail, changes, ...note }: AuditNote): void {
    this.#waiting.push({
      ...note,
      occurredAt: this.#deps.clock.now(),
      ...(detail && { detail: this.#text(detail) }),
      ...(changes && { changes: changeText(changes, this.#deps.redactor) }),
    });
    if (this.#waiting.length + this.#rows.held.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
      this.#deps.auditDropped?.();
    }
    if (!this.#retry) void this.flush();
  }

  /** With all that was appended before. It ends after ten seconds, and when the client that asks for it has left. */
  list(query: AuditQuery, client?: AbortSignal): Promise<AuditPage> {
    const { clock, log } = this.#deps;
    const store = { of: 'the audit trail', link: this.link, clock, log, flush: () => this.flush() };
    return readFrom(store, { what: 'a list', client }, (signal) => this.#place.value.list(query, signal));
  }

  async ping(): Promise<void> {
    await this.link.ask(() => this.#place.value.ping(), LOOKUP_LIMIT_MS);
  }

  /** Tries to write what waits. It never throws: what cannot be written goes on waiting. */
  flush(): Promise<void> {
    return (this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    }));
  }

  /** Before the repository closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush(); // may be one that began before, and fails
    await this.flush();
    this.#retry?.cancel();
    const lost = this.#rows.held.length + this.#waiting.length;
    if (lost > 0) this.#deps.log.error('audit rows are lost: their store did not come back', { rows: lost });
  }

  async #write(): Promise<void> {
    this.#retry?.cancel();
    this.#retry = undefined;
    while (this.#rows.holdsAny || this.#waiting.length > 0) {
      if (await this.#rows.write(this.#rows.holdsAny ? [] : this.#waiting.splice(0, BATCH))) {
        if (!this.#isClosed) this.#retry = this.#deps.clock.timer(RETRY_MS, () => void this.flush());
        return;
      }
      if (this.#dropped > 0)
        this.#deps.log.error('audit rows were dropped: too many waited for their store', { rows: this.#dropped });
      this.#dropped = 0;
    }
  }

  /** Names sorted, and nothing in it that must not be seen. */
  #text(detail: Readonly<Record<string, unknown>>): string {
    const sorted = Object.fromEntries(Object.entries(detail).toSorted(([a], [b]) => Number(a > b) - Number(a < b)));
    return JSON.stringify(redactedCopy(sorted, this.#deps.redactor));
  }
}
