import type Joi from 'joi';
import type { FieldMeta } from './schema-fields.ts';

/** Description of what may stand at a path of the document; `undefined` where anything may. */
export function describedAt(schema: Joi.Description, path: readonly (string | number)[]): Joi.Description | undefined {
  let at: Joi.Description | undefined = schema;
  for (const part of path) {
    const items = at?.['items'] as Joi.Description[] | undefined;
    const keys = at?.['keys'] as Record<string, Joi.Description> | undefined;
    at = typeof part === 'number' ? items?.[0] : keys?.[part];
  }
  return at;
}

/** Keys allowed in a described object. */
export function keysOf(description: Joi.Description | undefined): readonly string[] {
  return Object.keys((description?.['keys'] as object | undefined) ?? {});
}

/** The block of the top level whose keys a block has too, so that pages explain them once. */
export function sameKeysAs(description: Joi.Description | undefined): string | undefined {
  const metas = (description?.['metas'] ?? []) as readonly { readonly sameKeysAs?: string }[];
  return metas.find((meta) => meta.sameKeysAs !== undefined)?.sameKeysAs;
}

/** What a field of a description holds, and what is said of it. */
export function factsOf(description: Joi.Description | undefined): FieldMeta {
  const metas = (description?.['metas'] ?? []) as readonly Partial<FieldMeta>[];
  const { kind, wording = {} } = metas.find((meta) => 'wording' in meta) ?? {};
  return { kind, wording };
}
