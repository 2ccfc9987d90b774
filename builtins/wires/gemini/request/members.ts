import { HistoryNotes } from '../../history-notes.ts';
import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import {
  type Fields,
  type GatewayError,
  inPart,
  isFields,
  isRawNumber,
  memberOf,
  quoted,
  setMember,
} from '../../../../host/contract/index.ts';

/** Whether a value is an object of the body, and not a number that is kept as it was written. */
export const isObject = (value: unknown): value is Fields => isFields(value) && !isRawNumber(value);

/**
 * A list, or the one object that stands in its place: the vendor takes both, its own examples write `{"parts": {"text": "hi"}}`.
 * `undefined` for anything else, an empty object too. Source: ai.google.dev, "Text generation", system instructions by curl, 2026-11-23.
 */
export function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return isObject(value) && Object.keys(value).length > 0 ? [value] : undefined;
}

/**
 * The members of an object under the names of the wire, which may also be written in snake_case: `system_instruction` counts
 * as `systemInstruction` where that one is known. Other members keep their name; a null counts as absent. Throws a 400 for what
 * is not an object, and for a member that stands there in both ways. Source: protobuf.dev, "ProtoJSON Format", 2026-11-22.
 */
export function membersOf(value: unknown, known: ReadonlySet<string>, at: string): Fields {
  if (!isObject(value)) throw invalidRequest(`${at || 'the request body'} must be an object`);
  const members: Fields = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === null) continue;
    const own = nameOf(name, known);
    if (Object.hasOwn(members, own)) throw invalidRequest(`${pathOf(at, own)} is given twice, also in snake_case`);
    setMember(members, own, member);
  }
  return members;
}

function nameOf(name: string, known: ReadonlySet<string>): string {
  if (known.has(name) || !name.includes('_')) return name;
  const camel = name.replaceAll(/_([a-z\d])/g, (_all, letter: string) => letter.toUpperCase());
  return known.has(camel) ? camel : name;
}

export const pathOf = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`);

/** The members that have a value. */
export function given(members: Fields): Fields {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Members that mean nothing to other wires: what is left out is reported by the path the client knows. */
export class Lost {
  readonly history = new HistoryNotes();
  readonly #paths = new Set<string>();

  add(path: string): void {
    this.#paths.add(path);
  }

  /** Each member whose name is not known. */
  addUnknown(members: Fields, known: ReadonlySet<string>, at: string): void {
    for (const name of Object.keys(members)) if (!known.has(name)) this.add(pathOf(at, name));
  }

  /** Those of these members that are there. */
  addGiven(members: Fields, names: Iterable<string>, at: string): void {
    for (const name of names) if (memberOf(members, name) !== undefined) this.add(pathOf(at, name));
  }

  /** In the order of the body's own members. */
  inOrderOf(members: Fields): readonly string[] {
    const ranks = new Map(Object.keys(members).map((name, rank) => [name, rank]));
    const rank = (path: string): number => ranks.get(/^[^.[]+/.exec(path)?.[0] ?? '') ?? ranks.size;
    return [...this.#paths].toSorted((a, b) => rank(a) - rank(b));
  }
}

/** UTF-16 code units of a message that may hold names of the client's. */
const MAX_MESSAGE = 512;

/** What this form of the request needs of its vendor, and no other wire has: sent nowhere. */
export function cannotCarry(path: string, why: string): GatewayError {
  return invalidRequest(inPart(`${path} is not supported here: ${why}`, MAX_MESSAGE));
}

/** One member of an object, read as what it must be; `undefined` where it is absent. Throws a 400 that names the path. */
export class Members {
  readonly fields: Fields;
  readonly #at: string;

  constructor(value: unknown, known: ReadonlySet<string>, at: string) {
    this.fields = membersOf(value, known, at);
    this.#at = at;
  }

  path(name: string): string {
    return pathOf(this.#at, name);
  }

  text(name: string): string | undefined {
    return this.#read(name, 'a string', (value) => typeof value === 'string') as string | undefined;
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, 'true or false', (value) => typeof value === 'boolean') as boolean | undefined;
  }

  list(name: string): readonly unknown[] | undefined {
    return listOf(this.#read(name, 'a list', (value) => listOf(value) !== undefined));
  }

  texts(name: string): readonly string[] | undefined {
    return this.#read(
      name,
      'a list of strings',
      (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    ) as readonly string[] | undefined;
  }

  object(name: string): Fields | undefined {
    return this.#read(name, 'an object', isObject) as Fields | undefined;
  }

  number(name: string, low = -Infinity, high = Infinity): number | undefined {
    return this.#inRange(
      name,
      this.#read(name, 'a number', (value) => typeof value === 'number') as number | undefined,
      low,
      high,
    );
  }

  integer(name: string, low = -Infinity, high = Infinity): number | undefined {
    return this.#inRange(name, this.#read(name, 'an integer', Number.isInteger) as number | undefined, low, high);
  }

  /** One of these words. */
  word(name: string, words: Iterable<string>): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const known = [...words];
    if (!known.includes(value))
      throw invalidRequest(`${this.path(name)} ${quoted(value)} is not supported, use ${known.join(', ')}`);
    return value;
  }

  #read(name: string, expected: string, accepts: (value: unknown) => boolean): unknown {
    const value = memberOf(this.fields, name);
    if (value !== undefined && !accepts(value)) throw invalidRequest(`${this.path(name)} must be ${expected}`);
    return value;
  }

  #inRange(name: string, value: number | undefined, low: number, high: number): number | undefined {
    if (value === undefined || (value >= low && value <= high)) return value;
    throw invalidRequest(
      `${this.path(name)} must be ${high === Infinity ? `at least ${low}` : `between ${low} and ${high}`}`,
    );
  }
}
