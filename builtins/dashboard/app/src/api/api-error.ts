import { isFields, textAt } from '../lib/fields.ts';
import { readJson } from '../lib/json.ts';

/** Why a call failed, in words to show. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Status of the answer; 0 when there was none. */
  readonly status: number;
  /** The gateway's stable code, when it gave one. */
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const unreachable = (): ApiError =>
  new ApiError(0, 'The gateway cannot be reached. Check that it is running and that this address is right.');
export const tooLate = (seconds: number): ApiError =>
  new ApiError(504, `The gateway did not answer within ${seconds} seconds.`);

/** What the body of a refusal says, else its status. */
export function errorOf(status: number, body: string): ApiError {
  const parsed = readJson(body);
  const error = isFields(parsed) && isFields(parsed['error']) ? parsed['error'] : {};
  return new ApiError(
    status,
    textAt(error, 'message') || `The gateway answered with status ${status}.`,
    textAt(error, 'code'),
  );
}

/** The words of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Whether a write met a newer version than the one it was made of. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

/** Whether the store or feature behind a route is not configured. */
export function isNotConfigured(error: unknown): boolean {
  return error instanceof ApiError && error.status === 501;
}
