import { type Fields, invalidRequest, isFields } from 'gw/common-wire';

/** Keywords that the vendor's schema does not know. Source: providers reference 5.2. */
const REMOVED = new Set(['$schema', '$id', '$ref', '$defs', '$comment', 'definitions', 'additionalProperties']);
/** Keywords whose value is a schema, a list of schemas, or schemas by name. What stands elsewhere is data, and stays as it is. */
const HOLDS_ONE = new Set(['items', 'not']);
const HOLDS_LIST = new Set(['anyOf', 'allOf', 'prefixItems']);
const HOLDS_MAP = new Set(['properties']);
/** Formats of texts that the vendor takes; any other is an error there. Source: Firebase AI Logic reference, "SchemaInterface", 2026-11-21. */
const TEXT_FORMATS = new Set<unknown>(['date-time', 'enum']);

/** Followed references multiply: what a schema may grow to, and how deep. */
const MAX_SCHEMAS = 20_000;
const MAX_DEPTH = 200;

interface Walk {
  readonly root: Fields;
  /** References that are being followed. */
  readonly open: readonly string[];
  readonly depth: number;
  readonly seen: { schemas: number };
}

/**
 * A JSON Schema in the vendor's subset of OpenAPI 3.0. Local references are replaced by what they point at, so that their
 * constraints survive; a circle of them ends where it closes. Non-objects come back unchanged. Throws a 400 for schemas
 * beyond all measure.
 * Source: ai.google.dev, API reference, "Schema", 2026-11-21.
 */
export function toVendorSchema(schema: unknown): unknown {
  return isFields(schema) ? sanitise(schema, { root: schema, open: [], depth: 0, seen: { schemas: 0 } }) : schema;
}

function sanitise(schema: Fields, walk: Walk): Fields {
  const { seen, depth } = walk;
  seen.schemas += 1;
  if (seen.schemas > MAX_SCHEMAS || depth > MAX_DEPTH) throw invalidRequest(`a schema must not be deeper than ${MAX_DEPTH} or larger than ${MAX_SCHEMAS}, references followed`);
  const { $ref: reference } = schema;
  const target = typeof reference === 'string' && !walk.open.includes(reference) ? resolve(reference, walk.root) : undefined;
  const inner = { ...walk, depth: depth + 1, open: target && typeof reference === 'string' ? [...walk.open, reference] : walk.open };
  const merged: Fields = target ? { ...target, ...schema } : schema;
  const out: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(merged)) {
    if (!REMOVED.has(keyword)) put(out, keyword, sanitiseValue(keyword, value, inner));
  }
  return rephrase(out);
}

/** Keeps a property that is called `__proto__` a property. */
function put(into: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
}

function sanitiseValue(keyword: string, value: unknown, walk: Walk): unknown {
  if (HOLDS_ONE.has(keyword)) return isFields(value) ? sanitise(value, walk) : value;
  if ((HOLDS_LIST.has(keyword) || keyword === 'oneOf') && Array.isArray(value)) return value.map((item: unknown) => (isFields(item) ? sanitise(item, walk) : item));
  if (!HOLDS_MAP.has(keyword) || !isFields(value)) return value;
  const properties: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) put(properties, name, isFields(item) ? sanitise(item, walk) : item);
  return properties;
}

/** Where `#/$defs/name` points; `undefined` for what is no schema of this document. */
function resolve(reference: string, root: Fields): Fields | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const token of reference.split('/').slice(1)) {
    const name = unescaped(token);
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Fields)[name] : undefined;
  }
  return isFields(at) ? at : undefined;
}

function unescaped(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return token;
  }
}

/** Says otherwise what the vendor has other words for: nullable types, constants, alternatives. */
function rephrase({ type, oneOf, allOf, ...rest }: Record<string, unknown>): Fields {
  const [only, ...more]: readonly unknown[] = Array.isArray(allOf) ? allOf : [];
  const out: Record<string, unknown> = {
    ...(isFields(only) && more.length === 0 ? only : allOf !== undefined && { allOf }),
    ...typeMembers(type),
    ...(oneOf !== undefined && { [Array.isArray(oneOf) && !('anyOf' in rest) ? 'anyOf' : 'oneOf']: oneOf }),
    ...rest,
  };
  foldNull(out);
  foldValues(out);
  if (out['type'] === 'string' && typeof out['format'] === 'string' && !TEXT_FORMATS.has(out['format'])) delete out['format'];
  return out;
}

/** `["string", "null"]` is a nullable string, several types are alternatives. */
function typeMembers(type: unknown): Fields {
  if (!Array.isArray(type)) return type === undefined ? {} : { type };
  const named = type.filter((name) => name !== 'null');
  const nullable = named.length < type.length ? { nullable: true } : {};
  if (named.length === 1) return { type: named[0] as unknown, ...nullable };
  return { ...(named.length > 1 && { anyOf: named.map((name: unknown) => ({ type: name })) }), ...nullable };
}

/** An alternative that is null makes the schema nullable. */
function foldNull(schema: Record<string, unknown>): void {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return;
  const others: unknown[] = anyOf.filter((item) => !isFields(item) || item['type'] !== 'null');
  if (others.length === anyOf.length || others.length === 0) return;
  delete schema['anyOf'];
  const [only] = others;
  if (others.length === 1 && isFields(only)) Object.assign(schema, { ...only, ...schema });
  else schema['anyOf'] = others;
  schema['nullable'] = true;
}

/** Permitted values are texts here, and there are none of truth values. */
function foldValues(schema: Record<string, unknown>): void {
  if ('const' in schema) {
    const { const: value } = schema;
    schema['type'] ??= value === null ? undefined : typeof value;
    schema['enum'] ??= [value];
    delete schema['const'];
  }
  const { enum: values } = schema;
  if (!Array.isArray(values)) return;
  if (values.includes(null)) schema['nullable'] = true;
  const texts = values.filter((value) => value !== null).map((value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)));
  if (schema['type'] === 'boolean' || texts.length === 0) delete schema['enum'];
  else schema['enum'] = texts;
}
