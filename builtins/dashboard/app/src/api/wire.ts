import type { Fields } from '../lib/fields.ts';
import type {
  Coverage,
  DeepHealth as AnyDeepHealth,
  Explanation as AnyExplanation,
  Health as AnyHealth,
  LogStatistics,
  Logs,
  Model as AnyModel,
  PluginCatalog,
  Providers,
} from './answers.ts';

/** What this page reads of the gateway's answers, by the names that it uses; of a configuration the parts that it shows. */

export type {
  Capabilities,
  Coverage,
  Dashboard,
  LogEntry,
  LogStatistics,
  PluginCatalog,
  ProviderCatalog,
  Readiness,
} from './answers.ts';

/** A list counts all that match; a search does not, and says where the next page begins. */
export type LogPage = Pick<Logs, 'data' | 'summary' | 'next'>;
export type LogSums = LogStatistics['by_model'][string];
export type Quantiles = NonNullable<LogStatistics['latency_ms']>;
export type SeriesPoint = LogStatistics['series']['points'][number];
/** Older gateways leave the tool servers out. */
export type DeepHealth = Pick<AnyDeepHealth, 'status' | 'providers' | 'components'> &
  Partial<Pick<AnyDeepHealth, 'mcp_servers' | 'targets'>>;
export type Health = Pick<AnyHealth, 'status' | 'providers'> & Partial<Pick<AnyHealth, 'version'>>;
/** Readiness says less of a server. */
export type McpServerHealth = Omit<AnyDeepHealth['mcp_servers'][number], 'last_error'> & {
  readonly last_error?: string;
};
export type Model = Omit<AnyModel, 'object' | 'created'>;
export interface ModelList {
  readonly data: readonly Model[];
}
/** Entries of the configuration say more than their models. */
export type ProviderModels = Omit<Providers[number], 'models'> & {
  readonly models: readonly Pick<Model, 'id' | 'owned_by'>[];
};
export type CredentialState = NonNullable<ProviderModels['credentials']>[number];
export type PluginDescription = PluginCatalog['data'][number];
export type CoverageRow = Coverage['data'][number];
export type CoverageCell = NonNullable<CoverageRow['translated']>;
/** Where a request would go and why. All but what became of a request is there. */
export type Explanation = Required<Omit<AnyExplanation, 'unroutable' | 'attempts' | 'order' | 'dropped' | OfFleet>> &
  Pick<AnyExplanation, OfFleet> & {
    readonly order: readonly ExplainedTarget[];
    readonly dropped: readonly ExplainedTarget[];
  };
/** There with a group, or with a session where the strategy keeps sessions. */
type OfFleet = 'group' | 'affinity' | 'bound';
export type ExplainedPlace = NonNullable<AnyExplanation['bound']>;
type AnyTarget = NonNullable<AnyExplanation['order']>[number];
export type ExplainedTarget = AnyTarget & Required<Pick<AnyTarget, 'reason' | 'figures'>>;
export type ExplainedCredential = NonNullable<AnyTarget['credentials']>[number];

export interface GatewayConfig {
  readonly strategy?: StrategyConfig;
  readonly targets?: readonly TargetConfig[];
  readonly plugins?: readonly PluginEntry[];
  readonly aliases?: Readonly<Record<string, string>>;
  readonly providers?: Fields;
  readonly models?: readonly GroupConfig[];
}

/** An entry of `models`: what clients ask for, and the routes that serve it. */
export interface GroupConfig {
  readonly name: string;
  readonly routes?: readonly RouteConfig[];
  readonly strategy?: StrategyConfig;
  readonly fallbacks?: readonly string[];
  readonly listed?: boolean;
}

export interface RouteConfig {
  readonly target: string;
  readonly model?: string;
  readonly weight?: number;
}

export interface StrategyConfig {
  readonly mode?: string;
  readonly affinity?: string;
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
