import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import { errorWords } from '../errors.ts';

/** An error as the Messages wire writes it; `type` replaces what the code stands for. See docs/reference/ingress.md#errors. */
export function errorBody(failure: ClientFailure, type: string = errorWords(failure).messages): object {
  const { code, message, requestId } = failure;
  return { type: 'error', error: { type, message, details: { error_code: code } }, request_id: requestId };
}
