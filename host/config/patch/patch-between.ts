/** What makes one document of another, and where it cannot be said without a withheld value. */
export interface Difference {
  /** A JSON Patch (RFC 6902). */
  readonly operations: readonly PatchOperation[];
  /** Paths of what holds the mark of a withheld value and is not what stood there, such as `mcp_servers[0].headers`. */
  readonly problems: readonly string[];
}

export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

type Path = readonly (string | number)[];
type Fields = Readonly<Record<string, unknown>>;

/** How everything begins that takes a secret's place. */
const MARKER = '[REDACTED';

/**
 * The patch that makes `after` of `before`, a document as it is shown. Maps differ by member, and entries of lists are known by what they are called. It holds
 * nothing that was withheld. It imports nothing: the gateway, the command line and the dashboard use it.
 */
export function patchBetween(before: unknown, after: unknown): Difference {
  const operations: PatchOperation[] = [];
  const problems: string[] = [];
  compare(before, after, [], { operations, problems });
  return { operations, problems };
}

interface Found {
  readonly operations: PatchOperation[];
  readonly problems: string[];
}

function compare(before: unknown, after: unknown, at: Path, found: Found): void {
  if (isSame(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, at, found);
  if (isMap(before) && isMap(after)) return compareMaps(before, after, at, found);
  write('replace', at, after, found);
}

function compareMaps(before: Fields, after: Fields, at: Path, found: Found): void {
  for (const name of Object.keys(before)) {
    if (Object.hasOwn(after, name)) continue;
    if (name.includes(MARKER)) found.problems.push(textOf(at));
    else found.operations.push({ op: 'remove', path: pointerOf([...at, name]) });
  }
  for (const [name, value] of Object.entries(after)) {
    const path = [...at, name];
    if (Object.hasOwn(before, name)) compare(before[name], value, path, found);
    else if (name.includes(MARKER)) found.problems.push(textOf(at));
    else write('add', path, value, found);
  }
}

interface Entry {
  readonly key: string;
  readonly value: unknown;
}

/** Entries that are in both move to their places; one that goes where another comes is changed in its place. */
function compareLists(before: readonly unknown[], after: readonly unknown[], at: Path, found: Found): void {
  let present: readonly Entry[] = entriesOf(before);
  const wanted = entriesOf(after);
  const stays = new Set(wanted.map(({ key }) => key));
  wanted.forEach((entry, place) => {
    const path = [...at, place];
    const from = present.findIndex(({ key }, index) => index >= place && key === entry.key);
    const moved = present[from];
    const here = present[place];
    if (moved && from > place) {
      found.operations.push({ op: 'move', from: pointerOf([...at, from]), path: pointerOf(path) });
      present = present.toSpliced(from, 1).toSpliced(place, 0, entry);
      compare(moved.value, entry.value, path, found);
    } else if (from === place || (here && !stays.has(here.key))) {
      compare(here?.value, entry.value, path, found);
      present = present.with(place, entry);
    } else {
      write('add', path, entry.value, found);
      present = present.toSpliced(place, 0, entry);
    }
  });
  for (let place = present.length - 1; place >= wanted.length; place -= 1)
    found.operations.push({ op: 'remove', path: pointerOf([...at, place]) });
}

/** What an entry is called, with how many of that name stand before it. */
function entriesOf(list: readonly unknown[]): Entry[] {
  const counts = new Map<string, number>();
  return list.map((value) => {
    const name = nameOf(value);
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return { key: `${name} ${count}`, value };
  });
}

function nameOf(value: unknown): string {
  if (!isMap(value)) return JSON.stringify(value) ?? '';
  const { virtual_key: target, name, stage, path } = value;
  return JSON.stringify([target, name, stage, path]);
}

function write(op: 'add' | 'replace', at: Path, value: unknown, found: Found): void {
  const marked = markedIn(value, at);
  if (marked) found.problems.push(textOf(marked));
  else found.operations.push({ op, path: pointerOf(at), value });
}

/** The first place below a value that holds a mark; of a map that has one for a name, the map. */
function markedIn(value: unknown, at: Path): Path | undefined {
  if (typeof value === 'string') return value.includes(MARKER) ? at : undefined;
  if (Array.isArray(value)) return firstOf(value.map((each, place) => () => markedIn(each, [...at, place])));
  if (!isMap(value)) return undefined;
  if (Object.keys(value).some((name) => name.includes(MARKER))) return at;
  return firstOf(
    Object.entries(value).map(
      ([name, member]) =>
        () =>
          markedIn(member, [...at, name]),
    ),
  );
}

function firstOf<T>(finders: readonly (() => T | undefined)[]): T | undefined {
  for (const find of finders) {
    const found = find();
    if (found !== undefined) return found;
  }
  return undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, at) => isSame(each, other[at]));
  if (!isMap(one) || !isMap(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

const isMap = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const pointerOf = (path: Path): string =>
  path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const textOf = (path: Path): string =>
  path.map((name, at) => (typeof name === 'number' ? `[${name}]` : at === 0 ? name : `.${name}`)).join('');
