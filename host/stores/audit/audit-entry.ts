export type AuditOutcome = 'ok' | 'denied' | 'error';

/** One row of the audit trail (docs/admin.md#the-audit-trail). What is absent is left out. */
export interface AuditEntry {
  /** Given by the repository. */
  readonly id?: number | undefined;
  /** Unix milliseconds. */
  readonly occurredAt: number;
  readonly action: string;
  /** As it is shown, frozen when the row is written. */
  readonly actor: string;
  /** Id of the credential. */
  readonly actorId?: string | undefined;
  readonly targetId?: string | undefined;
  readonly outcome: AuditOutcome;
  /** JSON text, redacted. */
  readonly detail?: string | undefined;
  readonly sourceIp?: string | undefined;
  readonly traceId?: string | undefined;
  /** What changed, as JSON text: a list of `AuditChange`, bounded and redacted. */
  readonly changes?: string | undefined;
  /** The version of the configuration that it made. */
  readonly configVersion?: number | undefined;
}

/** One member that changed: `null` is one that was not there, or is not any more. */
export interface AuditChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditQuery {
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly targetId?: string | undefined;
  /** Unix milliseconds: rows of then or later. */
  readonly since?: number | undefined;
  /** Unix milliseconds: rows of before then. */
  readonly until?: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface AuditPage {
  /** The newest first, of one moment the one written last. */
  readonly entries: readonly AuditEntry[];
  /** All that the filters leave. */
  readonly total: number;
}

/** Where the trail is kept. Rows are only added. */
export interface AuditRepository {
  /** In this order; all of them or none, and once for each number. Throws a `WriteFault` where the store answers with a no. */
  append(entries: readonly AuditEntry[], number?: number): Promise<void>;
  /** The signal ends it, in the store too: what it gives or throws then is of no use. */
  list(query: AuditQuery, signal?: AbortSignal): Promise<AuditPage>;
  ping(): Promise<void>;
}
