import { type ChatMessage, type Fields, isFields, isText } from '../contract/index.ts';

/**
 * The format of `reasoning_details` items of the Responses API: thoughts that their vendor sealed, and the phase of a message.
 * Source: openrouter.ai, "Reasoning tokens", formats of `reasoning_details`, 2026-11-22.
 */
export const RESPONSES_FORMAT = 'openai-responses-v1';

/** Whether an item is one of that format. */
export const isOfResponses = ({ format }: Readonly<Fields>): boolean => format === RESPONSES_FORMAT;

/** Whether an item says which phase a stretch of the answer's text is of. It holds no thoughts. */
export const isPhase = (item: Readonly<Fields>): boolean => isOfResponses(item) && !isText(item['data']);

/** Whether an item stands in front of a stretch of the answer's text. */
export const isBeforeText = (item: Readonly<Fields>): boolean =>
  isOfResponses(item) && isText(item['data']) && typeof item['start'] === 'number';

/** Whether an item is of that format, and was made at this provider as far as it says. */
export const isSealedBy = (provider: string, { format, origin }: { format?: unknown; origin?: unknown }): boolean =>
  format === RESPONSES_FORMAT && (origin === undefined || origin === null || origin === provider);

/** Whether an earlier turn brings back thoughts that this provider's Responses API has sealed. */
export function hasSealedThoughts(messages: readonly ChatMessage[], provider: string): boolean {
  return messages.some(
    ({ role, reasoning_details: details }) =>
      role === 'assistant' &&
      Array.isArray(details) &&
      details.some((item: unknown) => isFields(item) && isText(item['data']) && isSealedBy(provider, item)),
  );
}
