import { Buffer } from 'node:buffer';
import { failedAnswer, type GatewayError, type ProviderFault, tryParseJson, type WireReply } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';
import type { MessagesVariant } from './variant.ts';

/** How the vendor's messages name what opt-in failover recognises. Source: platform.claude.com, "Errors" and "Context windows", 2026-11-21. */
const REASONS: readonly (readonly [RegExp, NonNullable<ProviderFault['reason']>])[] = [
  [/(prompt|input) is too long|maximum context|context (window|limit|length)/i, 'context_length'],
  [/content filtering policy|content policy|usage policy/i, 'content_policy'],
];

/**
 * The vendor's own error body; `undefined` for another, which the host reads as it reads the usual ones. `isNamed` takes
 * only those that call themselves an error of this wire. See docs/reference/providers.md#error-bodies.
 */
export function messagesFault(reply: WireReply, isNamed = false): ProviderFault | undefined {
  if (!(reply.body instanceof Uint8Array)) return undefined;
  const body = tryParseJson(Buffer.from(reply.body).toString('utf8'));
  const error = isFields(body) && (!isNamed || body['type'] === 'error') ? body['error'] : undefined;
  if (!isFields(error) || typeof error['message'] !== 'string' || error['message'].trim() === '') return undefined;
  const message = error['message'].trim();
  return { message, reason: reasonOf(message) };
}

function reasonOf(message: string): ProviderFault['reason'] {
  return REASONS.find(([pattern]) => pattern.test(message))?.[1];
}

/** Whether an event of a stream is an error: some servers of the vendor's wire send one without its type. */
export const isErrorEvent = ({ type, error }: Fields): boolean =>
  type === 'error' || (type === undefined && (isFields(error) || typeof error === 'string'));

/** The error of a stream that fails while it runs. The client gets the vendor's message; only the log names the provider. See docs/providers.md#claude-models. */
export function streamError({ error }: Fields, { label }: MessagesVariant): GatewayError {
  const { type, message } = isFields(error) ? error : { type: undefined, message: error };
  const text = [type, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return failedAnswer(text || 'the provider failed while answering', {
    cause: new Error(`${label}: ${text}`),
    reason: reasonOf(text),
  });
}

/** Two answers on one stream: which event belongs to which cannot be known. */
export function secondMessage({ label }: MessagesVariant): GatewayError {
  const text = 'a second message began on the stream';
  return failedAnswer(text, { cause: new Error(`${label}: ${text}`) });
}
