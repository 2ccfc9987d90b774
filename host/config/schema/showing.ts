import type Joi from 'joi';

/** How a field is shown where a configuration is shown (docs/reference/admin.md#how-a-configuration-is-shown). Without it a field is shown by its type, and its texts lose what may be secret. */
export interface Showing {
  /**
   * `name`: no address of a person, whatever stands in it (model ids, aliases, patterns). `address`: of its path what cannot be a secret. `withheld`: neither keys nor values.
   * `headers`: names, and values that are not secret. `arguments`: of a command. `plugin settings`, `strategy settings`: those that the module of the same block declares.
   */
  readonly as?: 'name' | 'address' | 'withheld' | 'headers' | 'arguments' | 'plugin settings' | 'strategy settings';
  /** Shown in its place when it is absent. */
  readonly always?: string | null | readonly never[] | object;
  /** `false` and 0 say something else here than an absent key. */
  readonly isKept?: boolean;
}

export const shown = (showing: Showing): { readonly showing: Showing } => ({ showing });

/** How the field of a description is shown. */
export function showingOf(description: Joi.Description | undefined): Showing {
  const metas = (description?.['metas'] ?? []) as readonly { readonly showing?: Showing }[];
  return metas.find(({ showing }) => showing)?.showing ?? {};
}
