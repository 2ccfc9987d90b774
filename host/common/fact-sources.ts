import type { ModelFacts } from '../contract/index.ts';
import type { FactChanges } from './fact-keys.ts';

/** Where a fact of a model was stated. */
export interface FactOrigin {
  /** Id of the rule, or which other layer says it. */
  readonly rule: string;
  /** Pages that it was read from; none where an operator or a refusal says it. */
  readonly source: readonly string[];
  /** The day on which they were read, `YYYY-MM-DD`; empty where nothing was read. */
  readonly checked: string;
}

/** A fact of a model, and what set it. */
export interface FactSource extends FactOrigin {
  readonly value: unknown;
}

/** Facts of a model by their keys, each with what set it. */
export type FactSources = { readonly [Key in keyof ModelFacts]?: FactSource };

/** What one layer changes in the facts of a model. */
export interface SourcedChanges {
  readonly changes: FactChanges;
  readonly origin: FactOrigin;
}

/** Facts with what set each: the twin of `changedFacts`, for people. */
export function changedSources(sources: FactSources, { changes, origin }: SourcedChanges): FactSources {
  const changed = Object.entries(changes).map(([key, value]) => [key, value === null ? null : { value, ...origin }]);
  const all: Readonly<Record<string, FactSource | null>> = { ...sources, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(all).filter(([, source]) => source !== null));
}
