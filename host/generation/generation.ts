import type { Problem } from '../config/problems.ts';
import type { Carryover, PluginDeps } from '../contract/index.ts';
import type { CurrentAccounts } from '../common/accounts/current-accounts.ts';
import type { GatewayConfig } from '../config/document.ts';
import type { GenerationHooks } from '../pipeline/hooks.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { RunningGeneration } from '../pipeline/running-generation.ts';
import type { Target } from '../pipeline/target.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import type { ProviderInstance } from '../upstream/instance.ts';
import type { BoundGroup } from './groups/bound-group.ts';
import type { GroupIndex } from './groups/model-groups.ts';
import type { ModelIndex } from './model-index.ts';
import type { BoundPlugins } from './bind-plugins.ts';
import type { CallPrices } from './call-prices.ts';
import type { Registry } from '../registry/registry.ts';
import type { BoundStrategy } from './bind-strategy.ts';

/** A generation while builtins and plugins tap its pipeline. */
export interface GenerationDraft {
  readonly config: GatewayConfig;
  readonly hooks: GenerationHooks;
  readonly carryover: Carryover;
  readonly targets: readonly Target[];
  readonly providers: GenerationProviders;
  readonly registry: Registry;
  readonly models: ModelIndex;
  readonly groups: GroupIndex<BoundGroup> | undefined;
  readonly plugins: BoundPlugins;
  readonly strategy: BoundStrategy;
  readonly services: PipelineServices;
  /** Ledgers, as plugins get them. */
  readonly ledger: PluginDeps['ledger'];
  /** Prices, as plugins get them, and what models can do at most. */
  readonly prices: PluginDeps['prices'] & CallPrices;
  /** Accounts and tags: what the configuration declares, and what is stored now. */
  readonly accounts: CurrentAccounts;
  readonly warnings: readonly Problem[];
  /** Parts of the configuration that are read at the start alone: who reads one adds its path where it says something else now. */
  readonly pendingRestart: string[];
}

/** What may be called under a configuration, whether or not a target names it. */
export interface GenerationProviders {
  /** Providers of the environment whose names no entry of `providers` has, in the order of their registration. */
  readonly environment: ReadonlyMap<string, ConnectedProvider>;
  /** Entries of `providers` in the order of the file, registered or not. */
  readonly instances: ReadonlyMap<string, ProviderInstance>;
  /** Those of the environment that are not asked for their models: their keys are meant for instances. */
  readonly unasked: ReadonlySet<string>;
}

/** One applied configuration, immutable. A request leases the one it starts on and keeps it to its last byte. */
export interface Generation extends RunningGeneration, GenerationProviders {
  readonly number: number;
  readonly config: GatewayConfig;
  readonly targetList: readonly Target[];
  /** What of its `providers` does not serve as it is written. */
  readonly warnings: readonly Problem[];
  /** Paths of what has an effect after a restart alone. */
  readonly pendingRestart: readonly string[];
  readonly models: ModelIndex;
  readonly groups: GroupIndex<BoundGroup> | undefined;
  /** How many models each registered provider is known to have. */
  readonly modelCounts: ReadonlyMap<string, number>;
  readonly strategy: BoundStrategy;
  readonly plugins: BoundPlugins;
  readonly accounts: CurrentAccounts;
  readonly maxRequestBytes: number;
  /** Closes what this generation alone holds. Runs once, after its last lease. */
  dispose(): Promise<void>;
}
