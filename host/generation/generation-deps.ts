import type { SharedState } from '../contract/index.ts';
import type { Variables } from '../environment/variables.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { Registry } from '../registry/registry.ts';
import type { Stores } from '../stores/stores.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import type { SecretValues } from '../upstream/secrets/secret-values.ts';
import type { CarryoverStore } from './carryover.ts';
import type { GenerationDraft } from './generation.ts';
import type { ModelCollector } from './model-index.ts';

/** The host's hooks that a configuration is built with. */
export interface ModelHooks {
  readonly models: { call(collector: ModelCollector): void };
}

/** What a configuration is built from besides its own text. */
export interface GenerationDeps {
  readonly services: PipelineServices;
  readonly state: SharedState;
  readonly stores: Pick<Stores, 'requestLog' | 'ledgers'>;
  readonly registry: Registry;
  readonly carryover: CarryoverStore;
  readonly hooks: ModelHooks;
  /** Lets builtins tap the pipeline of a configuration. */
  readonly assemble: (draft: GenerationDraft) => Promise<void>;
  /** Providers whose credentials were found, by name. */
  readonly providers: ReadonlyMap<string, ConnectedProvider>;
  readonly variables: Variables;
  /** What references of `providers` stand for. */
  readonly secrets: SecretValues;
}
