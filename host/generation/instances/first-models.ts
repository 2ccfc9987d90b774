import type { ProviderInstance } from '../../upstream/instance.ts';

/** Instances of a configuration that is being built: they are open, and nothing has asked them for their models yet. */
export interface FirstModels {
  readonly instances: readonly {
    readonly instance: ProviderInstance;
    /** Whether nothing but its service names a model of it. */
    readonly isUnnamed: boolean;
  }[];
  /** Whether the configuration serves already and is built once more. */
  readonly isRefresh: boolean;
  /** Says that an instance did not answer in time. */
  readonly failed: (instance: ProviderInstance) => void;
}
