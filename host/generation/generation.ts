import type { Carryover } from '../contract/index.ts';
import type { GatewayConfig, TargetConfig } from '../config/document.ts';
import type { Host } from '../host.ts';
import type { GenerationHooks } from '../pipeline/hooks.ts';
import type { RetryBudget, RetryPolicy } from '../pipeline/retry.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import type { ModelIndex } from './model-index.ts';
import type { BoundPlugins } from './bind-plugins.ts';
import type { Registry } from '../registry/registry.ts';
import type { BoundStrategy } from './bind-strategy.ts';

/** One entry of `targets[]`, ready for requests. */
export interface Target {
  readonly virtualKey: string;
  readonly weight: number;
  readonly config: TargetConfig;
  /** `undefined` while no credential registers its provider. */
  readonly provider: ConnectedProvider | undefined;
  readonly retry: RetryPolicy;
  /** Outlives a configuration change. `undefined` where `retry` allows a single try. */
  readonly retryBudget: RetryBudget | undefined;
  /** Milliseconds for one attempt; `undefined` is no bound. */
  readonly requestTimeoutMs: number | undefined;
  upstreamModel(model: string): string;
}

/** A generation while builtins and plugins tap its pipeline. */
export interface GenerationDraft {
  readonly config: GatewayConfig;
  readonly hooks: GenerationHooks;
  readonly carryover: Carryover;
  readonly targets: readonly Target[];
  readonly registry: Registry;
  readonly models: ModelIndex;
  readonly plugins: BoundPlugins;
  readonly strategy: BoundStrategy;
  readonly host: Host;
}

/** One applied configuration, immutable. A request leases the one it starts on and keeps it to its last byte. */
export interface Generation {
  readonly number: number;
  readonly config: GatewayConfig;
  readonly hooks: GenerationHooks;
  readonly targets: ReadonlyMap<string, Target>;
  readonly targetList: readonly Target[];
  readonly models: ModelIndex;
  /** How many models each registered provider is known to have. */
  readonly modelCounts: ReadonlyMap<string, number>;
  readonly strategy: BoundStrategy;
  readonly plugins: BoundPlugins;
  /** Milliseconds for a whole request; `undefined` is no bound. */
  readonly requestTimeoutMs: number | undefined;
  readonly maxRequestBytes: number;
  readonly unsupportedParams: 'warn' | 'drop' | 'reject';
  /** Closes what this generation alone holds. Runs once, after its last lease. */
  dispose(): Promise<void>;
}
