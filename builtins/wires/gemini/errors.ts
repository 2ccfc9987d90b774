import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import { errorWords } from '../errors.ts';

const TYPES = 'type.googleapis.com/google.rpc';

/** An error as this wire writes it. See docs/reference/ingress.md#errors. */
export function errorBody(failure: ClientFailure): object {
  const { code, status, message, retryAfterS } = failure;
  const details: object[] = [{ '@type': `${TYPES}.ErrorInfo`, reason: code.toUpperCase(), domain: 'gateway' }];
  if (retryAfterS !== undefined) details.push({ '@type': `${TYPES}.RetryInfo`, retryDelay: `${retryAfterS}s` });
  return { error: { code: status, message, status: errorWords(failure).gemini, details } };
}
