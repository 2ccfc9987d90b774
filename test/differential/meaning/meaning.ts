/** One part of what a turn of a conversation says: a text, a picture, a call. `kind` says which, the other members what. */
export interface Atom {
  readonly role: string;
  readonly kind: string;
  readonly [member: string]: unknown;
}

export interface Tool {
  readonly name: string;
  readonly [member: string]: unknown;
}

/**
 * What a request says, whichever wire it is written in. Two bodies that mean the same read as the same value: where one
 * turn ends and how texts are cut into parts is not in it, nor how a call is numbered, as long as results find their call.
 */
export interface Meaning {
  readonly turns: readonly Atom[];
  readonly tools: readonly Tool[];
  /** Parameters under the names of the common wire, and whatever a reader does not know under `other.<name>`. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export type Fields = Record<string, any>;

/** What stands beside the things that are said: counted, not placed, since wires have it on parts, between them, or on whole turns. */
const ASIDE = /thinking$|^(name|cache|signature)$|^field /;
const keyOf = ({ role, kind }: Atom): string => `${role} ${kind}`;

/** Collects what a conversation says, in one form. */
export class Turns {
  readonly #atoms: Atom[] = [];
  /** Said by the system: apart, since most wires have a place of its own for it. */
  readonly #system: Atom[] = [];
  readonly #asides: Atom[] = [];
  readonly #ids = new Map<string, string>();
  readonly #open: { readonly id: string; readonly name: unknown }[] = [];

  add(role: string, kind: string, members: Fields = {}): void {
    this.#place(role, kind).push({ role, kind, ...members });
  }

  #place(role: string, kind: string): Atom[] {
    if (ASIDE.test(kind)) return this.#asides;
    return role === 'system' ? this.#system : this.#atoms;
  }

  /** Blank texts say nothing, and white space is not compared: wires join texts with and without it. */
  text(role: string, text: unknown): void {
    const compact = typeof text === 'string' ? text.replaceAll(/\s+/g, '') : JSON.stringify(text);
    if (compact === undefined || compact === '') return;
    const atoms = this.#place(role, 'text');
    const last = atoms.at(-1);
    if (last?.role === role && last.kind === 'text')
      atoms[atoms.length - 1] = { ...last, text: `${String(last['text'])}${compact}` };
    else this.add(role, 'text', { text: compact });
  }

  call(id: unknown, name: unknown, input: unknown, more: Fields = {}): void {
    const known = `#${this.#open.length + 1}`;
    if (typeof id === 'string') this.#ids.set(id, known);
    this.#open.push({ id: known, name });
    this.add('assistant', 'call', {
      id: known,
      name,
      input: typeof input === 'string' ? parsed(input || '{}') : input,
      ...more,
    });
  }

  /** A result without an id belongs to the first call of its name that has none yet. */
  result(id: unknown, value: unknown, name?: unknown): void {
    const answered = new Set(this.#atoms.filter(({ kind }) => kind === 'result').map((atom) => atom['id']));
    const found =
      typeof id === 'string' && id !== ''
        ? (this.#ids.get(id) ?? 'nothing')
        : (this.#open.find((call) => call.name === name && !answered.has(call.id))?.id ?? 'nothing');
    this.add('tool', 'result', { id: found, value: typeof value === 'string' ? parsed(value.trim()) : value });
  }

  media(role: string, media: Fields): void {
    this.add(role, 'media', Object.fromEntries(Object.entries(media).filter(([, value]) => value !== undefined)));
  }

  cache(role: string): void {
    this.add(role, 'cache');
  }

  all(): Atom[] {
    return [...this.#system, ...this.#atoms, ...this.#asides.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))];
  }
}

/** JSON where it is some; else the text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `data:` addresses apart: type and data; others by their address. */
export function mediaOf(url: unknown, more: Fields = {}): Fields {
  const match = typeof url === 'string' ? /^data:([^;,]*)[^,]*;base64,(.*)$/s.exec(url) : null;
  return match ? { type: match[1], data: match[2], ...more } : { url, ...more };
}

/** Members that are there. */
export function given(members: Fields): Fields {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/** What a reader has not read, under names of its own. */
export function others(body: Fields, known: readonly string[], prefix = 'other'): Fields {
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name, value]) => !known.includes(name) && value !== undefined && value !== null)
      .map(([name, value]) => [`${prefix}.${name}`, value]),
  );
}

/** Parameters of a function, as a schema that says nothing more than it must. */
export function schemaOf(schema: unknown): unknown {
  if (schema === undefined || schema === null) return undefined;
  return JSON.stringify(schema) === '{}' || JSON.stringify(schema) === '{"type":"object"}'
    ? { type: 'object', properties: {} }
    : schema;
}
