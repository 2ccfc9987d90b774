import { type ProviderFault, tryParseJson, type WireReply } from 'gw/contract';
import { isFields } from 'gw/common-wire';

/** Only the message says that a prompt is too long. The message about a ceiling above the model's own begins alike and is something else. */
const TOO_LONG = /^\s*too many tokens: (?!max tokens must be)/i;

/** `{message}` and nothing else, which the host reads. Source: Cohere API reference, "Errors", 2026-11-21. */
export function toFault({ status, body }: WireReply): ProviderFault | undefined {
  if (status !== 400 || !(body instanceof Uint8Array)) return undefined;
  const parsed = tryParseJson(new TextDecoder().decode(body));
  const message = isFields(parsed) ? parsed['message'] : undefined;
  return typeof message === 'string' && TOO_LONG.test(message) ? { reason: 'context_length' } : undefined;
}
