import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import { errorWords } from '../errors.ts';

const TYPES = 'type.googleapis.com/google.rpc';

/** An error as this wire writes it. See docs/reference/ingress.md#errors. */
export function errorBody(failure: ClientFailure): object {
  const { code, status, retryAfterS } = failure;
  const message = messageOf(failure);
  const details: object[] = [{ '@type': `${TYPES}.ErrorInfo`, reason: code.toUpperCase(), domain: 'gateway' }];
  if (retryAfterS !== undefined) details.push({ '@type': `${TYPES}.RetryInfo`, retryDelay: `${retryAfterS}s` });
  return { error: { code: status, message, status: errorWords(failure).gemini, details } };
}

/** How the vendor says it. Source: ai.google.dev, answers of `generateContent`, 2026-11-26. */
const OVERFLOW = 'The input token count exceeds the maximum number of tokens allowed';
const KNOWN_OVERFLOW = /input token count .{0,40}exceeds the maximum number of tokens allowed/i;

function messageOf({ message, reason, tokens, isVerbatim }: ClientFailure): string {
  if (reason !== 'context_length' || isVerbatim === true || KNOWN_OVERFLOW.test(message)) return message;
  const { asked, limit } = tokens ?? {};
  return asked !== undefined && limit !== undefined
    ? `The input token count (${asked}) exceeds the maximum number of tokens allowed (${limit}).`
    : `${OVERFLOW}: ${message}`;
}
