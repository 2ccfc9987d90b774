import { type Fields, isFields } from 'gw/common-wire';

/** The values of one keyword in several schemas, as one value that says all of them; `undefined` where none does. */
type Rule = (values: readonly unknown[]) => unknown;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const areNumbers = (values: readonly unknown[]): values is readonly number[] =>
  values.every((value) => typeof value === 'number');
const firstWins: Rule = ([first]) => first;
const least: Rule = (values) => (areNumbers(values) ? values.reduce((a, b) => Math.min(a, b)) : undefined);
const most: Rule = (values) => (areNumbers(values) ? values.reduce((a, b) => Math.max(a, b)) : undefined);

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['type', sharedTypes],
  ['enum', sharedValues],
  ['required', (values) => (values.every(isList) ? [...new Set(values.flat())] : undefined)],
  ['properties', (values) => (values.every(isFields) ? allProperties(values) : undefined)],
  ['items', (values) => (values.every(isFields) ? { allOf: values } : undefined)],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map((name): [string, Rule] => [
    name,
    most,
  ]),
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map((name): [string, Rule] => [
    name,
    least,
  ]),
  ...[
    'title',
    'description',
    'default',
    'example',
    'examples',
    'nullable',
    '$schema',
    '$id',
    '$comment',
    '$anchor',
    '$defs',
    'definitions',
    'additionalProperties',
    'unevaluatedProperties',
    'propertyOrdering',
    'readOnly',
    'writeOnly',
    'deprecated',
  ].map((name): [string, Rule] => [name, firstWins]),
]);

/** All of the schemas at once, as `allOf` means it. What the first says of itself wins; what cannot be said in one stays in `allOf`. */
export function mergeSchemas(schemas: readonly Fields[]): Fields {
  const byKeyword = gathered(schemas);
  const left: unknown[] = (byKeyword.get('allOf') ?? []).flat();
  byKeyword.delete('allOf');
  const merged = [...byKeyword].map(([keyword, values]): [string, unknown] => {
    const [first] = values;
    const all = values.length === 1 ? first : RULES.get(keyword)?.(values);
    if (all !== undefined) return [keyword, all];
    for (const value of distinct(values).slice(1)) left.push({ [keyword]: value });
    return [keyword, first];
  });
  return Object.fromEntries(left.length > 0 ? [...merged, ['allOf', left]] : merged);
}

/** The values of each member, in all of the objects. */
function gathered(objects: readonly Fields[]): Map<string, unknown[]> {
  const byName = new Map<string, unknown[]>();
  for (const object of objects) {
    for (const [name, value] of Object.entries(object)) {
      const values = byName.get(name);
      if (values) values.push(value);
      else byName.set(name, [value]);
    }
  }
  return byName;
}

/** The values that differ, in the order they came. */
export function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** Types that all have; an integer is a number too. */
function sharedTypes(values: readonly unknown[]): unknown {
  const lists = values.map((types) => (isList(types) ? types : [types]));
  const isIn = (type: unknown, list: readonly unknown[]): boolean =>
    list.includes(type) || (type === 'integer' && list.includes('number'));
  const shared = [...new Set(lists.flat())].filter((type) => lists.every((list) => isIn(type, list)));
  return shared.length > 1 ? shared : shared[0];
}

function sharedValues(values: readonly unknown[]): unknown {
  if (!values.every(isList)) return undefined;
  const [first = [], ...others] = values;
  const texts = others.map((list) => new Set(list.map((value) => JSON.stringify(value))));
  return first.filter((value) => texts.every((list) => list.has(JSON.stringify(value))));
}

function allProperties(values: readonly Fields[]): Fields {
  return Object.fromEntries(
    [...gathered(values)].map(([name, schemas]) => [name, schemas.length > 1 ? { allOf: schemas } : schemas[0]]),
  );
}
