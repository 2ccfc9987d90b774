/** What the gateway answers, as far as this page reads it. Lists and members that a newer gateway adds are ignored. */

export interface Dashboard {
  readonly providers: { readonly total: number; readonly available: number };
  readonly keys: { readonly total: number; readonly active: number; readonly expired: number; readonly total_usage: number };
  readonly request_logs: { readonly enabled: boolean; readonly total: number };
}

export interface ProviderHealth {
  readonly name: string;
  readonly status: string;
  readonly models: number;
  readonly message?: string;
}

export interface McpServerHealth {
  readonly name: string;
  readonly ready: boolean;
  readonly required: boolean;
  readonly last_error?: string;
}

export interface DeepHealth {
  readonly status: string;
  readonly providers: readonly ProviderHealth[];
  readonly components: readonly { readonly name: string; readonly status: string }[];
  readonly mcp_servers?: readonly McpServerHealth[];
}

export interface Health {
  readonly status: string;
  readonly version?: string;
  readonly providers: readonly { readonly name: string; readonly status: string; readonly circuit: string; readonly models: number }[];
}

export interface Readiness {
  readonly status: string;
  readonly reason?: string;
  readonly targets?: readonly { readonly name: string; readonly routable: boolean; readonly circuit: string }[];
  readonly mcp_servers?: readonly { readonly name: string; readonly ready: boolean; readonly required: boolean }[];
}

export interface LogEntry {
  readonly trace_id: string;
  readonly stage: string;
  readonly model: string;
  readonly api_key_id: string;
  readonly provider: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly error_message: string;
  readonly created_at: string;
  readonly duration_ms: number | null;
  readonly ttft_ms: number | null;
  readonly cost_usd: number | null;
  readonly ab_label?: string;
  readonly target?: string;
  readonly attempts?: number;
  readonly cache?: string;
  readonly catalog_version?: string;
}

export interface LogPage {
  readonly data: readonly LogEntry[];
  readonly summary: { readonly total_entries: number; readonly returned_entries: number };
}

export interface LogSums {
  readonly count: number;
  readonly errors: number;
  readonly tokens: number;
  readonly cost_usd: number;
  readonly unpriced: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
}

export interface SeriesPoint {
  readonly start: string;
  readonly requests: number;
  readonly errors: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export interface LogStatistics {
  readonly summary: {
    readonly total_entries: number;
    readonly error_entries: number;
    readonly total_tokens: number;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly cost_usd: number;
    readonly unpriced_requests: number;
  };
  readonly latency_ms: Quantiles | null;
  readonly ttft_ms: Quantiles | null;
  readonly by_provider: Readonly<Record<string, LogSums>>;
  readonly by_model: Readonly<Record<string, LogSums>>;
  readonly top_errors: readonly { readonly message: string; readonly count: number }[];
  readonly series: { readonly points: readonly SeriesPoint[]; readonly truncated: boolean; readonly start?: string; readonly end?: string };
}
