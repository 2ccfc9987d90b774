import { cacheMarkOf } from '../cache-marks.ts';
import { type Fields, isFields } from '../fields.ts';

/** Blocks that a mark may stand on. Source: platform.claude.com, "Prompt caching", 2026-11-22. */
const MARKABLE = new Set<unknown>(['text', 'image', 'document', 'tool_use', 'tool_result']);

/** Puts a mark on the last block, unless that has one. False where no block can hold it. */
export function markLast(blocks: Fields[], mark: Fields | undefined): boolean {
  if (!mark) return true;
  const last = blocks.at(-1);
  if (!last || !MARKABLE.has(last['type'])) return false;
  if (!cacheMarkOf(last)) blocks[blocks.length - 1] = { ...last, cache_control: mark };
  return true;
}

/** Most marks of a request. Source: platform.claude.com, "Prompt caching", 2026-11-22. */
const MOST = 4;

export interface MarkedBody {
  readonly tools: readonly Fields[] | undefined;
  readonly system: string | readonly Fields[] | undefined;
  readonly messages: readonly Fields[];
  /** Whether some mark had to go. */
  readonly isReduced: boolean;
}

/**
 * A request with as many marks as the vendor takes. The oldest of the conversation go first, then those of the system
 * text and of the tools: what stands at the end covers what stands before, and what stands at the start is shared.
 */
export function limitMarks({ tools, system, messages }: Omit<MarkedBody, 'isReduced'>, ownMark: unknown): MarkedBody {
  const inMessages = messages.reduce((sum, { content }) => sum + marksIn(content), 0);
  let spare = inMessages + marksIn(system) + marksIn(tools) + (isFields(ownMark) ? 1 : 0) - MOST;
  if (spare <= 0) return { tools, system, messages, isReduced: false };
  const reduced = <T>(blocks: T): T => {
    if (!Array.isArray(blocks)) return blocks;
    return blocks.map((block: Fields) => {
      if (spare <= 0 || !cacheMarkOf(block)) return block;
      spare -= 1;
      const { cache_control: _mark, ...rest } = block;
      return rest;
    }) as T;
  };
  const turns = messages.map((turn) => ({ ...turn, content: reduced(turn['content']) }));
  return { messages: turns, system: reduced(system), tools: reduced(tools), isReduced: true };
}

const marksIn = (blocks: unknown): number =>
  Array.isArray(blocks) ? blocks.filter((block: Fields) => cacheMarkOf(block)).length : 0;
