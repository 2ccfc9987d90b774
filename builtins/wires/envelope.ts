import { type Fields, isFields, tryParseJson } from '../../host/contract/index.ts';

/**
 * Reasoning of one vendor on its way through a client that speaks the wire of another: items of `reasoning_details` in the place
 * where that wire has a signature, which clients return unread. See docs/reference/ingress.md#reasoning-of-other-vendors.
 */
const MARK = 'gw1:';
const MARK_BASE64 = Buffer.from(MARK).toString('base64').slice(0, 5);
const MAX_BYTES = 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** An empty list marks reasoning that has no signature: its own vendor needs none, and no other one may see it. */
export function sealEnvelope(items: readonly Readonly<Fields>[]): string {
  return Buffer.from(MARK + JSON.stringify(items)).toString('base64');
}

/** Longest envelope that is opened again, in characters. */
const MAX_LENGTH = Math.ceil(MAX_BYTES / 3) * 4;

/** Whether an envelope comes back as one: larger ones are taken for ordinary signatures. */
export const isOpenable = (envelope: string): boolean => envelope.length <= MAX_LENGTH;

/** The items of an envelope; `undefined` for anything else, which is then an ordinary signature of its wire. */
export function openEnvelope(text: unknown): readonly Fields[] | undefined {
  if (
    typeof text !== 'string' ||
    !text.startsWith(MARK_BASE64) ||
    !isOpenable(text) ||
    text.length % 4 !== 0 ||
    !BASE64.test(text)
  )
    return undefined;
  const inside = Buffer.from(text, 'base64');
  if (inside.length > MAX_BYTES) return undefined;
  const decoded = inside.toString('utf8');
  if (!decoded.startsWith(MARK)) return undefined;
  const items = tryParseJson(decoded.slice(MARK.length));
  return Array.isArray(items) && items.every(isFields) ? items : undefined;
}
