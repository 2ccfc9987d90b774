import { type Fields, isFields } from './fields.ts';

/** Alternatives that are read, those of alternatives and behind references included; no tool has more. */
const MAX_PARTS = 256;

interface Reading {
  readonly root: Fields;
  /** References that were followed: once is enough, as all they bring is merged. */
  readonly followed: Set<string>;
  parts: number;
}

/**
 * The schema of a tool's input as one object: a root without a type gets one, a reference becomes what it points at, and
 * alternatives at the root, which the vendors refuse, become one object with the properties of all, of which those that every
 * alternative requires stay required. What belongs together is said in the description. Sources: GitHub vercel/ai, fixture
 * "anthropic-root-union-tool-schema-error" ("input_schema.type: Field required"); Anthropic's 400 "input_schema does not
 * support oneOf, allOf, or anyOf at the top level"; Amazon Nova, "Tool use"; 2026-11-23.
 */
export function rootObject(schema: Fields): Fields {
  const reading = { root: schema, followed: new Set<string>(), parts: 0 };
  return merged(resolved(schema, reading), reading);
}

function merged(schema: Fields, reading: Reading): Fields {
  const { oneOf, anyOf, allOf, ...own } = schema;
  const among = [oneOf, anyOf].filter((list): list is unknown[] => Array.isArray(list));
  if (among.length === 0 && !Array.isArray(allOf)) return 'type' in schema ? schema : { type: 'object', ...schema };
  const read = (list: readonly unknown[]): Fields[] =>
    list.filter(isFields).flatMap((part): Fields[] => {
      reading.parts += 1;
      return reading.parts > MAX_PARTS ? [] : [merged(resolved(part, reading), reading)];
    });
  const parts = read(Array.isArray(allOf) ? allOf : []);
  const choices = among.map(read);
  const properties: Record<string, unknown> = {};
  for (const part of [own, ...parts, ...choices.flat()])
    for (const [name, value] of Object.entries(propertiesOf(part))) put(properties, name, value);
  const required = [...new Set([...[own, ...parts].flatMap(requiredOf), ...choices.flatMap(inEach)])];
  const said = choices
    .filter((list) => list.length > 1)
    .map(
      (list) =>
        `one of: ${JSON.stringify(list.map((choice) => ({ properties: Object.keys(propertiesOf(choice)), required: requiredOf(choice) })))}`,
    );
  const description = [own['description'], ...said]
    .filter((text) => typeof text === 'string' && text !== '')
    .join('\n');
  return {
    ...own,
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(description !== '' && { description }),
  };
}

const propertiesOf = ({ properties }: Fields): Fields => (isFields(properties) ? properties : {});
const requiredOf = ({ required }: Fields): string[] =>
  Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
const inEach = ([first, ...others]: readonly Fields[]): string[] =>
  first ? requiredOf(first).filter((name) => others.every((other) => requiredOf(other).includes(name))) : [];

/** A property that alternatives describe otherwise may be either. */
function put(properties: Record<string, unknown>, name: string, value: unknown): void {
  const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
  const isSame = known !== undefined && JSON.stringify(known) === JSON.stringify(value);
  const either =
    isFields(known) && Array.isArray(known['anyOf']) && Object.keys(known).length === 1 ? known['anyOf'] : [known];
  const next = known === undefined || isSame ? value : { anyOf: [...either, value] };
  Object.defineProperty(properties, name, { value: next, enumerable: true, configurable: true, writable: true });
}

/** What a local reference to a definition points at. */
function resolved(part: Fields, { root, followed }: Reading): Fields {
  const { $ref: path, ...beside } = part;
  if (typeof path !== 'string' || followed.has(path)) return part;
  followed.add(path);
  const [, where, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(path) ?? [];
  const definitions = where === undefined ? undefined : root[where];
  const found =
    isFields(definitions) && name !== undefined && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  return isFields(found) ? { ...found, ...beside } : part;
}
