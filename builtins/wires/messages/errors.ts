import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import { messagesType } from '../errors.ts';

/** An error as the Messages wire writes it; `type` replaces what the code stands for. See docs/reference/ingress.md#errors. */
export function errorBody(failure: ClientFailure, type: string = messagesType(failure)): object {
  const { code, requestId } = failure;
  const message = messageOf(failure);
  return { type: 'error', error: { type, message, details: { error_code: code } }, request_id: requestId };
}

/** By these words alone Claude Code knows that its history is too long, and shortens it. Source: Claude Code 2.1.197, run 2026-11-26. */
const KNOWN_OVERFLOW = /prompt is too long|input length and `max_tokens` exceed context limit/i;

function messageOf({ message, reason, tokens, isVerbatim }: ClientFailure): string {
  if (reason !== 'context_length' || isVerbatim === true || KNOWN_OVERFLOW.test(message)) return message;
  const { asked, limit } = tokens ?? {};
  return asked !== undefined && limit !== undefined
    ? `prompt is too long: ${asked} tokens > ${limit} maximum`
    : `prompt is too long: ${message}`;
}
