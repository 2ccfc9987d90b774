import { type Fields, invalidRequest, isFields } from 'gw/common-wire';
import { Allowance, MAX_DEPTH, MAX_SCHEMAS, TooLarge } from './allowance.ts';
import { Conversion } from './conversion.ts';
import { distinct } from './merge.ts';
import { References } from './references.ts';
import { describe } from './words.ts';

export { Allowance } from './allowance.ts';

/** How many references inside each other are followed; fewer, where following all makes a schema too large. */
const FOLLOWED = [16, 6, 3, 1, 0];

/**
 * A JSON Schema as the vendor's own kind of schema, with none but its fields: what another keyword says goes into the
 * description. Local references are replaced by what they point at; a circle of them ends where it closes. Non-objects come
 * back unchanged. Throws a 400 for schemas that are too large by themselves. Sources: ai.google.dev, API reference,
 * "Schema"; @google/genai 2.32.0; 2026-11-22. Why not the vendor's fields for JSON Schema: docs/decisions/0014.
 */
export function toVendorSchema(schema: unknown, allowance = new Allowance()): unknown {
  return isFields(schema) ? converted(schema, allowance) : schema;
}

/** The schema of a function's parameters, which are one object: alternatives of objects become one that holds them all. */
export function toParameters(schema: unknown, allowance = new Allowance()): unknown {
  return isFields(schema) ? asObject(converted(schema, allowance)) : schema;
}

function converted(schema: Fields, allowance: Allowance): Fields {
  const references = new References(schema);
  for (const followed of FOLLOWED) {
    try {
      return new Conversion(references, followed, allowance).convert(schema);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
    }
  }
  throw invalidRequest(`a schema must not be deeper than ${MAX_DEPTH} or larger than ${MAX_SCHEMAS}`);
}

function asObject(schema: Fields): Fields {
  const { anyOf, title, description } = schema;
  const objects = Array.isArray(anyOf)
    ? anyOf.filter((item): item is Fields => isFields(item) && item['type'] === 'object')
    : [];
  if (objects.length === 0) return schema;
  const named = objects.map(({ properties }) => (isFields(properties) ? properties : {}));
  const names = [...new Set(named.flatMap((properties) => Object.keys(properties)))];
  const required = names.filter((name) => objects.every((object) => listOf(object['required']).includes(name)));
  const forms = objects.map((object, at) => ({
    ...(object['description'] !== undefined && { description: object['description'] }),
    properties: Object.keys(named[at] ?? {}),
    required: listOf(object['required']),
  }));
  const text = describe(description, objects.length > 1 && names.length > 0 ? [['one of', forms]] : []);
  return {
    type: 'object',
    ...(title !== undefined && { title }),
    ...(text !== undefined && { description: text }),
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        oneOf(named.flatMap((properties) => (Object.hasOwn(properties, name) ? [properties[name]] : []))),
      ]),
    ),
    ...(required.length > 0 && { required }),
  };
}

/** One schema for a property that alternatives describe in several ways; of texts from a list, all the texts. */
function oneOf(schemas: readonly unknown[]): unknown {
  const all = distinct(schemas) as readonly Fields[];
  const [first] = all;
  if (all.length === 1) return first;
  const isListed = all.every(
    (schema) => Array.isArray(schema['enum']) && Object.keys(schema).every((key) => key === 'type' || key === 'enum'),
  );
  return isListed ? { ...first, enum: [...new Set(all.flatMap((schema) => schema['enum']))] } : { anyOf: all };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
