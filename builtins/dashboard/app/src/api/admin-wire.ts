/** What the admin routes behind keys, sessions, audit and configuration answer, as far as this page reads it. */

export interface ApiKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly revoked_at?: string;
  readonly expires_at?: string;
  readonly rotated_at?: string;
  readonly last_used_at?: string;
  readonly usage_count: number;
  readonly active: boolean;
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
  readonly tags?: readonly string[];
  readonly mcp_tools?: readonly string[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly budget_usd?: number;
}

export interface KeyUsage {
  readonly data: readonly ApiKey[];
  readonly summary: {
    readonly total_keys: number;
    readonly active_keys: number;
    readonly total_usage: number;
    readonly returned_keys: number;
  };
}

export interface SessionEntry {
  readonly id: string;
  readonly credential_id: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly last_seen_at?: string;
  readonly expires_at: string;
  /** False where the key behind it has ended. */
  readonly active?: boolean;
}

export interface AuditEntry {
  readonly occurred_at: string;
  readonly action: string;
  readonly actor: string;
  readonly outcome: string;
  readonly actor_id?: string;
  readonly target_id?: string;
  readonly detail?: string;
  readonly source_ip?: string;
  readonly trace_id?: string;
}

export interface AuditPage {
  readonly data: readonly AuditEntry[];
  readonly summary: { readonly total_entries: number; readonly returned_entries: number };
}

export interface ConfigVersion {
  readonly version: number;
  readonly updated_at: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly rolled_back_from: number | null;
  readonly actor: string;
}

export interface ConfigChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ExplainedTarget {
  readonly target: string;
  readonly reason?: string;
  readonly provider?: string;
  readonly upstream_model?: string;
  readonly figures?: Readonly<Record<string, number>>;
}

export interface ExplainedAttempt {
  readonly target: string;
  readonly upstream_model: string;
  readonly status: number | null;
  readonly duration_ms: number | null;
  readonly ended: string;
  readonly message?: string;
}

/** How a logged request was routed. What was not recorded is left out. */
export interface Explanation {
  readonly model: string;
  readonly requested_model?: string;
  readonly surface?: string;
  readonly strategy?: string;
  readonly rule?: string | null;
  readonly ab_label?: string | null;
  readonly unroutable?: string;
  readonly order?: readonly ExplainedTarget[];
  readonly dropped?: readonly ExplainedTarget[];
  readonly attempts?: readonly ExplainedAttempt[];
}
