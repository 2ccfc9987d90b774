import { writeFileSync } from 'node:fs';
import { KEY_LIMIT_LIST } from '../../../host/common/key-members.ts';
import { SCHEMAS } from '../schemas.ts';

const FILE = new URL('../../dashboard/app/src/api/answers.ts', import.meta.url);

type Schema = Readonly<Record<string, unknown>>;

const WORDS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;
const unionOf = (types: readonly string[]): string => types.join(' | ');
const literal = (value: unknown): string => `'${String(value).replaceAll("'", String.raw`\'`)}'`;

/** The type of a schema, in TypeScript. Throws for a schema that it does not know: the page would read it unchecked. */
export function typeOf(schema: Schema): string {
  const { $ref, enum: values, const: value, type, anyOf } = schema;
  if (Array.isArray(anyOf)) return unionOf(anyOf.filter(isSchema).map(typeOf));
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (Array.isArray(values)) return unionOf(values.map(literal));
  if (value !== undefined) return literal(value);
  if (Array.isArray(type)) return unionOf(type.map((each: unknown) => typeOf({ ...schema, type: each })));
  if (type === 'array' && isSchema(schema['items'])) return listOf(typeOf(schema['items']));
  if (type === 'object') return objectType(schema);
  if (type === undefined && Object.keys(schema).length === 0) return 'unknown';
  const word = typeof type === 'string' ? WORDS[type] : undefined;
  if (word === undefined) throw new Error(`there is no type for ${JSON.stringify(schema)}`);
  return word;
}

const listOf = (type: string): string =>
  `readonly ${type.includes(' | ') && !type.endsWith('}') ? `(${type})` : type}[]`;

function objectType({ properties, required, additionalProperties }: Schema): string {
  if (isSchema(additionalProperties)) return `{\nreadonly [name: string]: ${typeOf(additionalProperties)};\n}`;
  if (!isSchema(properties)) return 'Readonly<Record<string, unknown>>';
  const always = new Set(Array.isArray(required) ? required : []);
  return `{\n${Object.entries(properties)
    .map(([name, schema]) => member(name, always.has(name), isSchema(schema) ? schema : {}))
    .join('')}}`;
}

function member(name: string, isAlways: boolean, { description, ...schema }: Schema): string {
  const comment = typeof description === 'string' ? `/** ${description}. */\n` : '';
  return `${comment}readonly ${name}${isAlways ? '' : '?'}: ${typeOf(schema)};\n`;
}

/** With the indentation that the formatter gives it. */
function laidOut(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('}')) depth -= 1;
    const indented = line === '' ? '' : `${'  '.repeat(depth)}${line}`;
    if (line.endsWith('{')) depth += 1;
    return indented;
  });
  return lines.join('\n');
}

/** The file of the dashboard: a type of each schema, and the limits of a key that its form has. */
export function dashboardTypes(schemas: Readonly<Record<string, Schema>> = SCHEMAS): string {
  const types = Object.entries(schemas)
    .filter(([name]) => name !== 'Error')
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`);
  const fields = KEY_LIMIT_LIST.flatMap(([name, { kind, form }]) =>
    form ? [`${name}: { kind: '${kind}', label: ${literal(form.label)}, hint: ${literal(form.hint)} },\n`] : [],
  );
  return laidOut(
    [
      '// Made of builtins/openapi/schemas.ts and host/common/key-members.ts by "npm run dashboard-types".\n',
      ...types,
      `/** The limits of a key that its form has. */\nexport const KEY_LIMIT_FIELDS = {\n${fields.join('')}} as const;\n`,
    ].join('\n'),
  );
}

if (import.meta.main) writeFileSync(FILE, dashboardTypes());
