/**
 * One configuration as it is after decoding: shape checked, rules not yet. Keys are named as in the document.
 * Durations stay the text they were written in; `${VAR}` references stay for life.
 */
export interface GatewayConfig {
  readonly apiVersion?: string;
  readonly strategy: StrategyConfig;
  readonly targets: readonly TargetConfig[];
  readonly max_request_bytes?: number;
  readonly request_timeout?: string;
  readonly plugins: readonly PluginEntry[];
  readonly aliases: Readonly<Record<string, string>>;
  readonly mcp_servers: readonly McpServerConfig[];
  readonly mcp: { readonly stream?: boolean };
  readonly observability: ObservabilityConfig;
  readonly compatibility: { readonly on_unsupported_param?: string };
  readonly batch_target?: string;
  readonly responses_target?: string;
  readonly responses: { readonly bind_owner?: boolean; readonly translate?: string };
  readonly files: { readonly bind_owner?: boolean };
  readonly money: { readonly unpriced?: string };
  readonly modules: readonly string[];
}

export interface StrategyConfig {
  readonly mode: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly failover_on?: readonly string[];
  readonly failover_on_status_codes?: readonly number[];
  readonly unpriced_strategy?: string;
  readonly conditions?: readonly Condition[];
  readonly content_conditions?: readonly {
    readonly type?: string;
    readonly value?: string;
    readonly target_key?: string;
  }[];
  readonly ab_variants?: readonly { readonly target_key?: string; readonly weight?: number; readonly label?: string }[];
}

export interface Condition {
  readonly key?: string;
  readonly field?: string;
  readonly value?: string;
  readonly target_key?: string;
}

export interface TargetConfig {
  readonly virtual_key: string;
  readonly weight?: number;
  readonly models?: readonly string[];
  readonly model_map?: Readonly<Record<string, string>>;
  readonly retry?: {
    readonly attempts?: number;
    readonly on_status_codes?: readonly number[];
    readonly initial_backoff_ms?: number;
  };
  readonly retry_on_status?: readonly number[];
  readonly request_timeout?: string;
  readonly responses?: string;
  readonly circuit_breaker?: {
    readonly failure_threshold?: number;
    readonly success_threshold?: number;
    readonly max_half_threshold?: number;
    readonly timeout?: string;
  };
  readonly concurrency?: { readonly max_concurrency?: number; readonly queue_size?: number };
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface PluginEntry {
  readonly name: string;
  readonly type?: string;
  readonly stage?: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>> | null;
}

export interface McpServerConfig {
  readonly name?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly allowed_tools?: readonly string[];
  readonly max_call_depth?: number;
  readonly timeout_seconds?: number;
  readonly max_result_bytes?: number;
  readonly required?: boolean;
}

export interface ObservabilityConfig {
  readonly tracing?: {
    readonly enabled?: boolean;
    readonly endpoint?: string;
    readonly protocol?: string;
    readonly service_name?: string;
    readonly sample_ratio?: number;
    readonly privacy_level?: string;
    readonly shutdown_grace?: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
  readonly exporters?: readonly {
    readonly name?: string;
    readonly enabled?: boolean;
    readonly config?: Readonly<Record<string, unknown>> | null;
  }[];
}

export const DEFAULT_MAX_REQUEST_BYTES = 10 * 1024 * 1024;
