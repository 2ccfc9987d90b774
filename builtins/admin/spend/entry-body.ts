import { isFields, quoted } from '../../../host/contract/index.ts';
import { isTagName } from '../../../host/common/accounts/account-path.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { DAY_MS } from '../../../host/common/once-per.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import { Members } from '../members.ts';
import { parseTimestamp } from '../../../host/common/timestamps.ts';

const LONGEST_KEY = 128;
const LONGEST_TEXT = 1024;
const MOST_TAGS = 10;
const MOST_USD = 1e6;
const MICRO = 1e6;
const MOST_DAYS_BACK = 35;
const MEMBERS = ['idempotency_key', 'account', 'key_id', 'usd', 'model', 'provider', 'tags', 'note', 'at'] as const;

/** What the body of `POST /admin/spend` says. */
export interface WrittenEntry {
  readonly idempotencyKey: string;
  readonly account: string | undefined;
  readonly keyId: string | undefined;
  readonly micro: number;
  readonly model: string;
  readonly provider: string;
  readonly tags: readonly string[];
  readonly note: string;
  /** Unix milliseconds; `undefined` for now. */
  readonly at: number | undefined;
}

/** Reads it, and throws for the first member that is wrong. */
export function readEntry(body: JsonObject, now: number): WrittenEntry {
  const unknown = Object.keys(body).filter((name) => !MEMBERS.some((member) => member === name));
  if (unknown.length > 0)
    throw invalidRequest(`${unknown.map((name) => quoted(name)).join(', ')}: there is no such member`);
  const members = new Members(body);
  const idempotencyKey = textOf(members, 'idempotency_key', LONGEST_KEY);
  if (idempotencyKey === '') throw invalidRequest(`idempotency_key must be a text of 1 to ${LONGEST_KEY} characters`);
  const [account, keyId] = [members.text('account'), members.text('key_id')];
  if ((account === undefined) === (keyId === undefined))
    throw invalidRequest('exactly one of account and key_id must be there');
  const micro = members.read('usd', microOf) ?? microOf(undefined);
  const [model, provider] = [textOf(members, 'model', LONGEST_TEXT), textOf(members, 'provider', LONGEST_TEXT)];
  const tags = tagsOf(members.texts('tags') ?? []);
  const note = textOf(members, 'note', LONGEST_TEXT);
  if (note.trim() === '') throw invalidRequest('note must be a text that is not empty');
  return { idempotencyKey, account, keyId, micro, model, provider, tags, note, at: momentOf(members.text('at'), now) };
}

/** One text for what says the same, whatever the order of its members. */
export const sameText = (entry: WrittenEntry): string =>
  JSON.stringify({ ...entry, tags: entry.tags.toSorted(), at: entry.at ?? null });

function textOf(members: Members, name: string, longest: number): string {
  const text = members.text(name) ?? '';
  if (text.length > longest) throw invalidRequest(`${name} has ${text.length} characters, the limit is ${longest}`);
  return text;
}

/** Whole micro-dollars. */
function microOf(value: unknown): number {
  const micro = typeof value === 'number' ? Math.round(value * MICRO) : Number.NaN;
  if (micro !== 0 && Math.abs(micro) <= MOST_USD * MICRO && micro / MICRO === value) return micro;
  const shown = isFields(value) ? 'an object' : quoted(value);
  throw invalidRequest(
    `usd must be a number from -${MOST_USD} to ${MOST_USD} with at most six decimals that is not 0, not ${shown}`,
  );
}

function tagsOf(tags: readonly string[]): readonly string[] {
  if (tags.length > MOST_TAGS) throw invalidRequest(`tags has ${tags.length} entries, the limit is ${MOST_TAGS}`);
  const wrong = tags.find((tag) => !isTagName(tag));
  if (wrong === undefined) return tags;
  throw invalidRequest(`tags has ${quoted(wrong)}, which is not the name of a tag`);
}

function momentOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const at = parseTimestamp(text);
  if (at === undefined)
    throw invalidRequest(`at is ${quoted(text)}; use an RFC 3339 timestamp such as 2026-01-31T12:00:00Z`);
  if (at > now) throw invalidRequest('at is ahead of now');
  if (at < now - MOST_DAYS_BACK * DAY_MS) throw invalidRequest(`at is more than ${MOST_DAYS_BACK} days back`);
  return at;
}
