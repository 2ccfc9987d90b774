/**
 * Rendezvous hashing: every session has an order of its own over whatever may serve it, the same in every process and
 * whatever order the configuration has. Taking one away moves the sessions that had it first, and no other.
 * See docs/reference/affinity.md#the-order-of-a-session.
 */
import { hash } from 'node:crypto';

/** What a session, or something that may serve it, is in the score of both: the first 64 bits of a digest. */
export interface Words {
  readonly high: number;
  readonly low: number;
}

/** Another formula needs another word here: it sends sessions elsewhere, and the vendors' caches are lost. */
const PAIR = 'gw-pair-1';

/** The first 16 hexadecimal digits of the digest of texts, each after a NUL but for the first. */
export const digestOf = (...texts: readonly string[]): string => hash('sha256', texts.join('\0'), 'hex').slice(0, 16);

export const wordsOf = (digest: string): Words => ({
  high: Number.parseInt(digest.slice(0, 8), 16),
  low: Number.parseInt(digest.slice(8, 16), 16),
});

/** A target, or the route of a group by its target and upstream model, which is empty outside groups. */
export const routeWords = (target: string, upstreamModel: string): Words =>
  wordsOf(digestOf(PAIR, 'route', target, upstreamModel));

/** A credential without a label for its vendor account. */
export const credentialWords = (instance: string, name: string): Words =>
  wordsOf(digestOf(PAIR, 'credential', instance, name));

/** Credentials of a kind that have one label. */
export const accountWords = (kind: string, label: string): Words =>
  wordsOf(digestOf(PAIR, 'vendor_account', kind, label));

/** Finaliser of MurmurHash3: every bit of the result depends on every bit of the input. */
export function fmix32(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Between 0 and 1, neither included: 53 bits of two words. */
export const fraction = (high: number, low: number): number => (high * 2 ** 21 + (low >>> 11) + 0.5) / 2 ** 53;

/** Uniform in (0, 1), as if drawn for this session and this pair. */
export function drawnFor(session: Words, pair: Words): number {
  const high = fmix32(session.high ^ pair.high);
  return fraction(high, fmix32(session.low ^ pair.low ^ high));
}

/** The smallest is first. Each gets the share of sessions that its weight is of all weights. */
export const scoreOf = (session: Words, pair: Words, weight: number): number =>
  -Math.log(drawnFor(session, pair)) / weight;

/** A list by the order of a session; those without a weight are left out. On a tie the order of the list decides. */
export function rendezvous<T>(
  session: Words,
  list: readonly T[],
  read: (one: T) => { readonly words: Words; readonly weight: number },
): T[] {
  const scored: { readonly one: T; readonly score: number }[] = [];
  for (const one of list) {
    const { words, weight } = read(one);
    if (weight > 0) scored.push({ one, score: scoreOf(session, words, weight) });
  }
  scored.sort((a, b) => a.score - b.score);
  return scored.map(({ one }) => one);
}
