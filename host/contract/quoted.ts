/** UTF-16 code units of a client's text that a message shows. */
const MOST = 64;

/**
 * A client's value as messages show it: texts in quotation marks, at most 64 UTF-16 code units of them and an ellipsis; lists and
 * objects by their kind only. What a client sends may be as long as a body.
 */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > MOST ? `${value.slice(0, MOST)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
