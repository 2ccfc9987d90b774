import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import type { Dice } from '../kit/index.ts';
import type { Fields } from './meaning/meaning.ts';

type Schema = Fields | boolean;

/** A value that a schema takes, as far as its keywords are those that zod, pydantic and typebox print. */
export function sampleOf(schema: Schema, dice: Dice, root: Schema = schema): unknown {
  if (typeof schema === 'boolean') return 'anything';
  const { $ref: reference, anyOf, enum: values, type } = schema;
  if (reference !== undefined)
    return sampleOf((root as Fields)['$defs'][String(reference).split('/').at(-1)!], dice, root);
  if ('const' in schema) return schema['const'];
  if (values) return dice.pick(values);
  if (anyOf) return sampleOf(dice.pick(anyOf), dice, root);
  switch (type) {
    case 'object':
      return objectOf(schema, dice, root);
    case 'array':
      return listOf(schema, dice, root);
    case 'string':
      return stringOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return dice.below(2) === 0;
    case 'null':
      return null;
    default:
      return 'anything';
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties: more, patternProperties: byPattern }: Fields,
  dice: Dice,
  root: Schema,
): object {
  const members = Object.entries(properties as Fields).filter(
    ([name]) => required.includes(name) || dice.below(2) === 0,
  );
  const rest: unknown = byPattern ? Object.values(byPattern as Fields)[0] : more;
  const extra = typeof rest === 'object' && rest !== null ? { extra: sampleOf(rest, dice, root) } : {};
  return {
    ...Object.fromEntries(members.map(([name, schema]) => [name, sampleOf(schema as Schema, dice, root)])),
    ...extra,
  };
}

function listOf({ items, prefixItems, minItems = 0 }: Fields, dice: Dice, root: Schema): unknown[] {
  const each: readonly Schema[] | undefined = prefixItems ?? (Array.isArray(items) ? items : undefined);
  if (each) return each.map((schema) => sampleOf(schema, dice, root));
  return Array.from({ length: Math.max(minItems, dice.below(3)) }, () => sampleOf(items ?? true, dice, root));
}

function stringOf({ format, pattern, minLength = 0 }: Fields): string {
  if (format === 'date-time') return '2026-11-22T06:00:00Z';
  if (format === 'email') return 'mate@harbour.example';
  return pattern === undefined ? 'calm'.padEnd(minLength, 'm') : 'calm';
}

function numberOf({ minimum, exclusiveMinimum, multipleOf }: Fields): number {
  if (multipleOf !== undefined) return multipleOf * 2;
  if (exclusiveMinimum !== undefined) return exclusiveMinimum + 1;
  return Math.max(Number(minimum ?? 3), 3);
}

/** Whether a schema takes a value; lists of item schemas are read as the older drafts do, `nullable` and texts of numbers as Google does. */
export class Schemas {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  readonly #known = new Map<string, ValidateFunction>();

  takes(schema: unknown, value: unknown): boolean {
    const key = JSON.stringify(schema);
    const validate = this.#known.get(key) ?? this.#ajv.compile(readable(schema) as object);
    if (this.#known.size > 2000) this.#known.clear();
    this.#known.set(key, validate);
    return validate(value);
  }
}

function readable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(readable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { items, additionalItems: _more, nullable, $schema: _draft, enum: values, ...rest } = schema as Fields;
  const read: Fields = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, readMember(name, value)]));
  if (Array.isArray(items)) read['prefixItems'] = items.map(readable);
  else if (items !== undefined) read['items'] = readable(items);
  if (Array.isArray(values))
    read['enum'] = read['type'] === 'number' || read['type'] === 'integer' ? values.map(Number) : values;
  if (typeof read['type'] === 'string' && /^[A-Z]+$/.test(read['type'])) read['type'] = read['type'].toLowerCase();
  return nullable === true ? { anyOf: [read, { type: 'null' }] } : read;
}

function readMember(name: string, value: unknown): unknown {
  if (name === 'const' || name === 'default') return value;
  const isMap = ['properties', 'patternProperties', '$defs'].includes(name);
  return isMap
    ? Object.fromEntries(Object.entries(value as Fields).map(([key, schema]) => [key, readable(schema)]))
    : readable(value);
}
