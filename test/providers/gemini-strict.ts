/**
 * What the service itself refuses in a schema, with its error texts. Sources: @google/genai 2.32.0, "Schema" (its fields, and no
 * other: "Unknown name … Cannot find field"); error texts of the service: "enum: only allowed for STRING type", "enum[0]:
 * cannot be empty", "format: only 'enum' and 'date-time' are supported for STRING type", "items: missing field", "required[0]:
 * property is not defined", "type: must be specified when not using one_of, any_of or all_of fields"; 2026-11-22.
 */
const TEXTS = ['title', 'description', 'format', 'pattern', 'type'];
const COUNTS = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];
const FIELDS = new Set([
  ...TEXTS,
  ...COUNTS,
  'minimum',
  'maximum',
  'nullable',
  'enum',
  'anyOf',
  'items',
  'properties',
  'required',
  'propertyOrdering',
  'default',
  'example',
]);
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

const isObject = (value: unknown): value is Record<string, any> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Everything wrong with a schema, with its place; empty when the service would take it. */
export function schemaProblems(schema: unknown, at = 'schema'): string[] {
  if (!isObject(schema)) return [`${at}: not an object`];
  const problems = Object.keys(schema)
    .filter((name) => !FIELDS.has(name))
    .map((name) => `Unknown name "${name}" at '${at}': Cannot find field.`);
  const say = (problem: string | false | undefined): void => {
    if (problem) problems.push(`${at}.${problem}`);
  };
  for (const name of TEXTS) say(name in schema && typeof schema[name] !== 'string' && `${name}: not a text`);
  for (const name of COUNTS)
    say(name in schema && (!Number.isSafeInteger(schema[name]) || schema[name] < 0) && `${name}: not a count`);
  for (const name of ['minimum', 'maximum'])
    say(name in schema && typeof schema[name] !== 'number' && `${name}: not a number`);
  say('nullable' in schema && typeof schema['nullable'] !== 'boolean' && 'nullable: not a truth value');
  const { type, format, enum: values, items, properties, required, anyOf } = schema;
  say(
    type === undefined &&
      anyOf === undefined &&
      'type: must be specified when not using one_of, any_of or all_of fields',
  );
  say(type !== undefined && !TYPES.has(type) && `type: unknown type ${JSON.stringify(type)}`);
  say(type !== undefined && anyOf !== undefined && 'any_of: beside a type');
  say(
    format !== undefined &&
      !FORMATS[type]?.includes(format) &&
      `format: ${JSON.stringify(format)} is not supported for ${type}`,
  );
  if (values !== undefined) {
    say((!areTexts(values) || values.length === 0) && 'enum: not a list of texts');
    say(type !== 'string' && 'enum: only allowed for STRING type');
    say(areTexts(values) && values.includes('') && 'enum: cannot be empty');
  }
  say(type === 'array' && items === undefined && 'items: missing field');
  say(type !== 'array' && items !== undefined && 'items: only allowed for ARRAY type');
  say(type !== 'object' && properties !== undefined && 'properties: only allowed for OBJECT type');
  for (const name of ['required', 'propertyOrdering']) {
    if (name in schema)
      say(
        (!areTexts(schema[name]) ||
          schema[name].some((property) => !isObject(properties) || !Object.hasOwn(properties, property))) &&
          `${name}: property is not defined`,
      );
  }
  say(areTexts(required) && new Set(required).size !== required.length && 'required: named twice');
  if (items !== undefined) problems.push(...schemaProblems(items, `${at}.items`));
  if (anyOf !== undefined) {
    say((!Array.isArray(anyOf) || anyOf.length === 0) && 'any_of: empty');
    if (Array.isArray(anyOf))
      problems.push(...anyOf.flatMap((item, place) => schemaProblems(item, `${at}.any_of[${place}]`)));
  }
  if (isObject(properties))
    problems.push(
      ...Object.entries(properties).flatMap(([name, item]) => schemaProblems(item, `${at}.properties[${name}]`)),
    );
  return problems;
}
