import type { ChatMessage } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';

/** Marks an item of `reasoning_details` as this wire's own: signatures of other vendors are not sent to this one. */
export const FORMAT = 'anthropic-claude-v1';

/** Thinking text, or a piece of it, and its signature; equal `index`, equal item. */
export function thoughtItem(index: number, members: { readonly text?: string; readonly signature?: string }): Fields {
  return { type: 'reasoning.text', index, format: FORMAT, ...members };
}

/** Thinking that only the vendor can read. */
export function sealedItem(index: number, data: string): Fields {
  return { type: 'reasoning.encrypted', index, format: FORMAT, data };
}

/**
 * The thinking of an earlier turn, as the caller returned it. Items of other vendors stay behind, and so does thinking
 * without a signature: the vendor takes neither.
 */
export function thinkingBlocks({ reasoning_details: details, reasoning_content: text }: ChatMessage): Fields[] {
  if (!Array.isArray(details)) return [];
  const items = details
    .filter(isFields)
    .filter(({ format }) => format === undefined || format === null || format === FORMAT);
  const spare = items.length === 1 && typeof text === 'string' ? text : ''; // the text, where only the signature came back
  return items.flatMap((item) => thinkingBlock(item, spare));
}

function thinkingBlock(item: Fields, spare: string): Fields[] {
  const { signature, data } = item;
  if (typeof signature === 'string' && signature !== '') {
    const text = [item['text'], item['thinking']].find((value) => typeof value === 'string') ?? spare;
    return [{ type: 'thinking', thinking: text, signature }];
  }
  const isSealed = item['type'] === 'reasoning.encrypted' || item['type'] === 'redacted_thinking';
  return isSealed && typeof data === 'string' && data !== '' ? [{ type: 'redacted_thinking', data }] : [];
}
