import type { ErrorCode, FaultReason, GatewayError, RequestOutcome } from '../../contract/index.ts';

/** Outcomes of codes that come without a fault of an upstream. A code that is not here is the gateway's. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, RequestOutcome>>> = {
  invalid_request: 'client',
  unsupported_parameter: 'client',
  provider_not_resolved: 'client',
  invalid_proxy_path: 'client',
  streaming_not_supported: 'client',
  model_not_found: 'client',
  provider_not_found: 'client',
  resource_not_found: 'client',
  method_not_supported: 'client',
  request_too_large: 'client',
  proxy_not_supported: 'client',
  client_canceled: 'client',
  request_rejected: 'policy',
  response_rejected: 'policy',
  insufficient_scope: 'policy',
  access_blocked: 'policy',
  invalid_api_key: 'policy', // a credential that was ended while its request ran
  insufficient_quota: 'budget',
  rate_limit_exceeded: 'rate',
  provider_saturated: 'rate',
  upstream_error: 'provider',
  upstream_auth_error: 'provider',
  upstream_timeout: 'provider',
  upstream_unavailable: 'provider',
  stream_error: 'provider',
  stream_timeout: 'provider',
  gateway_timeout: 'provider',
};

/** Codes that are the gateway's own doing as long as nothing was tried. */
const ONCE_TRIED: ReadonlySet<ErrorCode> = new Set(['gateway_timeout', 'upstream_unavailable']);
/** Statuses of an upstream by which it says that the request is wrong. */
const OF_CLIENT: ReadonlySet<number> = new Set([400, 404, 409, 413, 422]);
/** Kinds of failure that are the request's, and those that are the gateway's account's, whatever their status. */
const OF_REQUEST: ReadonlySet<FaultReason> = new Set(['context_length', 'content_policy', 'too_large']);
const OF_ACCOUNT: ReadonlySet<FaultReason> = new Set(['billing', 'model_access', 'key', 'over_rate', 'overload']);
/** Reasons of refusals by what a key may use, which the client cannot tell from a model that does not exist. */
const OF_POLICY: ReadonlySet<string> = new Set(['key_models', 'key_providers']);

/** What an outcome is found by. */
export interface EndedBy {
  readonly error: GatewayError | undefined;
  /** Status of an answer that was forwarded as it came. */
  readonly forwardedStatus: number | undefined;
  readonly reason: string | undefined;
  /** Attempts that were made. */
  readonly attempts: number;
}

/** Whose doing the end of a request was. See docs/admin.md#outcomes. */
export function outcomeOf({ error, forwardedStatus, reason, attempts }: EndedBy): RequestOutcome {
  if (reason !== undefined && OF_POLICY.has(reason)) return 'policy';
  if (!error) return outcomeOfForwarded(forwardedStatus);
  const { fault, code } = error;
  if (fault) {
    if (fault.reason !== undefined && OF_REQUEST.has(fault.reason)) return 'client';
    if (fault.reason !== undefined && OF_ACCOUNT.has(fault.reason)) return 'provider';
    return fault.kind === 'status' && fault.status !== undefined && OF_CLIENT.has(fault.status) ? 'client' : 'provider';
  }
  if (attempts === 0 && ONCE_TRIED.has(code)) return 'gateway';
  return BY_CODE[code] ?? 'gateway';
}

function outcomeOfForwarded(status = 200): RequestOutcome {
  if (status < 400) return 'ok';
  return status >= 500 || status === 401 || status === 403 || status === 429 ? 'provider' : 'client';
}
