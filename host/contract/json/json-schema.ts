import type { Fields } from './fields.ts';
import { compileSchema } from './schema/compile-schema.ts';
import type { Draft } from './schema/schema-shapes.ts';

/**
 * Where a value does not fit a schema. Only the first one that is found, because a value that is
 * wrong in one place is often wrong in many that follow from it.
 */
export interface SchemaMismatch {
  /** JSON pointer; `/` is the whole value. */
  readonly path: string;
  /** What was expected there, for people. */
  readonly message: string;
}

/**
 * Says where a value does not fit, the first place that is found; `undefined` when it fits. It may
 * be called at any rate, keeps nothing of the value, and does not change it: defaults of the schema
 * are not filled in. It throws for a value that the schema has more ways to look at than can be
 * waited for.
 */
export type SchemaCheck = (value: unknown) => SchemaMismatch | undefined;

/** How many schemas are compared with a value and its parts, at most: some seconds of work. */
const MOST_LOOKS = 20_000_000;

/** The draft that `$schema` names, 2020-12 unless it names one. */
function draftOf(named: unknown): Draft {
  const text = typeof named === 'string' ? named : '';
  if (text.includes('2019-09')) return '2019-09';
  if (text.includes('draft-07')) return '7';
  return text.includes('draft-06') ? '6' : '2020-12';
}

/**
 * Compiles a JSON Schema (drafts 6, 7, 2019-09 and 2020-12), in time that is in proportion to it.
 * Throws with the reason for what is not one, for keywords that no draft knows, and for references
 * to schemas elsewhere. Patterns are RE2, so that no text makes them slow; `format` is a note, as
 * the drafts have it. Compile once, in `create`.
 *
 * @param schema an object; `true` and `false`, which the drafts allow as well, are not taken.
 * `$schema` names the draft, 2020-12 unless it does.
 * @returns the check for values that were parsed by `parseJson`.
 * @throws an `Error` whose message an operator can read. Let it leave `create`, so that it refuses
 * the configuration.
 * @example
 * ```ts
 * import { jsonSchema } from 'gw/contract';
 *
 * const check = jsonSchema({ type: 'object', required: ['city'], properties: { city: { type: 'string' } } });
 *
 * export const missing = check({})?.message; // must have required property 'city'
 * export const fits = check({ city: 'Oslo' }); // undefined
 * ```
 */
export function jsonSchema(schema: object): SchemaCheck {
  const node = compileSchema(schema as Fields, draftOf((schema as Fields)['$schema']));
  return (value) => {
    const found = node.check(value, { left: MOST_LOOKS, scope: [] }, undefined);
    return found && { path: found.path || '/', message: found.message };
  };
}
