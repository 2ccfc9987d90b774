import { type Fields, isFields } from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';

const TTLS: ReadonlySet<unknown> = new Set([undefined, null, '5m', '1h']);

/** Where a cache is to end; `undefined` where nothing marks it. Noted where the vendor would refuse the mark. Source: @anthropic-ai/sdk 1.12.0, "CacheControlEphemeral", 2026-11-22. */
export function readMark({ cache_control: mark }: Readonly<Fields>, at: string, notes: Notes): Fields | undefined {
  if (mark === undefined || mark === null) return undefined;
  if (isFields(mark) && mark['type'] === 'ephemeral' && TTLS.has(mark['ttl'])) return mark;
  notes.refuse(`${at === '' ? '' : `${at}.`}cache_control must be of the type ephemeral, with a ttl of 5m or 1h`);
  return undefined;
}
