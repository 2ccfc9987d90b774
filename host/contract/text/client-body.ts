import { inReply, isNew, namedLeaves, type Names, type NamesBelow, namesBelow } from './chosen-names.ts';
import { escapesOf } from './escapes.ts';
import { type Fields, isFields } from '../json/fields.ts';
import { textOfFile } from './file-text.ts';
import { parseJson, tryParseJson } from '../json/json.ts';
import { isRawNumber } from '../json/json-numbers.ts';
import { mayBeJson } from '../json/json-scan.ts';
import { CODE, stringEnd } from '../json/json-shape.ts';
import { setMember } from '../json/members.ts';

/** Formats that clients speak beside the common wire. */
export type ClientWireName = 'messages' | 'gemini' | 'responses';

/**
 * Where the texts are in the bodies of a wire. `name` is that of the member, or of the list that
 * holds the string; `holder` the object around it.
 */
export interface BodyTexts {
  /**
   * Whether a string is an id, a word of the wire itself, a token or bytes. Any other string is
   * read as a text.
   */
  isWord(value: string, name: string, holder: Readonly<Fields>): boolean;
  /** Whether a text may be read and not changed: the vendor refuses it when it is. */
  isSealed(name: string, holder: Readonly<Fields>): boolean;
  /**
   * Whether all names of members below this one are texts: what is written for a tool is one text
   * in the common format. Elsewhere those are that the wire does not know.
   */
  hasNames?(name: string, holder: Readonly<Fields>): boolean;
  /**
   * What a list of neighbours says as one: the text of an item, `undefined` for items that are not
   * plain text.
   */
  textOf(item: Readonly<Fields>): string | undefined;
  /**
   * The member that repeats the texts beside it, token by token: it goes where they are changed.
   */
  readonly repeats?: string;
  /** Texts inside a string that looks like a token, or like bytes; `undefined` where it is one. */
  opened?(value: string, name: string, holder: Readonly<Fields>): unknown;
}

/** A body in a wire of the client's own, beside what the common format makes of it. Read only. */
export interface ClientBody {
  /** The wire that the body is in. */
  readonly wire: ClientWireName;
  /** What is asked for, by the wire's own name. */
  readonly operation: string;
  /** The body itself, as it was parsed. Read only. */
  readonly value: Readonly<Fields>;
  /** How the texts of this wire are found. */
  readonly texts: BodyTexts;
}

/** One look at a body of the client's wire. */
interface Look {
  readonly texts: BodyTexts;
  readonly below: NamesBelow;
  /** Names that were read already. */
  readonly seen: Set<string>;
}

/**
 * Every text of a body, the names of members that a client or a model chose among them, each once.
 * Strings that are themselves JSON come a second time, decoded; texts of neighbouring blocks also
 * joined.
 */
export function* bodyTexts({ value, texts }: ClientBody, below: NamesBelow = inReply): Generator<string> {
  yield* membersTexts(value, 'own', { texts, below, seen: new Set() });
}

function* membersTexts(holder: Readonly<Fields>, names: Names, look: Look): Generator<string> {
  for (const name of Object.keys(holder)) if (isNew(name, names, look.seen)) yield* readings(name);
  for (const [name, value] of Object.entries(holder))
    yield* valueTexts(value, { name, holder, below: namesOf(name, holder, names, look) }, look);
}

/** Where a value stands. `below` says whose names are in it. */
interface Place {
  readonly name: string;
  readonly holder: Readonly<Fields>;
  readonly below: Names;
}

function* valueTexts(value: unknown, place: Place, look: Look): Generator<string> {
  if (typeof value === 'string') yield* stringTexts(value, place.name, place.holder, look.texts);
  else if (Array.isArray(value)) {
    for (const item of value) yield* valueTexts(item, place, look);
    const neighbours = value
      .filter(isFields)
      .map((item) => look.texts.textOf(item))
      .filter((text) => text !== undefined);
    if (neighbours.length > 1) yield* readings(neighbours.join(''));
  } else if (isRawNumber(value)) yield* leaves(value);
  else if (isFields(value)) yield* membersTexts(value, place.below, look);
}

/**
 * The names in a body that a client or a model chose, each once: they are read with its texts, and
 * are never changed.
 */
export function* bodyNames({ value, texts }: ClientBody, below: NamesBelow = inReply): Generator<string> {
  yield* namesIn(value, 'own', { texts, below, seen: new Set() });
}

function* namesIn(value: unknown, names: Names, look: Look): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* namesIn(item, names, look);
    return;
  }
  if (!isFields(value) || isRawNumber(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (isNew(name, names, look.seen)) yield name;
    if (typeof member === 'object') yield* namesIn(member, namesOf(name, value, names, look), look);
  }
}

/** Whose names are below a member. */
function namesOf(name: string, holder: Readonly<Fields>, names: Names, { texts, below }: Look): Names {
  return texts.hasNames?.(name, holder) === true ? 'free' : namesBelow(names, name, below);
}

function* stringTexts(value: string, name: string, holder: Readonly<Fields>, texts: BodyTexts): Generator<string> {
  if (!texts.isWord(value, name, holder)) yield* readings(value);
  for (const leaf of leaves(texts.opened?.(value, name, holder))) yield* readings(leaf);
}

/**
 * JSON inside strings of JSON that is opened, so that nesting multiplies the work by no more than
 * this.
 */
const MAX_READINGS = 8;

/**
 * A text, and what stands in it where it is itself a JSON object, array or string, or the address
 * that holds a text; texts in there the same way.
 */
export function* readings(text: string, most = MAX_READINGS): Generator<string> {
  yield text;
  if (most === 0 || !/^\s*(?:[{["]|data:)/i.test(text)) return;
  if (/^\s*d/i.test(text)) {
    const held = textOfFile(text.trimStart());
    if (held !== undefined) yield* readings(held, most - 1);
    return;
  }
  if (!text.includes('"') || !mayBeJson(text)) return; // no string in it, or ordinary text that begins like JSON
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) yield escapesOf(text).text; // too large to be parsed: no escape hides a word from a guardrail
    return;
  }
  if (text.includes('\\')) yield* escapedNames(text); // other words stand in the text as they are
  for (const leaf of namedLeaves(value, 'own', inReply)) yield* readings(leaf, most - 1);
}

/** Names of a JSON text that are written with escapes, as they read. */
function* escapedNames(text: string): Generator<string> {
  for (let at = text.indexOf('"'), end; at >= 0; at = text.indexOf('"', end + 1)) {
    end = stringEnd(text, at);
    if (end < 0) return;
    let next = end + 1;
    while (text.charCodeAt(next) <= 0x20) next += 1; // NaN behind the end
    if (text.charCodeAt(next) !== CODE.colon) continue;
    const name = text.slice(at, end + 1);
    if (name.includes('\\')) yield String(tryParseJson(name));
  }
}

/** All strings inside a value, names of members excluded. */
export function* leaves(value: unknown): Generator<string> {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') yield next;
    else if (typeof next === 'object' && next !== null)
      for (const member of Object.values(next).toReversed()) open.push(member);
  }
}

/** The body with every text changed that may be; what is not changed is the same object. */
export function editedBody(body: ClientBody, edit: (text: string) => string): ClientBody {
  const value = editMembers(body.value, body.texts, edit);
  return value === body.value ? body : { wire: body.wire, operation: body.operation, texts: body.texts, value };
}

function editMembers(holder: Readonly<Fields>, texts: BodyTexts, edit: (text: string) => string): Readonly<Fields> {
  let edited: Fields | undefined;
  for (const [name, value] of Object.entries(holder)) {
    const after = editValue(value, name, holder, texts, edit);
    if (after !== value) setMember((edited ??= { ...holder }), name, after);
  }
  if (edited && texts.repeats !== undefined) delete edited[texts.repeats];
  return edited ?? holder;
}

function editValue(
  value: unknown,
  name: string,
  holder: Readonly<Fields>,
  texts: BodyTexts,
  edit: (text: string) => string,
): unknown {
  if (typeof value === 'string')
    return texts.isWord(value, name, holder) || texts.isSealed(name, holder) ? value : edit(value);
  if (Array.isArray(value)) {
    const edited = value.map((item: unknown) => editValue(item, name, holder, texts, edit));
    return edited.some((item, at) => item !== value[at]) ? edited : value;
  }
  if (!isFields(value)) return value;
  if (!isRawNumber(value)) return editMembers(value, texts, edit);
  const digits = String(value['rawJSON']);
  const after = edit(digits);
  return after === digits ? value : after;
}

const CLIENT_BODY = Symbol('client body');

/**
 * Puts the client's own body, as it was edited, beside the common one that was edited alike. A copy
 * of the latter does not have it.
 */
export function withClientBody<T extends object>(body: T, client: ClientBody): T {
  return Object.defineProperty(body, CLIENT_BODY, { value: client });
}

/** The client's own body beside a common one, where an edit has put it there. */
export function clientBodyOf(body: unknown): ClientBody | undefined {
  return typeof body === 'object' && body !== null
    ? (body as { readonly [CLIENT_BODY]?: ClientBody })[CLIENT_BODY]
    : undefined;
}
