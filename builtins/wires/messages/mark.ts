import { type ContentPart, type Fields, isFields } from '../../../host/contract/index.ts';
import { partSpot } from '../marks.ts';
import type { Notes } from '../notes.ts';
import { WORDS } from '../words.ts';

const TYPES: readonly unknown[] = WORDS.messages['cache_control.type'];
const TTLS: readonly unknown[] = WORDS.messages['cache_control.ttl'];

/**
 * Where a cache is to end; `undefined` where nothing marks it, or only in a word of the vendor's that no list has: that is noted as lost, unless
 * the target caches by itself. Refused where it is not a mark at all. Source: @anthropic-ai/sdk 1.12.0, "CacheControlEphemeral", 2026-11-22.
 */
export function readMark({ cache_control: mark }: Readonly<Fields>, at: string, notes: Notes): Fields | undefined {
  if (mark === undefined || mark === null) return undefined;
  const path = `${at === '' ? '' : `${at}.`}cache_control`;
  if (!isFields(mark) || typeof mark['type'] !== 'string' || !isTextOrNothing(mark['ttl'])) {
    notes.refuse(`${path} must be an object with a type, and texts in it`);
    return undefined;
  }
  const { ttl, ...rest } = mark;
  const isKnown = TYPES.includes(mark['type']);
  if (isKnown && hasKnownTtl(ttl)) return mark;
  notes.history.mark(isKnown ? `${path}.ttl` : path, { kind: 'nowhere' });
  return isKnown ? rest : undefined;
}

const isTextOrNothing = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string';

const hasKnownTtl = (ttl: unknown): boolean => ttl === undefined || ttl === null || TTLS.includes(ttl);

/** A block of a turn, and the parts of what stands before it there. */
interface PlacedBlock {
  readonly block: Readonly<Fields>;
  readonly at: string;
  readonly before: ContentPart[];
}

/** Parts of a block with its mark on the last. Of a block that is left out the mark stands on what is before it in its turn, if anything is. */
export function marked(parts: ContentPart[], { block, at, before }: PlacedBlock, notes: Notes): ContentPart[] {
  const mark = readMark(block, at, notes);
  if (!mark) return parts;
  const holder = parts.length > 0 ? parts : before;
  const last = holder.at(-1);
  notes.history.mark(`${at}.cache_control`, last ? partSpot(last) : { kind: 'nowhere' });
  if (last && last['cache_control'] === undefined) holder[holder.length - 1] = { ...last, cache_control: mark };
  return parts;
}
