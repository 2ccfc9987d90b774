import { type ErrorCode, GatewayError, isText, type UpstreamFault } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';

/** What a client gets for a status. See docs/errors.md. */
const BY_STATUS: ReadonlyMap<number, readonly [code: ErrorCode, message: string]> = new Map([
  [400, ['invalid_request', 'the provider refused the request']],
  [429, ['rate_limit_exceeded', "the provider's rate limit is exceeded"]],
  [504, ['upstream_timeout', 'the provider did not answer in time']],
]);

/** The status that an error in an answer would have had at its start. Source: openai 7.57 (npm), `ResponseError`; the vendor's page "Error codes", 2026-11-26. */
const STATUSES: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/^(?:rate_limit_exceeded|insufficient_quota)$/, 429],
  [/^(?:context_length_exceeded|content_filter|content_policy_violation|data_residency_mismatch)$/, 400],
  [/^(?:bio_policy|cyber_policy|misalignment_policy_violation)$|^(?:invalid|image|unsupported)_/, 400],
  [/^(?:server_is_overloaded|slow_down|overloaded)$/, 503],
  [/^vector_store_timeout$/, 504],
];

const CONTENT =
  /^(?:content_filter|content_policy_violation|(?:bio|cyber)_policy|misalignment_policy_violation|image_content_policy_violation)$/;

/** The error that a response or an event tells: it counts as an answer of the status that its code stands for. */
export function failureOf(error: unknown): GatewayError {
  const { code: given, type, message } = isFields(error) ? error : ({ message: error } as Fields);
  const code = isText(given) ? given : isText(type) ? type : 'server_error';
  const status = STATUSES.find(([pattern]) => pattern.test(code))?.[1] ?? 500;
  const said = isText(message) ? message : code;
  const [own, general] = BY_STATUS.get(status) ?? ['upstream_error', 'the provider failed while answering'];
  return new GatewayError(own, own === 'invalid_request' && isText(message) ? message : general, {
    cause: new Error(`${code}: ${said}`),
    fault: { kind: 'status', status, message: said, reason: reasonOf(code) },
  });
}

function reasonOf(code: string): UpstreamFault['reason'] {
  if (code === 'context_length_exceeded') return 'context_length';
  return CONTENT.test(code) ? 'content_policy' : undefined;
}
