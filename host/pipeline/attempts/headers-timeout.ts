import type { Connection, WireRequest } from '../../contract/index.ts';
import type { Attempt } from './attempt.ts';

/** Milliseconds to the headers of a whole answer, at least. Decision 0006. */
const HEADERS_TIMEOUT_MS = 120_000;

/** An answer of this many tokens may take an hour, and none more. Source: `@anthropic-ai/sdk` 1.12.0, "calculateNonstreamingTimeout", 2026-11-22. */
const TOKENS_OF_AN_HOUR = 128_000;
const HOUR_MS = 3_600_000;

/**
 * Milliseconds to wait for the headers of a whole answer. They come when it is written, so the wait grows with what it
 * may hold: one that is cut off would be tried again, and paid twice. What the provider's module says counts as it is.
 */
export function headersTimeoutMs({ headersTimeoutMs: own }: Connection, answerTokens: number | undefined): number {
  if (own !== undefined) return own;
  if (answerTokens === undefined || !(answerTokens > 0)) return HEADERS_TIMEOUT_MS;
  return Math.max(
    HEADERS_TIMEOUT_MS,
    Math.ceil((HOUR_MS * Math.min(answerTokens, TOKENS_OF_AN_HOUR)) / TOKENS_OF_AN_HOUR),
  );
}

/** Milliseconds to wait for the headers of an attempt's whole answer. */
export function headersTimeoutOf({ turn, provider: { module } }: Attempt, wire: WireRequest): number {
  return headersTimeoutMs(module.connection, answerTokensOf(wire, turn.request));
}

/** Most tokens of the answer, as translator or client say; `undefined` for what asks for no answer of tokens. */
export function answerTokensOf(
  { answerTokens, body }: WireRequest,
  request: Readonly<Record<string, unknown>>,
): number | undefined {
  if (answerTokens !== undefined || body === undefined) return answerTokens;
  const ceiling = request['max_completion_tokens'] ?? request['max_tokens'];
  return typeof ceiling === 'number' ? ceiling : undefined;
}
