import type { SharedState } from '../contract/index.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { Registry } from '../registry/registry.ts';
import type { Stores } from '../stores/stores.ts';
import type { SecretValues } from '../upstream/secrets/secret-values.ts';
import type { CarryoverStore } from './carryover.ts';
import type { Generation, GenerationDraft } from './generation.ts';
import type { EnvironmentDeps } from './instances/environment-providers.ts';
import type { FirstModels } from './instances/first-models.ts';
import type { ModelCollector } from './model-index.ts';

/** The host's hooks that a configuration is built with. */
export interface ModelHooks {
  readonly models: { call(collector: ModelCollector): void };
}

/** What a configuration is built from besides its own text. */
export interface GenerationDeps extends Readonly<EnvironmentDeps> {
  readonly services: PipelineServices;
  readonly state: SharedState;
  readonly stores: Pick<Stores, 'requestLog' | 'ledgers' | 'accounts' | 'keys'>;
  readonly registry: Registry;
  readonly carryover: CarryoverStore;
  readonly hooks: ModelHooks;
  /** Lets builtins tap the pipeline of a configuration. */
  readonly assemble: (draft: GenerationDraft) => Promise<void>;
  /** The configuration that serves: it may be built once more, because what surrounds it changed. */
  readonly current?: Pick<Generation, 'config'> | undefined;
  /** Asks instances for their models before they serve; absent where nothing may be asked. */
  readonly firstModels?: (first: FirstModels) => Promise<void>;
  /** Hears of an instance that had no connection and has one now; absent where nothing is watched. */
  readonly instanceRegistered?: () => void;
  /** What references of `providers` stand for. */
  readonly secrets: SecretValues;
}
