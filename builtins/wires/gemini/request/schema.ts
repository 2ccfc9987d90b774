import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import { type Fields, memberOf, setMember } from '../../../../host/contract/index.ts';
import { isObject, membersOf } from './members.ts';

/** Deeper schemas are refused. See docs/reference/ingress.md#gemini-schemas. */
const MAX_DEPTH = 100;

/** Fields of the vendor's own kind of schema. Source: @google/genai 3.1.0, "Schema", 2026-11-22. */
const VENDOR_FIELDS = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'maxItems',
  'minItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'default',
  'items',
  'minimum',
  'maximum',
]);
const NONE: ReadonlySet<string> = new Set();
/** 64-bit integers, which the wire may write as texts. */
const COUNTS = new Set(['maxItems', 'minItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength']);
/** They say nothing that a JSON Schema could. */
const DROPPED = new Set(['propertyOrdering', 'example']);

/** Where schemas stand inside a schema. */
const HOLDS_ONE = new Set([
  'items',
  'additionalProperties',
  'not',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
  'unevaluatedItems',
]);
const HOLDS_LIST = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const HOLDS_MAP = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** A schema of the vendor's own kind as a JSON Schema. Throws a 400 that names the path. */
export function fromVendorSchema(schema: unknown, at: string): Fields {
  return converted(schema, VENDOR_FIELDS, at, 1);
}

/** A JSON Schema as clients of this wire send it: its types may be written in upper case. */
export function fromJsonSchema(schema: unknown, at: string): Fields {
  return converted(schema, NONE, at, 1);
}

/** `known` are names that may be written in snake_case. */
function converted(schema: unknown, known: ReadonlySet<string>, at: string, depth: number): Fields {
  if (depth > MAX_DEPTH) throw invalidRequest(`${at} is nested deeper than ${MAX_DEPTH} levels`);
  const own = membersOf(schema, known, at);
  const result: Fields = {};
  for (const [name, value] of Object.entries(own)) {
    if (known.size > 0 && (DROPPED.has(name) || name === 'nullable')) continue;
    setMember(result, name, memberValue(name, value, known, at, depth));
  }
  return memberOf(own, 'nullable') === true && known.size > 0 ? nullable(result) : result;
}

function memberValue(name: string, value: unknown, known: ReadonlySet<string>, at: string, depth: number): unknown {
  const inner = (schema: unknown): unknown => (isObject(schema) ? converted(schema, known, at, depth + 1) : schema);
  if (name === 'type') return lowered(value);
  if (COUNTS.has(name)) return countIn(value);
  if (HOLDS_ONE.has(name)) return Array.isArray(value) ? value.map(inner) : inner(value);
  if (HOLDS_LIST.has(name) && Array.isArray(value)) return value.map(inner);
  if (!HOLDS_MAP.has(name) || !isObject(value)) return value;
  const schemas: Fields = {};
  for (const [property, schema] of Object.entries(value)) setMember(schemas, property, inner(schema));
  return schemas;
}

function lowered(type: unknown): unknown {
  if (typeof type === 'string') return type.toLowerCase();
  return Array.isArray(type) ? type.map(lowered) : type;
}

const countIn = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;

/** A schema that takes null as well. */
function nullable(schema: Fields): Fields {
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as readonly unknown[]), { type: 'null' }] };
  if (typeof type !== 'string') return schema;
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) && { enum: [...(values as readonly unknown[]), null] }),
  };
}
