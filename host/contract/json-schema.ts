import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, Options } from 'ajv';
import { linearPattern } from './pattern.ts';

/** Where a value does not fit a schema. */
export interface SchemaMismatch {
  /** JSON pointer; `/` is the whole value. */
  readonly path: string;
  readonly message: string;
}

/** Says where a value does not fit, the first place that is found; `undefined` when it fits. */
export type SchemaCheck = (value: unknown) => SchemaMismatch | undefined;

type AjvClass = new (options: Options) => Ajv;

/** The library's entry points by the draft that `$schema` names; 2020-12 unless it names one. */
const DRAFTS: readonly (readonly [mark: string, path: string])[] = [['draft-07', 'ajv'], ['draft-06', 'ajv'], ['2019-09', 'ajv/dist/2019.js']];

/**
 * Compiles a JSON Schema (drafts 6, 7, 2019-09 and 2020-12). Throws with the reason for what is not one, for keywords that no draft knows,
 * and for references to schemas elsewhere. Patterns are RE2, so that no text makes them slow; `format` is a note, as the drafts have it.
 */
export function jsonSchema(schema: object): SchemaCheck {
  const draft = String((schema as { readonly $schema?: unknown }).$schema ?? '');
  const path = DRAFTS.find(([mark]) => draft.includes(mark))?.[1] ?? 'ajv/dist/2020.js';
  const require = createRequire(import.meta.url);
  const { default: Library } = require(path) as { readonly default: AjvClass };
  const ajv = new Library({
    strict: false, strictSchema: true, validateFormats: false, logger: false, addUsedSchema: false,
    code: { regExp: Object.assign(linear, { code: 'linear' }) },
  });
  if (draft.includes('draft-06')) ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json') as object);
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', error: { message: 'must NOT have equal items' },
    validate: (isUnique: boolean, items: readonly unknown[]) => !isUnique || new Set(items.map(canonical)).size === items.length,
  });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : mismatchOf(validate.errors?.[0]));
}

function linear(pattern: string): { test(text: string): boolean } {
  const compiled = linearPattern(pattern);
  return { test: (text) => compiled.test(text) };
}

function mismatchOf(error: ErrorObject | undefined): SchemaMismatch {
  return { path: error?.instancePath || '/', message: error?.message ?? 'does not fit' };
}

/** The same text for equal values, whatever the order of their members. The library compares each pair of items instead. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}
