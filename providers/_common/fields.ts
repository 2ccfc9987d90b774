import { GatewayError, inPart, isFields, tryParseJson, type UnaryReply } from 'gw/contract';

export { countOf, isFields } from 'gw/contract';

export type Fields = Readonly<Record<string, unknown>>;

/** Whether a field has a value; `null` and the empty text count as absent. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Fields without those that are missing or `null`; zeros, empty texts and `false` stay. */
export function withoutAbsent(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/** UTF-16 code units of a message that holds what the client sent. */
const MAX_REFUSAL = 512;

/** What the caller has to change: answered with 400, and nothing is sent. */
export const invalidRequest = (message: string): GatewayError =>
  new GatewayError('invalid_request', inPart(message, MAX_REFUSAL));

/** The JSON object of a reply. Throws when it is another value. */
export function objectOf(reply: UnaryReply): Fields {
  const body = reply.json();
  if (!isFields(body)) throw new Error('the answer is not a JSON object');
  return body;
}

/**
 * The arguments of a tool call whose wire holds them as an object, as the text of the common wire. Some models write the text
 * of the object instead. Source: GitHub vercel/ai, release @ai-sdk/anthropic 4.0.95, 2026-11-02.
 */
export function argumentsOf({ input }: Fields): string {
  if (typeof input === 'string' && isFields(tryParseJson(input))) return input;
  return JSON.stringify(isFields(input) ? input : {});
}

/** The JSON object that a text holds, empty for anything else: such events and arguments are ignored. */
export function fieldsIn(text: string): Fields {
  const value = tryParseJson(text);
  return isFields(value) ? value : {};
}

/** Adds items at the end of a list. There may be more of them than a call takes arguments. */
export function addAll<T>(list: T[], more: readonly T[]): void {
  for (const item of more) list.push(item);
}

/** The objects of a list. Throws when there is no list, nothing in it, or something else. */
export function itemsOf(value: unknown, what: string): readonly Fields[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isFields))
    throw new Error(`the answer holds no list of ${what}`);
  return value;
}

/** Fields of a request that a wire with a closed set of them leaves behind, for `ignored`. */
export function fieldsBeside(request: Fields, known: readonly string[]): string[] {
  return Object.keys(request).filter((name) => !known.includes(name) && isGiven(request[name]));
}
