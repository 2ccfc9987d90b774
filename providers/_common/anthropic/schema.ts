import { memberOf, setMember } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';

/** Schemas below these members, by how they hold them. */
const MAPS = ['properties', '$defs', 'definitions'] as const;
const LISTS = ['anyOf', 'oneOf', 'allOf'] as const;

/** Constraints that the vendor's output format does not know: they are written into the description, for the model. */
const UNKNOWN = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'pattern',
  'format',
];

const FORMATS = new Set<unknown>([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Whether the vendor knows the constraint after all, with this value. */
function isKnown(name: string, value: unknown): boolean {
  return (name === 'format' && FORMATS.has(value)) || (name === 'minItems' && (value === 0 || value === 1));
}

/** Members that say nothing about the shape of a value, or are sent in another form. */
const DROPPED = new Set(['$schema', '$id', '$comment', 'examples', 'definitions', 'oneOf']);

/** A schema with more definitions is refused: converting it would take long, and an answer needs no such schema. */
const MAX_DEFINITIONS = 500;

/**
 * A JSON schema in the subset of the vendor's output format: objects without further members, constraints it does not
 * know moved into the description. `undefined` for what the subset does not allow: open objects, recursion, references
 * elsewhere. Source: platform.claude.com, "Structured outputs", 2026-11-21.
 */
export function outputSchema(schema: Fields): Fields | undefined {
  try {
    if (isRecursive(schema)) return undefined;
    return narrowed(schema);
  } catch (error) {
    if (error instanceof OutsideSubset) return undefined;
    throw error;
  }
}

class OutsideSubset extends Error {}

function narrowed(schema: unknown): Fields {
  if (!isFields(schema)) throw new OutsideSubset();
  if (isOpen(schema) || hasForeign(schema)) throw new OutsideSubset();
  const unknown = UNKNOWN.filter((name) => schema[name] !== undefined && !isKnown(name, schema[name]));
  const kept: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).filter(([name]) => !DROPPED.has(name) && !unknown.includes(name)),
  );
  const remarks = unknown.map((name) => `${name}: ${JSON.stringify(schema[name])}`);
  if (remarks.length > 0)
    kept['description'] = [schema['description'], `{${remarks.join(', ')}}`]
      .filter((text) => typeof text === 'string')
      .join(' ');
  for (const name of MAPS)
    if (isFields(schema[name])) setMember(kept, name === 'definitions' ? '$defs' : name, mapped(schema[name]));
  for (const name of LISTS)
    if (Array.isArray(schema[name])) setMember(kept, name === 'oneOf' ? 'anyOf' : name, schema[name].map(narrowed));
  if (schema['items'] !== undefined) kept['items'] = narrowed(schema['items']);
  if (typeof schema['$ref'] === 'string') kept['$ref'] = schema['$ref'].replace('#/definitions/', '#/$defs/');
  if (isObjectSchema(schema)) kept['additionalProperties'] = false;
  return kept;
}

const mapped = (schemas: Fields): Fields =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, narrowed(schema)]));

function isObjectSchema({ type, properties }: Fields): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isFields(properties);
}

/** An object whose members are not all named, or a value of any kind. */
function isOpen(schema: Fields): boolean {
  const { properties, additionalProperties: further } = schema;
  if (isObjectSchema(schema)) return !isFields(properties) || further === true || isFields(further);
  return !['type', '$ref', 'enum', 'const', ...LISTS].some((name) => schema[name] !== undefined);
}

/** Members with a meaning of their own that the subset has nothing for. */
function hasForeign(schema: Fields): boolean {
  return ['not', 'if', 'patternProperties', 'propertyNames', 'prefixItems', 'contains', 'dependentSchemas'].some(
    (name) => schema[name] !== undefined,
  );
}

/** Whether references form a circle, or point at nothing. */
function isRecursive(root: Fields): boolean {
  const definitions: Fields = { ...pick(root['definitions']), ...pick(root['$defs']) };
  if (Object.keys(definitions).length > MAX_DEFINITIONS) return true;
  const open = new Set<string>();
  const seen = new Set<string>();
  const refersBack = (name: string): boolean => {
    const definition = memberOf(definitions, name);
    if (open.has(name) || definition === undefined) return true;
    if (seen.has(name)) return false;
    seen.add(name);
    open.add(name);
    const isBack = references(definition).some(refersBack);
    open.delete(name);
    return isBack;
  };
  return references(root).some(refersBack);
}

/** Names of the definitions that a schema refers to; an empty one for a reference elsewhere. */
function references(value: unknown, found: string[] = []): string[] {
  if (Array.isArray(value)) for (const item of value) references(item, found);
  if (!isFields(value)) return found;
  const { $ref: reference } = value;
  if (typeof reference === 'string') found.push(/^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference)?.[1] ?? '');
  for (const [name, member] of Object.entries(value))
    if (name !== 'enum' && name !== 'const') references(member, found);
  return found;
}

const pick = (value: unknown): Fields => (isFields(value) ? value : {});
