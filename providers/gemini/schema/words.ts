import { type Fields, isFields } from 'gw/common-wire';
import { hasForeignType, type Members, type Sorted, type Type } from './types.ts';

/** The fields of the vendor's schema beside those that are translated, by type. Source: @google/genai 2.32.0, "Schema", 2026-11-22. */
const BY_TYPE: Readonly<Record<Type, readonly string[]>> = {
  object: ['minProperties', 'maxProperties'],
  array: ['minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'format'],
  integer: ['minimum', 'maximum', 'format'],
  boolean: [],
  null: [],
};
const CONSTRAINTS = new Set(Object.values(BY_TYPE).flat());

/** Formats that the vendor takes; any other is an error there. Source: Firebase AI Logic reference, "SchemaInterface", 2026-11-21. */
const FORMATS: Readonly<Partial<Record<Type, readonly unknown[]>>> = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** Translated, or said by the shape of the document; what stands in them is nothing to tell. */
const SILENT = new Set([
  'type',
  'title',
  'description',
  'default',
  'example',
  'nullable',
  'properties',
  'required',
  'propertyOrdering',
  'items',
  'enum',
  'anyOf',
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$vocabulary',
  '$comment',
  '$defs',
  'definitions',
]);
/** With these values a keyword says what is so anyway. */
const IDLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['propertyNames', ['{"type":"string"}', '{}', 'true']],
  ...[
    'additionalProperties',
    'additionalItems',
    'unevaluatedProperties',
    'unevaluatedItems',
    'uniqueItems',
    'readOnly',
    'writeOnly',
    'deprecated',
  ].map((name): [string, string[]] => [name, ['false']]),
]);

/** Patterns that RE2, which the vendor's services use, cannot read: assertions, references back, names and escapes of others, long repeats. */
const FOREIGN_PATTERN = /\(\?<?[=!]|\(\?<[a-z]|\\(?:[1-9]|k<|u|c[a-z])|\\p\{(?!\w\w?\})|\{(?:\d{4,}|\d*,\d{4,})\}/i;

/** Sorts what needs no translation. */
export function sortKeywords(schema: Fields, type: Type | undefined): Sorted {
  const fields: [string, unknown][] = [];
  const remarks: [string, unknown][] = hasForeignType(schema) ? [['type', schema['type']]] : [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (SILENT.has(keyword) || IDLE.get(keyword)?.includes(JSON.stringify(value))) continue;
    if (!CONSTRAINTS.has(keyword)) remarks.push([keyword, value]);
    else if (isTaken(keyword, value, type)) fields.push([keyword, value]);
    else if (type === undefined || BY_TYPE[type].includes(keyword)) remarks.push([keyword, value]); // elsewhere it means nothing
  }
  return { fields, remarks };
}

function isTaken(keyword: string, value: unknown, type: Type | undefined): boolean {
  if (type === undefined || !BY_TYPE[type].includes(keyword)) return false;
  if (keyword === 'format') return FORMATS[type]?.includes(value) ?? false;
  if (keyword === 'pattern') return typeof value === 'string' && !FOREIGN_PATTERN.test(value);
  if (keyword === 'minimum' || keyword === 'maximum') return typeof value === 'number';
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The description a schema has, and behind it what the vendor has no fields for: `a price {exclusiveMinimum: 0}`. */
export function describe(given: unknown, remarks: Members): string | undefined {
  const parts = remarks.map(([keyword, value]) => `${keyword}: ${JSON.stringify(briefly(keyword, value))}`);
  const texts = [
    ...(typeof given === 'string' && given !== '' ? [given] : []),
    ...(parts.length > 0 ? [`{${parts.join(', ')}}`] : []),
  ];
  return texts.length > 0 ? texts.join(' ') : undefined;
}

/** A value as the description says it. Of a discriminator only the property counts: the addresses beside it point into the caller's document. */
function briefly(keyword: string, value: unknown): unknown {
  return keyword === 'discriminator' && isFields(value) && typeof value['propertyName'] === 'string'
    ? value['propertyName']
    : value;
}
