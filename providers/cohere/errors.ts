import { parseJson, type ProviderFault, type WireReply } from 'gw/contract';
import { isFields } from 'gw/common-wire';

/** Only the message says that a prompt is too long. The message about a ceiling above the model's own begins alike and is something else. */
const TOO_LONG = /^too many tokens: (?!max tokens must be)/i;

/** `{message}` and nothing else. Source: Cohere API reference, "Errors", 2026-11-21. */
export function toFault({ body }: WireReply): ProviderFault {
  const parsed: unknown = body instanceof Uint8Array ? parseJson(new TextDecoder().decode(body)) : undefined;
  const given = isFields(parsed) ? parsed['message'] : undefined;
  const message = typeof given === 'string' && given.trim() !== '' ? given.trim() : undefined;
  return { message, ...(message !== undefined && TOO_LONG.test(message) && { reason: 'context_length' }) };
}
