import { failedAnswer, type GatewayError, isText } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';

/** The status that an error in an answer would have had at its start. Source: openai 7.57 (npm), `ResponseError`; the vendor's page "Error codes", 2026-11-26. */
const STATUSES: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/^(?:rate_limit_exceeded|insufficient_quota)$/, 429],
  [/^(?:context_length_exceeded|content_filter|content_policy_violation|data_residency_mismatch)$/, 400],
  [/^(?:bio_policy|cyber_policy|misalignment_policy_violation)$|^(?:invalid|image|unsupported)_/, 400],
  [/^(?:server_is_overloaded|slow_down|overloaded)$/, 503],
  [/^vector_store_timeout$/, 504],
];

/** The error that a response or an event tells: it counts as an answer of the status that its code stands for. What kind it is the host reads of code and words. */
export function failureOf(error: unknown): GatewayError {
  const { code: given, type, message } = isFields(error) ? error : ({ message: error } as Fields);
  const code = isText(given) ? given : isText(type) ? type : 'server_error';
  const status = STATUSES.find(([pattern]) => pattern.test(code))?.[1] ?? 500;
  const said = isText(message) ? message : code;
  return failedAnswer(said, { cause: new Error(`${code}: ${said}`), code, status });
}
