import type { RequestLogRow } from '../../contract/index.ts';
import type { Redactor } from '../../log/redact.ts';
import { RouteDecision } from './route-decision.ts';

/** Characters of a model's name or another short text that are kept. */
export const LONGEST_TEXT = 1024;
/** Years 0 to 9999. */
const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00Z');
const END_OF_MOMENTS = Date.parse('9999-12-31T23:59:59.999Z') + 1;

/** A row that waits to be written: what its giver may change later or what would keep much in memory is not of it. */
export interface GivenRow extends Omit<RequestLogRow, 'decision' | 'metadata' | 'tags'> {
  /** JSON. */
  readonly metadata?: string | undefined;
  /** JSON. */
  readonly tags?: string | undefined;
  /** JSON. */
  readonly decision?: string | undefined;
}

/** A moment by another clock; whatever else a module gave is looked at when it is kept. */
export function shifted(moment: number, byMs: number): number {
  return typeof moment === 'number' ? moment + byMs : moment;
}

/** A flag as its column keeps it. */
export function flag(value: boolean | undefined): number | null {
  return typeof value === 'boolean' ? Number(value) : null;
}

/** A decision as JSON, without credentials. */
export function decisionText(decision: object, redactor: Redactor): string {
  const hide = (text: string): string => redactor.excerpt(text);
  return decision instanceof RouteDecision
    ? decision.shortText(hide)
    : JSON.stringify(decision, (_name, member: unknown) => (typeof member === 'string' ? hide(member) : member));
}

/** As much as is kept of a text, and a copy of that. */
export function short<T extends string | undefined>(value: T): T {
  return typeof value === 'string' && value.length > LONGEST_TEXT ? (copied(value.slice(0, LONGEST_TEXT)) as T) : value;
}

/** V8 keeps all of a text in memory as long as a part that was cut out of it. */
export function copied(value: string): string {
  return Buffer.from(value, 'utf16le').toString('utf16le');
}

/** A text as databases take it, and as much of it as is kept. */
export function text(value: string | undefined, longest = LONGEST_TEXT): string | null {
  return value ? storable(value.length > longest ? value.slice(0, longest) : value) : null;
}

/** Postgres refuses a text with NUL or half a surrogate pair, and SQLite ends one at its NUL. */
export function storable(value: string): string {
  const formed = value.toWellFormed();
  return formed.includes('\0') ? formed.replaceAll('\0', '\ufffd') : formed;
}

/** Milliseconds of a moment that every database has and that a timestamp can be of; 0 for any other. */
export function moment(value: number): number {
  return Number.isFinite(value) && value >= FIRST_MOMENT && value < END_OF_MOMENTS ? Math.floor(value) : 0;
}

/** A whole number that a column holds. */
export function whole(value: number | undefined): number | null {
  return Number.isSafeInteger(value) ? (value ?? null) : null;
}

/** The last digits of a fraction are lost on the way through text in some databases, so they are not kept in any. The largest numbers are rounded to infinity. */
export function amount(value: number | null | undefined): number | null {
  const rounded = typeof value === 'number' ? Number(value.toPrecision(15)) : Number.NaN;
  return Number.isFinite(rounded) ? rounded : null;
}
