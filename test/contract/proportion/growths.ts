/** One way to make a JSON document larger, to any size. */
export interface Growth {
  /** Where and how, for messages; places in lists are left out, so that the same growth of two documents has one name. */
  readonly what: string;
  readonly document: (size: number) => unknown;
}

type Path = readonly (string | number)[];

/** Every list longer, with the same items and with items of their own names; every object with more members; every text longer. */
export function growthsOf(document: unknown): Growth[] {
  const found = new Map<string, Growth>();
  for (const path of pathsOf(document)) {
    for (const [how, grow] of growthsAt(valueAt(document, path))) {
      const what = `${path.map((step) => (typeof step === 'number' ? '*' : step)).join('.') || 'the whole'}: ${how}`;
      if (!found.has(what)) found.set(what, { what, document: (size) => replaced(document, path, grow(size)) });
    }
  }
  return [...found.values()];
}

type Grow = (size: number) => unknown;

function growthsAt(value: unknown): [how: string, grow: Grow][] {
  if (typeof value === 'string') {
    return [
      ['one long word', (size) => value + 'x'.repeat(size * 20)],
      ['a long text', (size) => value + ' a "b"\n'.repeat(size * 3)],
    ];
  }
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.length === 0
      ? []
      : [
          ['many items', (size) => times(size, (at) => items[at % items.length])],
          ['many items, each its own', (size) => times(size, (at) => renamed(items[at % items.length], at))],
        ];
  }
  if (typeof value !== 'object' || value === null) return [];
  return [['many members', (size) => ({ ...value, ...Object.fromEntries(times(size, (at) => [`member_${at}`, at])) })]];
}

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** A value with names, ids and places of its own, wherever it says one. */
export function renamed(value: unknown, at: number): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, at));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => {
      if (typeof member === 'number' && /index$/i.test(name)) return [name, at];
      return [
        name,
        typeof member === 'string' && /(^|_)(id|name|text|title|url|uri)$|[a-z](Id|Name|Uri)$/.test(name)
          ? `${member}-${at}`
          : renamed(member, at),
      ];
    }),
  );
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Array.isArray(value)
    ? value.slice(0, 8).map((item, at) => [at, item] as const)
    : Object.entries(value);
  return [path, ...members.flatMap(([name, member]) => pathsOf(member, [...path, name]))];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], value);
}

function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value)) return value.map((item, at) => (at === step ? replaced(item, rest, by) : item));
  const holder = value as Readonly<Record<string, unknown>>;
  return { ...holder, [step]: replaced(holder[step], rest, by) };
}
