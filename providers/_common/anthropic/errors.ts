import { Buffer } from 'node:buffer';
import { failedAnswer, type GatewayError, isText, type ProviderFault, tryParseJson, type WireReply } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';
import type { MessagesVariant } from './variant.ts';

/** How the vendor words a refusal of content, which its codes do not tell from other bad requests. Source: platform.claude.com, "Errors", 2026-11-21. */
const REFUSED = /content filtering policy|content policy|usage policy/i;

/** What the host's own reading of error bodies does not tell: that content was refused. See docs/reference/providers.md#error-bodies. */
export function messagesFault({ status, body }: WireReply): ProviderFault | undefined {
  if (status !== 400 || !(body instanceof Uint8Array)) return undefined;
  const parsed = tryParseJson(Buffer.from(body).toString('utf8'));
  const error = isFields(parsed) ? parsed['error'] : undefined;
  const message = isFields(error) ? error['message'] : undefined;
  return typeof message === 'string' && REFUSED.test(message) ? { reason: 'content_policy' } : undefined;
}

/** Whether an event of a stream is an error: some servers of the vendor's wire send one without its type. */
export const isErrorEvent = ({ type, error }: Fields): boolean =>
  type === 'error' || (type === undefined && (isFields(error) || typeof error === 'string'));

/** The error of a stream that fails while it runs. The client gets the vendor's message; only the log names the provider. See docs/providers.md#claude-models. */
export function streamError({ error }: Fields, { label }: MessagesVariant): GatewayError {
  const { type, message, details } = isFields(error) ? error : ({ message: error } as Fields);
  const text = [type, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  const code = [isFields(details) ? details['error_code'] : undefined, type].find(isText);
  return failedAnswer(text || 'the provider failed while answering', {
    cause: new Error(`${label}: ${text}`),
    ...(code !== undefined && { code }),
    ...(REFUSED.test(text) && { reason: 'content_policy' }),
  });
}

/** Two answers on one stream: which event belongs to which cannot be known. */
export function secondMessage({ label }: MessagesVariant): GatewayError {
  const text = 'a second message began on the stream';
  return failedAnswer(text, { cause: new Error(`${label}: ${text}`) });
}
