import type { Fields } from '../lib/fields.ts';

/** What the gateway answers, as far as this page reads it. Lists and members that a newer gateway adds are ignored. */

export interface Dashboard {
  readonly providers: { readonly total: number; readonly available: number };
  readonly keys: {
    readonly total: number;
    readonly active: number;
    readonly expired: number;
    readonly total_usage: number;
  };
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
  readonly providers: readonly {
    readonly name: string;
    readonly status: string;
    readonly circuit: string;
    readonly models: number;
  }[];
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
  readonly cost_source?: string;
  readonly catalog_version?: string;
  readonly client_wire?: string;
  readonly same_wire?: boolean;
  readonly upstream_request_id?: string;
  readonly session_id?: string;
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
  readonly series: {
    readonly points: readonly SeriesPoint[];
    readonly truncated: boolean;
    readonly start?: string;
    readonly end?: string;
  };
}

export interface ProviderCatalog {
  readonly providers: readonly { readonly id: string; readonly registered: boolean; readonly catalog_models: number }[];
}

export interface Model {
  readonly id: string;
  readonly owned_by: string;
  readonly mode?: string;
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly capabilities?: readonly string[];
  readonly status?: string;
  readonly deprecated?: boolean;
}

export interface ProviderModels {
  readonly name: string;
  readonly models: readonly { readonly id: string; readonly owned_by: string }[];
}

export interface ModelList {
  readonly data: readonly Model[];
}

export interface Capabilities {
  /** What becomes of chat parameters, by provider and parameter; what is not named is forwarded. */
  readonly providers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly image_response_formats?: Readonly<Record<string, readonly string[]>>;
}

export interface GatewayConfig {
  readonly strategy?: StrategyConfig;
  readonly targets?: readonly TargetConfig[];
  readonly plugins?: readonly PluginEntry[];
  readonly aliases?: Readonly<Record<string, string>>;
}

export interface StrategyConfig {
  readonly mode?: string;
  readonly settings?: Fields;
  readonly failover_on?: readonly string[];
  readonly failover_on_status_codes?: readonly number[];
  readonly unpriced_strategy?: string;
  readonly conditions?: readonly RuleConfig[];
  readonly content_conditions?: readonly RuleConfig[];
  readonly ab_variants?: readonly { readonly target_key?: string; readonly weight?: number; readonly label?: string }[];
}

/** A rule of either kind: what it looks at, what it looks for, and the target it chooses. */
export interface RuleConfig {
  readonly key?: string;
  readonly field?: string;
  readonly type?: string;
  readonly value?: string;
  readonly target_key?: string;
}

export interface TargetConfig {
  readonly virtual_key: string;
  readonly weight?: number;
  readonly models?: readonly string[];
  readonly model_map?: Readonly<Record<string, string>>;
  readonly retry?: { readonly attempts?: number };
  readonly request_timeout?: string;
  readonly circuit_breaker?: {
    readonly failure_threshold?: number;
    readonly success_threshold?: number;
    readonly timeout?: string;
  };
  readonly concurrency?: { readonly max_concurrency?: number; readonly queue_size?: number };
}

export interface PluginEntry {
  readonly name: string;
  readonly type?: string;
  readonly stage?: string;
  readonly enabled?: boolean;
  readonly config?: Fields | null;
}

export interface PluginDescription {
  readonly name: string;
  readonly type: string;
  readonly summary: string;
  readonly settings: readonly string[];
  readonly fails_open: boolean;
}

export interface PluginCatalog {
  readonly data: readonly PluginDescription[];
}

/** Which plugins read which bodies. */
export interface Coverage {
  readonly data: readonly CoverageRow[];
  readonly warnings: readonly string[];
}

export interface CoverageRow extends CoverageCell {
  readonly surface: string;
  readonly stage: string;
  /** What holds for requests that are translated. */
  readonly translated?: CoverageCell;
}

export interface CoverageCell {
  readonly plugins: readonly string[];
  readonly refused: boolean;
  readonly recorded: boolean;
}

/** Where a request would go and why. */
export interface Explanation {
  readonly model: string;
  readonly requested_model: string;
  readonly surface: string;
  readonly streaming: boolean;
  readonly strategy: string;
  readonly on_failure: string;
  readonly rule: string | null;
  readonly condition: Readonly<Record<string, string>> | null;
  readonly ab_label: string | null;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly order: readonly ExplainedTarget[];
  readonly dropped: readonly ExplainedTarget[];
  readonly plugins: readonly { readonly name: string; readonly stage: string }[];
  readonly notes: readonly string[];
}

export interface ExplainedTarget {
  readonly target: string;
  readonly reason: string;
  readonly figures: Readonly<Record<string, number | string | null>>;
  readonly provider?: string;
  readonly upstream_model?: string;
  readonly circuit?: string | null;
}
