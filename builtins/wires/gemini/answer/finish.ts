const WORDS: ReadonlyMap<string, string> = new Map([
  ['', 'STOP'],
  ['stop', 'STOP'],
  ['tool_calls', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content_filter', 'SAFETY'],
]);

/** Reasons of the vendor's that the common format keeps as they are. See docs/reference/ingress.md#why-an-answer-ended. Source: types of `@google/genai` 3.1.0, "FinishReason", 2026-11-23. */
const KEPT = new Set([
  'OTHER',
  'LANGUAGE',
  'IMAGE_OTHER',
  'NO_IMAGE',
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'CONTINUATION',
  'MALFORMED_RESPONSE',
]);

/** Why an answer ended, in the words of this wire. */
export function finishWord(reason: string | null | undefined): string {
  const word = reason ?? '';
  return WORDS.get(word) ?? (KEPT.has(word) ? word : 'OTHER');
}
