import { CAPABILITIES, type CatalogEntry } from '../../host/common/catalog.ts';
import type { ModelContext } from '../../host/pipeline/model-group.ts';

/** One model as `GET /v1/models` shows it. */
export interface ModelEntry {
  readonly id: string;
  readonly object: 'model';
  readonly owned_by: string;
  /** Unix seconds; 0 when it is not known. */
  readonly created: number;
  readonly mode?: string;
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly capabilities?: readonly string[];
  readonly status?: string;
  readonly deprecated?: true;
}

/** A model that clients may ask for. */
export interface ListedModel {
  readonly entry: ModelEntry;
  /** What the catalog says of the model that its owner is asked for. */
  readonly facts: CatalogEntry | undefined;
  /** Whether a group of models serves it: then its name is the operator's. */
  readonly isOfGroup: boolean;
}

/** What stands behind an entry. */
export interface EntryFacts {
  /** The name of the target. */
  readonly owner: string;
  /** Unix seconds; 0 when it is not known. */
  readonly created: number;
  /** What the catalog says of the model that the owner is asked for. */
  readonly facts: CatalogEntry | undefined;
  /** Limits that the configuration states. */
  readonly context?: ModelContext | undefined;
}

/** What is empty, zero or false is left out. */
export function modelEntry(id: string, { owner, created, facts, context }: EntryFacts): ModelEntry {
  const known = { id, object: 'model', owned_by: owner, created } as const;
  if (!facts) return { ...known, ...limitsOf(context?.max_input_tokens, context?.max_output_tokens) };
  const {
    mode,
    context_window,
    max_output_tokens,
    lifecycle: { status },
  } = facts;
  const capabilities = CAPABILITIES.filter((name) => facts.capabilities[name]);
  return {
    ...known,
    ...(mode && { mode }),
    ...limitsOf(context?.max_input_tokens ?? context_window, context?.max_output_tokens ?? max_output_tokens),
    ...(capabilities.length > 0 && { capabilities }),
    ...(status && { status }),
    ...((status === 'deprecated' || status === 'legacy') && { deprecated: true as const }),
  };
}

function limitsOf(input = 0, output = 0): Pick<ModelEntry, 'context_window' | 'max_output_tokens'> {
  return { ...(input > 0 && { context_window: input }), ...(output > 0 && { max_output_tokens: output }) };
}
