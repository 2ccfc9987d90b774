import type Joi from 'joi';

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
