import { errorMessage } from '../common/error-message.ts';
import { type ErrorCode, GatewayError } from '../contract/index.ts';

/** An error as it travels between processes: what a client may read of one of the gateway's, of any other its message. */
export interface WireError {
  readonly message: string;
  readonly code?: ErrorCode;
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly reason?: string | undefined;
  /** A word that callers tell errors by, where they do: the trouble of a tool call, for example. */
  readonly word?: string | undefined;
}

/** An error that another process threw, and its word. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly word: string | undefined;

  constructor(message: string, word: string | undefined) {
    super(message);
    this.word = word;
  }
}

export function toWireError(error: unknown): WireError {
  if (error instanceof GatewayError) {
    const { message, code, status, retryAfterMs, reason } = error;
    return { message, code, status, retryAfterMs, reason };
  }
  const word = error instanceof Error && 'trouble' in error ? String(error.trouble) : undefined;
  return { message: errorMessage(error), word };
}

export function fromWireError({ message, code, status, retryAfterMs, reason, word }: WireError): Error {
  if (code === undefined) return new RemoteError(message, word);
  return new GatewayError(code, message, {
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(reason !== undefined && { reason }),
  });
}
