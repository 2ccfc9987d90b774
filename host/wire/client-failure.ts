import { CredentialEnded } from '../stores/credential-ended.ts';
import { type ErrorCode, type FaultTokens, GatewayError, type UpstreamFault } from '../contract/index.ts';
import { NoFreeCredential } from '../upstream/credentials/no-credential.ts';
import { SpentError } from '../upstream/fault.ts';
import { classOf } from '../upstream/fault-classes.ts';

/** What a client learns of an error, before its wire gives it a form. */
export interface ClientFailure {
  readonly code: ErrorCode;
  readonly status: number;
  /** Redacted and bounded. */
  readonly message: string;
  /** What `X-Request-ID` says. */
  readonly requestId: string;
  /** What `Retry-After` says, in seconds; `undefined` where it is not sent. */
  readonly retryAfterS: number | undefined;
  /** Why an upstream refused, where it said so. */
  readonly reason?: UpstreamFault['reason'];
  /** What the upstream counted of a prompt that is too long. */
  readonly tokens?: FaultTokens;
  /** The upstream's message in the client's own wire: it stays as it is. */
  readonly isVerbatim?: boolean;
}

/** `message` is what may be shown of the error's own one. */
export function failureOf(error: GatewayError, message: string, requestId: string, isVerbatim = false): ClientFailure {
  const { code, status, fault } = error;
  return {
    code,
    status,
    message,
    requestId,
    retryAfterS: retryAfterS(error),
    ...(fault?.reason && { reason: fault.reason }),
    ...(fault?.tokens && { tokens: fault.tokens }),
    ...(isVerbatim && { isVerbatim }),
  };
}

/** An error as the last event of a stream says it: a credential that has ended breaks it off like anything else, and is not refused there. */
export function inStream(error: GatewayError): GatewayError {
  return error instanceof CredentialEnded ? new GatewayError('stream_error', error.message, { cause: error }) : error;
}

/** What clients may read of what an upstream said: nothing that is about the gateway's account. */
export function wordsOf({ message, fault }: GatewayError): string {
  return classOf(fault).isPrivate === true ? message : (fault?.message ?? message);
}

/** Tells the SDKs of Anthropic and OpenAI not to repeat what cannot succeed: name, value. See docs/reference/data-plane.md#classes-of-faults. */
export const NO_REPEAT: readonly string[] = Object.freeze(['x-should-retry', 'false']);

/** Headers of a failure whose kind says that a repeat cannot succeed. */
export const repeatHeaders = (failure: ClientFailure): readonly string[] =>
  classOf(failure).isFinal === true ? NO_REPEAT : [];

/** Words by which clients know a prompt that is too long, so that they shorten their history. Source: opencode and others that look for them, 2026-11-26. */
const KNOWN_OVERFLOW = /context length|context window|prompt is too long/i;

/** What clients of the common wire read. See docs/reference/data-plane.md#a-prompt-that-is-too-long. */
export function commonMessage({ message, reason, isVerbatim }: ClientFailure): string {
  if (reason !== 'context_length' || isVerbatim === true || KNOWN_OVERFLOW.test(message)) return message;
  return `this request exceeds the model's context window: ${message}`;
}

/** What `Retry-After` says (docs/reference/data-plane.md#retry-after): an upstream's or limiter's hint whatever the status; else 1 for 429; never for 402. */
function retryAfterS(error: GatewayError): number | undefined {
  const { code, status, retryAfterMs } = error;
  if (code === 'insufficient_quota') return undefined;
  if (retryAfterMs !== undefined && retryAfterMs > 0) return Math.ceil(retryAfterMs / 1000);
  const isUnknown = error instanceof SpentError || error instanceof NoFreeCredential;
  return status === 429 && !isUnknown ? 1 : undefined;
}
