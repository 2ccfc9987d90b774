import type { ErrorCode } from '../../host/contract/index.ts';
import { type ClientFailure, NO_REPEAT, repeatHeaders } from '../../host/wire/client-failure.ts';

/** What other wires call an error. */
export interface ErrorWords {
  /** `error.type` of the Messages wire. */
  readonly messages: string;
  /** `error.status` of the Gemini wire. */
  readonly gemini: string;
}

const words = (messages: string, gemini: string): ErrorWords => Object.freeze({ messages, gemini });

const REFUSED = words('invalid_request_error', 'INVALID_ARGUMENT');
const UNAUTHENTICATED = words('authentication_error', 'UNAUTHENTICATED');
const NOT_FOUND = words('not_found_error', 'NOT_FOUND');
const UNIMPLEMENTED = words('invalid_request_error', 'UNIMPLEMENTED');
const LIMITED = words('rate_limit_error', 'RESOURCE_EXHAUSTED');
const INTERNAL = words('api_error', 'INTERNAL');
const UPSTREAM = words('api_error', 'UNAVAILABLE');
const OVERLOADED = words('overloaded_error', 'UNAVAILABLE');
const LATE = words('timeout_error', 'DEADLINE_EXCEEDED');

/** By code, where the code says more than its status. See docs/reference/ingress.md#error-types. */
const BY_CODE: ReadonlyMap<ErrorCode, ErrorWords> = new Map([
  ['insufficient_quota', words('billing_error', 'FAILED_PRECONDITION')],
  ['insufficient_scope', words('permission_error', 'PERMISSION_DENIED')],
  ['access_blocked', words('permission_error', 'PERMISSION_DENIED')],
  ['method_not_supported', UNIMPLEMENTED],
  ['request_too_large', words('request_too_large', 'INVALID_ARGUMENT')],
  ['response_rejected', INTERNAL],
  ['stream_error', UPSTREAM],
  ['stream_timeout', LATE],
]);

const BY_STATUS: ReadonlyMap<number, ErrorWords> = new Map([
  [401, UNAUTHENTICATED],
  [404, NOT_FOUND],
  [429, LIMITED],
  [500, INTERNAL],
  [501, UNIMPLEMENTED],
  [502, UPSTREAM],
  [503, OVERLOADED],
  [504, LATE],
]);

/** By the kind of an upstream's failure: an upstream that is full may soon answer, and its account is not the client's. */
const BY_REASON: ReadonlyMap<ClientFailure['reason'], string> = new Map([
  ['overload', OVERLOADED.messages],
  ['billing', INTERNAL.messages],
]);

/** What the Messages wire calls an error. */
export const messagesType = (failure: ClientFailure): string =>
  BY_REASON.get(failure.reason) ?? errorWords(failure).messages;

export function errorWords({ code, status }: Pick<ClientFailure, 'code' | 'status'>): ErrorWords {
  return BY_CODE.get(code) ?? BY_STATUS.get(status) ?? (status >= 500 ? INTERNAL : REFUSED);
}

/** A repeat of the same request cannot succeed. See docs/reference/ingress.md#errors-that-a-repeat-cannot-mend. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  'insufficient_quota',
  'request_rejected',
  'response_rejected',
  'plugin_error',
  'proxy_not_supported',
  'responses_not_configured',
  'unsupported_parameter',
]);

/** Tells the SDKs of Anthropic and OpenAI not to repeat what cannot succeed: name, value. */
export function retryHeaders(failure: ClientFailure): readonly string[] {
  return FINAL.has(failure.code) ? NO_REPEAT : repeatHeaders(failure);
}
