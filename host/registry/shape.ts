import { nearest } from '../common/nearest.ts';

/** What is wrong with a value, and what to write instead. */
export interface Finding {
  readonly message: string;
  readonly fix: string;
}

/**
 * Says what is wrong with the value that stands at a path, a finding for each; nothing for a value as it should be.
 *
 * Every module is held against its shape at every start, when no code is warm: functions this small take a tenth of the
 * time that a schema library needs for the first forty objects it sees.
 */
export interface Shape {
  (value: unknown, at: string): readonly Finding[];
  /** The shape of each field, where the value is an object of known fields: for what goes through the shape itself. */
  readonly fields?: Readonly<Record<string, Shape>> | undefined;
  /** The shape of each item of a list, or of each value of an object with any keys. */
  readonly item?: Shape | undefined;
}

const FINE: readonly Finding[] = [];

/** A shape that one question decides; `expected` completes "<path> must be …", `write` is a sample where that helps. */
export const shape =
  (expected: string, holds: (value: unknown) => boolean, write = expected): Shape =>
  (value, at) =>
    holds(value) ? FINE : [{ message: `${at} must be ${expected}`, fix: `write ${at}: ${write}` }];

export const text = shape('text that is not empty', (value) => typeof value === 'string' && value !== '', "'…'");
export const flag = shape('true or false', (value) => typeof value === 'boolean');
export const callable = shape('a function', (value) => typeof value === 'function', '(…) => …');

export const matching = (pattern: RegExp, expected: string, write?: string): Shape =>
  shape(expected, (value) => typeof value === 'string' && pattern.test(value), write);

export const oneOf = (...values: readonly unknown[]): Shape =>
  shape(
    `one of ${values.map(String).join(', ')}`,
    (value) => values.includes(value),
    values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(' or '),
  );

/** A value that has one of these shapes. */
export const either = (expected: string, ...shapes: readonly Shape[]): Shape =>
  shape(expected, (value) => shapes.some((one) => one(value, '').length === 0));

/** A list, each item of this shape. */
export const listOf = (item: Shape): Shape =>
  Object.assign(
    (value: unknown, at: string): readonly Finding[] => {
      if (!Array.isArray(value)) return [{ message: `${at} must be a list`, fix: `write ${at}: […]` }];
      return Array.from(value as readonly unknown[], (one, index) => item(one, `${at}[${index}]`)).flat(); // a gap is an item, and undefined
    },
    { item },
  );

/** A list with at least one item. */
export const filled = (list: Shape): Shape =>
  Object.assign(
    (value: unknown, at: string): readonly Finding[] => {
      const problems = list(value, at);
      return problems.length === 0 && (value as readonly unknown[]).length === 0
        ? [{ message: `${at} must hold something`, fix: `name at least one in ${at}` }]
        : problems;
    },
    { item: list.item },
  );

/** A list with no item twice. */
export const distinct = (list: Shape): Shape =>
  Object.assign(
    (value: unknown, at: string): readonly Finding[] => {
      const problems = list(value, at);
      if (problems.length > 0) return problems;
      const items = value as readonly unknown[];
      const twice = items.find((item, index) => items.indexOf(item) !== index);
      return new Set(items).size === items.length
        ? FINE
        : [{ message: `${at} must not name anything twice`, fix: `name ${String(twice)} once in ${at}` }];
    },
    { item: list.item },
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const notAnObject = (at: string): readonly Finding[] => [
  { message: `${at} must be an object`, fix: `write ${at}: { … }` },
];

/** An object with any keys, each value of this shape. */
export const recordOf = (item: Shape): Shape =>
  Object.assign(
    (value: unknown, at: string): readonly Finding[] =>
      isObject(value) ? Object.keys(value).flatMap((key) => item(value[key], `${at}.${key}`)) : notAnObject(at),
    { item },
  );

interface Fields {
  readonly required?: Readonly<Record<string, Shape>>;
  /** May be missing, or undefined. */
  readonly optional?: Readonly<Record<string, Shape>>;
  /** Names that others look at: they are not unknown. */
  readonly beside?: readonly string[];
}

/** An object with these fields and no others. At an empty path its fields are named without one. */
export const fields = ({ required = {}, optional = {}, beside = [] }: Fields): Shape => {
  const needed = Object.entries(required);
  const allowed = Object.entries(optional);
  const names = [...needed, ...allowed].map(([key]) => key);
  const known = new Set([...names, ...beside]);
  const check = (value: unknown, at: string): readonly Finding[] => {
    if (!isObject(value)) return notAnObject(at);
    const place = (key: string): string => (at === '' ? key : `${at}.${key}`);
    return [
      ...needed.flatMap(([key, field]) =>
        value[key] === undefined ? [missing(place(key), field)] : field(value[key], place(key)),
      ),
      ...allowed.flatMap(([key, field]) => (value[key] === undefined ? FINE : field(value[key], place(key)))),
      ...Object.keys(value)
        .filter((key) => !known.has(key))
        .map((key) => unknownField(place(key), key, names)),
    ];
  };
  return Object.assign(check, { fields: { ...required, ...optional } });
};

/** What to write where there is nothing is what to write in the place of something else. */
function missing(at: string, field: Shape): Finding {
  const [found] = field(undefined, at);
  return { message: `${at} is required`, fix: found ? found.fix.replace(/^write /, 'add ') : `add ${at}` };
}

function unknownField(at: string, key: string, names: readonly string[]): Finding {
  const near = nearest(key, names);
  return {
    message: `${at} is not a field that a module of this kind has`,
    fix: near === undefined ? `remove it, or use one of: ${names.join(', ')}` : `did you mean "${near}"?`,
  };
}
