/**
 * The JSON Schema of a module's settings, of what its joi schema says of itself. What JSON Schema cannot say, as functions of the
 * module, is left open: a document that this refuses is refused by the gateway as well, not the other way round.
 */
import type { Description } from 'joi';
import { describedAt, keysOf } from '../schema/schema-walk.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Settings may hold `${VAR}` in the place of any text; what stands for it is checked later. */
const REFERENCE = { type: 'string', pattern: String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*\}` };

interface Flags {
  readonly default?: unknown;
  readonly description?: string;
  readonly presence?: string;
  readonly only?: boolean;
  readonly unknown?: boolean;
}

interface Rule {
  readonly name: string;
  readonly args?: { readonly limit?: unknown };
}

export const flagsOf = (field: Description | undefined): Flags => field?.flags ?? {};

export function settingSchema(field: Description): JsonSchema {
  const { default: otherwise, description } = flagsOf(field);
  return {
    ...(description !== undefined && { description }),
    ...shapeOf(field),
    ...(isPlain(otherwise) && { default: otherwise }),
  };
}

/** A default may be a function, or a mark of joi's own for one that is made of others. */
const isPlain = (value: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value);

function shapeOf(field: Description): JsonSchema {
  const allowed = (field['allow'] ?? []) as readonly unknown[];
  if (flagsOf(field).only) return choice(allowed);
  const shape = SHAPES[field.type ?? '']?.(field) ?? {};
  const more = allowed.filter((value) => value !== '' && isSaid(value));
  return more.length === 0 ? shape : { anyOf: [shape, { enum: more }] };
}

const isSaid = (value: unknown): boolean => value === null || typeof value !== 'object';

function choice(allowed: readonly unknown[]): JsonSchema {
  if (!allowed.every(isSaid)) return {};
  const words = { enum: allowed };
  return allowed.some((value) => typeof value === 'string') ? { anyOf: [words, REFERENCE] } : words;
}

const SHAPES: Readonly<Record<string, (field: Description) => JsonSchema>> = {
  boolean: () => ({ type: 'boolean' }),
  number: numberShape,
  string: (field) => ({
    type: 'string',
    ...((field['allow'] as readonly unknown[] | undefined)?.includes('') !== true && { minLength: 1 }),
  }),
  array: (field) => {
    const items = (field['items'] ?? []) as readonly Description[];
    const [only] = items;
    return { type: 'array', ...(only && items.length === 1 && { items: settingSchema(only) }) };
  },
  object: objectSchema,
  alternatives: (field) => {
    const matches = (field['matches'] ?? []) as readonly { readonly schema?: Description }[];
    const shapes = matches.map(({ schema }) => (schema ? settingSchema(schema) : {}));
    return shapes.length === 0 ? {} : { anyOf: shapes };
  },
};

/** Where a limit is a reference to another setting, it is left open. */
function numberShape(field: Description): JsonSchema {
  const rules = (field['rules'] ?? []) as readonly Rule[];
  const limit = (name: string): number | undefined => {
    const found = rules.find((rule) => rule.name === name)?.args?.limit;
    return typeof found === 'number' ? found : undefined;
  };
  const said = {
    minimum: limit('min'),
    maximum: limit('max'),
    exclusiveMinimum: limit('greater'),
    exclusiveMaximum: limit('less'),
  };
  return {
    type: rules.some(({ name }) => name === 'integer') ? 'integer' : 'number',
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
  };
}

/** The keys of an object, and whether it may hold others. */
export function objectSchema(field: Description): JsonSchema {
  const keys = keysOf(field).flatMap((key) => {
    const member = describedAt(field, [key]);
    return member && flagsOf(member).presence !== 'forbidden' ? [[key, member] as const] : [];
  });
  const required = keys.filter(([, member]) => flagsOf(member).presence === 'required').map(([key]) => key);
  return {
    type: 'object',
    ...(keys.length > 0 && {
      properties: Object.fromEntries(keys.map(([key, member]) => [key, settingSchema(member)])),
    }),
    ...(required.length > 0 && { required }),
    ...(isClosed(field) && { additionalProperties: otherKeys(field) }),
  };
}

/** Without keys of its own an object of joi takes any; keys that it renames are left open. */
const isClosed = (field: Description): boolean =>
  flagsOf(field).unknown !== true &&
  (field['keys'] !== undefined || field['patterns'] !== undefined) &&
  field['renames'] === undefined;

function otherKeys(field: Description): JsonSchema | boolean {
  const patterns = (field['patterns'] ?? []) as readonly { readonly rule?: Description }[];
  const [only] = patterns;
  if (!only) return false;
  return patterns.length === 1 && only.rule ? settingSchema(only.rule) : true;
}
