import type { Fields } from '../fields.ts';

/**
 * Marks what only the vendor of this API reads, among the items of `reasoning_details`. Source: openrouter.ai, "Reasoning
 * tokens", formats of `reasoning_details`, 2026-11-22.
 */
export const FORMAT = 'openai-responses-v1';

/** What stands between two messages, and between two parts of thoughts, where they become one text. */
export const BLANK_LINE = '\n\n';

/** Characters that may wait: arguments for a name or the end of a wrapper, sealed thoughts for what follows them. More than a model can be expected to write. */
export const MAX_WAITING = 16 * 1024 * 1024;

/** Thoughts that only their vendor can read. `place` is the call or the text that they belong to. */
export function sealedItem(index: number, data: string, origin: string | undefined, place: Fields): Fields {
  return {
    type: 'reasoning.encrypted',
    format: FORMAT,
    index,
    ...(origin !== undefined && { origin }),
    data,
    ...place,
  };
}

/** What a stretch of the answer's text is: a word on the way, or the answer. `start` and `end` are UTF-16 code units of the joined text. */
export function phaseItem(index: number, start: number, end: number, phase: string): Fields {
  return { type: 'reasoning.phase', format: FORMAT, index, start, end, phase };
}
