import { type ChatMessage, type ChatRequest, contentTexts } from 'gw/contract';
import { invalidRequest } from './fields.ts';

/**
 * A conversation as one text, for models that complete text: a line `role: text` per message, then `assistant: `.
 * Throws a 400 for parts that are not text, in any turn. See docs/reference/providers.md#conversations-as-one-text.
 */
export function joinedConversation({ messages }: ChatRequest): string {
  messages.forEach(refuseMedia);
  return `${messages.map((message) => `${message.role}: ${wholeText(message)}\n`).join('')}assistant: `;
}

/** All texts of a message, one after another. */
export const wholeText = (message: ChatMessage): string => [...contentTexts(message)].join('');

function refuseMedia({ content }: ChatMessage, at: number): void {
  if (!Array.isArray(content)) return;
  content.forEach(({ type }: { readonly type: string }, part) => {
    if (type !== 'text' && type !== 'refusal')
      throw invalidRequest(`messages[${at}].content[${part}]: this model reads text only, not "${type}"`);
  });
}
