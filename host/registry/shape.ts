/**
 * Says what is wrong with the value that stands at a path, a line for each finding; nothing for a value as it should be.
 *
 * Every module is held against its shape at every start, when no code is warm: functions this small take a tenth of the
 * time that a schema library needs for the first forty objects it sees.
 */
export type Shape = (value: unknown, at: string) => readonly string[];

const FINE: readonly string[] = [];

/** A shape that one question decides; `expected` completes "<path> must be …". */
export const shape = (expected: string, holds: (value: unknown) => boolean): Shape =>
  (value, at) => (holds(value) ? FINE : [`${at} must be ${expected}`]);

export const text = shape('text that is not empty', (value) => typeof value === 'string' && value !== '');
export const flag = shape('true or false', (value) => typeof value === 'boolean');
export const callable = shape('a function', (value) => typeof value === 'function');

export const matching = (pattern: RegExp, expected: string): Shape => shape(expected, (value) => typeof value === 'string' && pattern.test(value));

export const oneOf = (...values: readonly unknown[]): Shape => shape(`one of ${values.map(String).join(', ')}`, (value) => values.includes(value));

/** A value that has one of these shapes. */
export const either = (expected: string, ...shapes: readonly Shape[]): Shape => shape(expected, (value) => shapes.some((one) => one(value, '').length === 0));

/** A list, each item of this shape. */
export const listOf = (item: Shape): Shape => (value, at) => {
  if (!Array.isArray(value)) return [`${at} must be a list`];
  return Array.from(value as readonly unknown[], (one, index) => item(one, `${at}[${index}]`)).flat(); // a gap is an item, and undefined
};

/** The same list, with at least one item. */
export const filled = (list: Shape): Shape => (value, at) => {
  const problems = list(value, at);
  return problems.length === 0 && (value as readonly unknown[]).length === 0 ? [`${at} must hold something`] : problems;
};

/** The same list, with no item twice. */
export const distinct = (list: Shape): Shape => (value, at) => {
  const problems = list(value, at);
  if (problems.length > 0) return problems;
  const items = value as readonly unknown[];
  return new Set(items).size === items.length ? FINE : [`${at} must not name anything twice`];
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object with any keys, each value of this shape. */
export const recordOf = (member: Shape): Shape => (value, at) =>
  (isObject(value) ? Object.keys(value).flatMap((key) => member(value[key], `${at}.${key}`)) : [`${at} must be an object`]);

interface Fields {
  readonly required?: Readonly<Record<string, Shape>>;
  /** May be missing, or undefined. */
  readonly optional?: Readonly<Record<string, Shape>>;
  /** Whether keys that neither table names are refused. */
  readonly isClosed?: boolean;
}

/** An object with these fields. At an empty path its fields are named without one. */
export const fields = ({ required = {}, optional = {}, isClosed = false }: Fields): Shape => {
  const needed = Object.entries(required);
  const allowed = Object.entries(optional);
  const known = new Set([...needed, ...allowed].map(([key]) => key));
  return (value, at) => {
    if (!isObject(value)) return [`${at} must be an object`];
    const place = (key: string): string => (at === '' ? key : `${at}.${key}`);
    return [
      ...needed.flatMap(([key, field]) => (value[key] === undefined ? [`${place(key)} is required`] : field(value[key], place(key)))),
      ...allowed.flatMap(([key, field]) => (value[key] === undefined ? FINE : field(value[key], place(key)))),
      ...(isClosed ? Object.keys(value).filter((key) => !known.has(key)).map((key) => `${place(key)} is not allowed`) : FINE),
    ];
  };
};
