import type { ErrorCode, GatewayError, UpstreamFault } from '../../contract/index.ts';

/** What an operator reads as the reason, by the code of an error of the gateway itself. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_request: 'malformed',
  unsupported_parameter: 'malformed',
  streaming_not_supported: 'malformed',
  provider_not_resolved: 'path',
  invalid_proxy_path: 'path',
  proxy_not_supported: 'path',
  resource_not_found: 'path',
  model_not_found: 'no_such_model',
  provider_not_found: 'no_such_model',
  method_not_supported: 'wrong_method',
  request_too_large: 'too_large',
  insufficient_scope: 'scope',
  access_blocked: 'blocked',
  insufficient_quota: 'key_budget',
  rate_limit_exceeded: 'key_rpm',
  provider_saturated: 'saturated',
  upstream_unavailable: 'unroutable',
  gateway_timeout: 'deadline',
  stream_timeout: 'upstream_down',
  stream_error: 'upstream_down',
  client_canceled: 'client_left',
  invalid_api_key: 'key_revoked',
  store_unavailable: 'store_away',
  not_implemented: 'not_configured',
  batch_not_configured: 'not_configured',
  responses_not_configured: 'not_configured',
};

/** What a reason is found by. */
export interface ReasonedBy {
  readonly error: GatewayError | undefined;
  readonly forwardedStatus: number | undefined;
  /** The plugin that refused. */
  readonly rejectedBy: string | undefined;
  /** What of a key's lists refused the request. */
  readonly refused: string | undefined;
  readonly attempts: number;
}

/** Why a request ended as it did, in a word for operators; `undefined` of what went well. See docs/admin.md#outcomes. */
export function reasonOf({ error, forwardedStatus, rejectedBy, refused, attempts }: ReasonedBy): string | undefined {
  if (!error) return forwardedStatus === undefined || forwardedStatus < 400 ? undefined : ofStatus(forwardedStatus, 1);
  if (error.reason !== undefined) return error.reason;
  if (error.fault) return ofFault(error.fault, attempts);
  if (rejectedBy !== undefined) return `plugin:${rejectedBy}`;
  if (refused !== undefined && error.code === 'model_not_found') return refused;
  if (attempts > 0 && error.code === 'upstream_unavailable') return 'circuit_open';
  return BY_CODE[error.code] ?? 'gateway_fault';
}

function ofFault({ kind, status }: UpstreamFault, attempts: number): string {
  if (kind === 'reply') return 'upstream_reply';
  return ofStatus(kind === 'status' ? (status ?? 500) : 500, attempts);
}

function ofStatus(status: number, attempts: number): string {
  if (status === 401 || status === 403) return 'upstream_credential';
  if (status === 429) return 'upstream_rate';
  if (status >= 400 && status < 500) return 'upstream_refused';
  return attempts > 1 ? 'retries_spent' : 'upstream_down';
}
