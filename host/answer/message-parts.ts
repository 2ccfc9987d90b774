import { type Fields, isFields } from '../contract/json/fields.ts';

/** Text of a string or of a list of parts; `undefined` when there is none. Thoughts among the parts are not its text. */
export function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  return content
    .map((part: unknown) =>
      isFields(part) && typeof part['text'] === 'string' && !isThought(part) ? part['text'] : '',
    )
    .join('');
}

const isThought = ({ type }: Fields): boolean => type === 'thinking' || type === 'reasoning';

/**
 * Thoughts among the parts of the content are `reasoning_content`. Sources: Mistral documentation, "Reasoning", parts of
 * the type `thinking`; Databricks documentation, "Query reasoning models", parts of the type `reasoning`; 2026-11-22.
 */
export function takeThoughts(message: Fields, parts: readonly unknown[]): void {
  const thoughts = parts
    .filter(isFields)
    .filter(isThought)
    .map(({ thinking, summary, text }) => contentText(thinking ?? summary ?? text) ?? '')
    .join('');
  if (thoughts === '') return;
  const { reasoning_content: known } = message;
  message['reasoning_content'] = typeof known === 'string' ? known + thoughts : thoughts;
}

/** `reasoning` is accepted as another name of `reasoning_content`; only the latter goes on, as text. True on any change. */
export function takeReasoning(message: Fields): boolean {
  const { reasoning, reasoning_content: given } = message;
  let isChanged = false;
  if (given !== undefined && given !== null && typeof given !== 'string') {
    const text = contentText(given);
    if (text === undefined) delete message['reasoning_content'];
    else message['reasoning_content'] = text;
    isChanged = true;
  }
  if (!('reasoning' in message)) return isChanged;
  delete message['reasoning'];
  const text = contentText(reasoning);
  if (text !== undefined && !message['reasoning_content']) message['reasoning_content'] = text;
  return true;
}
