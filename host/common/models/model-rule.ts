import type { FactChanges } from '../fact-keys.ts';

/** One rule: what is known of the models that its patterns name, at these providers. See docs/catalog.md#rules-of-models. */
export interface ModelRule {
  readonly id: string;
  /** Providers whose models it speaks of; `*` is every one. */
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly except: readonly string[];
  readonly set: FactChanges;
  /** Whether it speaks of what its providers do with models of others, so that it says nothing of the models elsewhere. */
  readonly isHosted: boolean;
  /** Where it was read, and the day. */
  readonly source: readonly string[];
  readonly checked: string;
}
