import { type Fields, isFields } from '../fields.ts';

/** The drafts that differ from each other. */
export type Draft = '6' | '7' | '2019-09' | '2020-12';

/** Whether the draft has keywords that speak of what others have not looked at. */
export const hasUnevaluated = (draft: Draft): boolean => draft === '2019-09' || draft === '2020-12';

/** What a keyword holds, for what is below it to be found: one schema, a list of them, a table of them. */
export type Holds = 'schema' | 'list' | 'table';

/** Why a value is not one that the keyword takes; `undefined` where it is. */
type Shape = (value: unknown) => string | undefined;

const expect =
  (is: (value: unknown) => boolean, what: string): Shape =>
  (value) =>
    is(value) ? undefined : `must be ${what}`;

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isTypes = (value: unknown): boolean =>
  isText(value) ? TYPES.has(value) : isTexts(value) && value.length > 0 && value.every((type) => TYPES.has(type));
/** Whether a value can be a schema at all. */
export const isSchema = (value: unknown): value is Fields | boolean => isFields(value) || typeof value === 'boolean';
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isTable =
  (is: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    isFields(value) && Object.values(value).every(is);

const text = expect(isText, 'a text');
const texts = expect(isTexts, 'a list of different texts');
const flag = expect((value) => typeof value === 'boolean', 'true or false');
const number = expect(Number.isFinite, 'a number');
const count = expect(isCount, 'a whole number of 0 or more');
const any: Shape = () => undefined;
const list = expect(Array.isArray, 'a list');
const schema = expect(isSchema, 'a schema: an object, true or false');
const schemas = expect(
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  'a list of at least one schema',
);
const table = expect(isTable(isSchema), 'an object of schemas');

interface Keyword {
  readonly shape: Shape;
  readonly holds?: Holds;
}

const ONE: Keyword = { shape: schema, holds: 'schema' };
const LIST: Keyword = { shape: schemas, holds: 'list' };
const TABLE: Keyword = { shape: table, holds: 'table' };

/** What every draft knows. `nullable` is of OpenAPI 3.0. */
const COMMON: Readonly<Record<string, Keyword>> = {
  ...Object.fromEntries(
    [
      '$schema',
      '$id',
      '$ref',
      '$comment',
      'title',
      'description',
      'format',
      'contentMediaType',
      'contentEncoding',
      'pattern',
    ].map((name) => [name, { shape: text }]),
  ),
  ...Object.fromEntries(
    ['$async', 'uniqueItems', 'nullable', 'readOnly', 'writeOnly', 'deprecated'].map((name) => [name, { shape: flag }]),
  ),
  ...Object.fromEntries(
    ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'].map((name) => [name, { shape: number }]),
  ),
  ...Object.fromEntries(
    ['maxLength', 'minLength', 'maxProperties', 'minProperties', 'maxItems', 'minItems'].map((name) => [
      name,
      { shape: count },
    ]),
  ),
  multipleOf: { shape: expect((value) => Number.isFinite(value) && (value as number) > 0, 'a number above 0') },
  type: { shape: expect(isTypes, `one or several of ${[...TYPES].join(', ')}`) },
  required: { shape: texts },
  enum: { shape: list },
  const: { shape: any },
  default: { shape: any },
  examples: { shape: list },
  $vocabulary: { shape: any },
  not: ONE,
  if: ONE,
  then: ONE,
  else: ONE,
  contains: ONE,
  propertyNames: ONE,
  additionalProperties: ONE,
  contentSchema: ONE,
  anyOf: LIST,
  oneOf: LIST,
  allOf: LIST,
  properties: TABLE,
  patternProperties: TABLE,
  definitions: TABLE,
  $defs: TABLE,
  dependencies: {
    shape: expect(
      isTable((value) => isSchema(value) || isTexts(value)),
      'an object of schemas and lists of texts',
    ),
    holds: 'table',
  },
};

const NEWER: Readonly<Record<string, Keyword>> = {
  ...Object.fromEntries(
    ['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef'].map((name) => [name, { shape: text }]),
  ),
  $recursiveAnchor: { shape: flag },
  maxContains: { shape: count },
  minContains: { shape: count },
  dependentRequired: { shape: expect(isTable(isTexts), 'an object of lists of different texts') },
  dependentSchemas: TABLE,
  unevaluatedItems: ONE,
  unevaluatedProperties: ONE,
};

const TUPLES: Readonly<Record<string, Keyword>> = {
  additionalItems: ONE,
  items: {
    shape: (value) => (Array.isArray(value) ? schemas(value) : schema(value)),
    holds: 'list',
  },
};

const KEYWORDS: Readonly<Record<Draft, ReadonlyMap<string, Keyword>>> = {
  '6': new Map(Object.entries({ ...COMMON, ...TUPLES })),
  '7': new Map(Object.entries({ ...COMMON, ...TUPLES })),
  '2019-09': new Map(Object.entries({ ...COMMON, ...NEWER, ...TUPLES })),
  '2020-12': new Map(Object.entries({ ...COMMON, ...NEWER, prefixItems: LIST, items: ONE })),
};

/** What is known of a keyword; `undefined` where the draft has none of that name. */
export const keywordOf = (draft: Draft, name: string): Keyword | undefined => KEYWORDS[draft].get(name);

/** The schemas that stand right below one, each with the way to it. */
export function* below(draft: Draft, holder: Readonly<Fields>): Generator<readonly [place: string, value: unknown]> {
  for (const [name, value] of Object.entries(holder)) {
    const holds = keywordOf(draft, name)?.holds;
    if (holds === undefined) continue;
    if (holds === 'schema' || !(Array.isArray(value) || (holds === 'table' && isFields(value)))) yield [name, value];
    else for (const [place, each] of Object.entries(value)) if (isSchema(each)) yield [`${name}/${place}`, each];
  }
}
