import { type ContentPart, type Fields, isFields } from '../../../host/contract/index.ts';
import { partSpot } from '../marks.ts';
import type { Notes } from '../notes.ts';

const TTLS: ReadonlySet<unknown> = new Set([undefined, null, '5m', '1h']);

/** Where a cache is to end; `undefined` where nothing marks it. Noted where the vendor would refuse the mark. Source: @anthropic-ai/sdk 1.12.0, "CacheControlEphemeral", 2026-11-22. */
export function readMark({ cache_control: mark }: Readonly<Fields>, at: string, notes: Notes): Fields | undefined {
  if (mark === undefined || mark === null) return undefined;
  if (isFields(mark) && mark['type'] === 'ephemeral' && TTLS.has(mark['ttl'])) return mark;
  notes.refuse(`${at === '' ? '' : `${at}.`}cache_control must be of the type ephemeral, with a ttl of 5m or 1h`);
  return undefined;
}

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
