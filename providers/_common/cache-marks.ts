import type { ChatRequest } from 'gw/contract';
import { type Fields, isFields, isGiven } from './fields.ts';

/** The mark that asks for a cache to end behind what holds it. */
export const cacheMarkOf = ({ cache_control: mark }: Fields): Fields | undefined => (isFields(mark) ? mark : undefined);

/** The mark of a tool: clients put it beside the function, or into it. */
export function toolMark(tool: Fields): Fields | undefined {
  const { function: declared } = tool;
  return cacheMarkOf(tool) ?? (isFields(declared) ? cacheMarkOf(declared) : undefined);
}

/** Whether a request asks for a cache: on a message, which counts as on its last part, on a part or on a tool. */
export function hasCacheMark({ messages, tools }: ChatRequest): boolean {
  const isMarked = (holder: unknown): boolean => isFields(holder) && isGiven(holder['cache_control']);
  return (
    (tools ?? []).some((tool) => isMarked(tool) || isMarked(tool.function)) ||
    messages.some((message) => isMarked(message) || (Array.isArray(message.content) && message.content.some(isMarked)))
  );
}
