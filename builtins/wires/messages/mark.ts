import { type Fields, isFields } from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';
import { WORDS } from '../words.ts';

const TYPES: readonly unknown[] = WORDS.messages['cache_control.type'];
const TTLS: readonly unknown[] = WORDS.messages['cache_control.ttl'];

/**
 * Where a cache is to end; `undefined` where nothing marks it, or only in a word of the vendor's that no list has (`lostOfMark`). Noted where it
 * is not a mark at all. Source: @anthropic-ai/sdk 1.12.0, "CacheControlEphemeral", 2026-11-22.
 */
export function readMark({ cache_control: mark }: Readonly<Fields>, at: string, notes: Notes): Fields | undefined {
  if (mark === undefined || mark === null) return undefined;
  if (!isFields(mark) || typeof mark['type'] !== 'string' || !isTextOrNothing(mark['ttl'])) {
    notes.refuse(`${at === '' ? '' : `${at}.`}cache_control must be an object with a type, and texts in it`);
    return undefined;
  }
  const { ttl, ...rest } = mark;
  if (!TYPES.includes(mark['type'])) return undefined;
  return hasKnownTtl(ttl) ? mark : rest;
}

/** What of a mark `readMark` leaves out, as a member of its holder; `undefined` where it keeps it. */
export function lostOfMark({ cache_control: mark }: Readonly<Fields>): string | undefined {
  if (!isFields(mark)) return undefined;
  if (!TYPES.includes(mark['type'])) return 'cache_control';
  return hasKnownTtl(mark['ttl']) ? undefined : 'cache_control.ttl';
}

const isTextOrNothing = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string';

const hasKnownTtl = (ttl: unknown): boolean => ttl === undefined || ttl === null || TTLS.includes(ttl);
