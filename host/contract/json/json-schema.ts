import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, Options } from 'ajv';
import { linearPattern } from '../text/pattern.ts';

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
 * are not filled in.
 */
export type SchemaCheck = (value: unknown) => SchemaMismatch | undefined;

type AjvClass = new (options: Options) => Ajv;

const EQUAL_ITEMS = { message: 'must NOT have equal items' };

/**
 * The library is loaded with the first schema: the draft that `$schema` names, 2020-12 unless it
 * names one.
 */
function libraryFor(draft: string, options: Options): Ajv {
  const require = createRequire(import.meta.url);
  const made = ({ default: Library }: { readonly default: AjvClass }): Ajv => new Library(options);
  if (draft.includes('2019-09')) return made(require('ajv/dist/2019.js') as never);
  if (draft.includes('draft-07')) return made(require('ajv') as never);
  if (!draft.includes('draft-06')) return made(require('ajv/dist/2020.js') as never);
  return made(require('ajv') as never).addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json') as object);
}

/**
 * Compiles a JSON Schema (drafts 6, 7, 2019-09 and 2020-12). Throws with the reason for what is not
 * one, for keywords that no draft knows, and for references to schemas elsewhere. Patterns are RE2,
 * so that no text makes them slow; `format` is a note, as the drafts have it. Compile once, in
 * `create`: that takes far longer than a check.
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
  const { $schema: named } = schema as { readonly $schema?: unknown };
  const draft = typeof named === 'string' ? named : '';
  const ajv = libraryFor(draft, {
    strict: false,
    strictSchema: 'log',
    validateFormats: false,
    code: { regExp: linearEngine() },
    logger: { log: () => {}, warn: refuseUnknown, error: () => {} },
  });
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: EQUAL_ITEMS,
    validate: (isUnique: boolean, items: readonly unknown[]) =>
      !isUnique || new Set(items.map(canonical)).size === items.length,
  });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : mismatchOf(validate.errors?.[0]));
}

/**
 * Refuses a keyword that no draft knows. Whatever else the library calls odd is legal. Names that
 * begin with `x-` are notes of the schema's author.
 */
function refuseUnknown(message: string): void {
  const keyword = /unknown keyword: "(?!x-)[^"]*"/.exec(message);
  if (keyword) throw new Error(keyword[0]);
}

/** What compiles patterns for the library, which keeps them apart by what they say as a text. */
function linearEngine(): NonNullable<NonNullable<Options['code']>['regExp']> {
  const engine = (pattern: string): { test(text: string): boolean; toString(): string } => {
    const compiled = linearPattern(pattern);
    return { test: (text) => compiled.test(text), toString: () => pattern };
  };
  return Object.assign(engine, { code: 'linear' });
}

function mismatchOf(error: ErrorObject | undefined): SchemaMismatch {
  return { path: error?.instancePath || '/', message: error?.message ?? 'does not fit' };
}

/**
 * A text that is the same for equal values, whatever the order of their members. The library
 * compares each pair of items instead.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}
