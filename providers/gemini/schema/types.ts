import { type Fields, isFields } from 'gw/common-wire';

export type Type = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

export type Members = readonly (readonly [name: string, value: unknown])[];

/** What a schema says: `fields` are the vendor's own, `remarks` are written into the description. */
export interface Sorted {
  readonly fields: Members;
  readonly remarks: Members;
}

const TYPES: ReadonlySet<string> = new Set<Type>(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** Keywords that tell the type of a schema that does not say it, the surest first. */
const TELLING: readonly (readonly [type: Type, keywords: readonly string[]])[] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'propertyNames',
      'minProperties',
      'maxProperties',
      'unevaluatedProperties',
    ],
  ],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains', 'additionalItems']],
  ['string', ['pattern', 'minLength', 'maxLength', 'format', 'contentEncoding', 'contentMediaType']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** What any value may be, for a vendor that wants a type said: without it a schema is refused. */
export const ANYTHING: Fields = {
  anyOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'object' },
    { type: 'array', items: { type: 'string' } },
  ],
  nullable: true,
};

/** The types that values of a schema may have, as it says, or as its values and keywords tell; none when it may be anything. */
export function typesOf(schema: Fields): readonly Type[] {
  const { type, enum: values } = schema;
  if (typeof type === 'string' && isType(type)) return [type];
  const said = [type]
    .flat()
    .map((name) => (typeof name === 'string' ? name.toLowerCase() : ''))
    .filter(isType);
  if (said.length > 0) return said;
  if (Array.isArray(values) && values.length > 0) return typesOfValues(values);
  const implied = TELLING.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined));
  return implied ? [implied[0]] : [];
}

const isType = (name: string): name is Type => TYPES.has(name);

/** Whether the keyword `type` holds a name that no JSON value has: `Date`, `bigint`. */
export function hasForeignType({ type }: Fields): boolean {
  if (type === undefined || (typeof type === 'string' && isType(type))) return false;
  return [type].flat().some((name) => typeof name !== 'string' || !isType(name.toLowerCase()));
}

function typeOfValue(value: unknown): Type {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isFields(value)) return 'object';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}

function typesOfValues(values: readonly unknown[]): readonly Type[] {
  const types = new Set(values.map(typeOfValue));
  if (types.has('number')) types.delete('integer');
  return [...types];
}

/**
 * The permitted values of a type. Only texts can be listed here, and none that is empty; other values go into the
 * description, and keep their type. Sources: ai.google.dev, API reference, "Schema", `enum`: "of Type.STRING"; the service answers 400 with
 * "enum: only allowed for STRING type"; 2026-11-22.
 */
export function valuesOf(type: Type, values: unknown): Sorted {
  if (!Array.isArray(values)) return { fields: [], remarks: [] };
  const isNullable = values.includes(null) ? [['nullable', true] as const] : [];
  const own = values.filter(
    (value) => value !== null && (type === typeOfValue(value) || (type === 'number' && typeof value === 'number')),
  );
  const texts =
    type === 'string'
      ? [
          ...new Set(
            own.length > 0 ? own : values.filter((value) => value !== null).map((value) => JSON.stringify(value)),
          ),
        ]
      : [];
  if (texts.length > 0 && !texts.includes('')) return { fields: [...isNullable, ['enum', texts]], remarks: [] };
  return { fields: isNullable, remarks: [['enum', own]] };
}
