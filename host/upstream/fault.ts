import {
  type ErrorCode,
  GatewayError,
  parseJson,
  type ProviderFault,
  type ProviderModule,
  type UpstreamFault,
  type WireReply,
} from '../contract/index.ts';
import { ModuleFault } from '../boundary/module-fault.ts';
import { checkedFault } from '../boundary/provider-boundary.ts';
import { isFields } from '../contract/json/fields.ts';
import { STATUS_CODES } from '../common/node-http.ts';
import { waitHintMs } from './wait-hint.ts';

/** Provider error codes that opt-in failover recognises, whatever the provider. */
const REASONS: ReadonlyMap<string | undefined, UpstreamFault['reason']> = new Map([
  ['context_length_exceeded', 'context_length'],
  ['content_policy_violation', 'content_policy'],
  ['content_filter', 'content_policy'],
]);

/** The error a client gets for an upstream status on a routed surface (docs/reference/data-plane.md#upstream-statuses). */
const BY_STATUS: Readonly<Record<number, { readonly code: ErrorCode; readonly message?: string }>> = {
  400: { code: 'invalid_request' },
  422: { code: 'invalid_request' },
  401: { code: 'upstream_auth_error', message: "the provider refused the gateway's credential" },
  403: { code: 'upstream_auth_error', message: "the provider refused the gateway's credential" },
  404: { code: 'model_not_found', message: 'the provider no longer offers this model' },
  408: { code: 'upstream_timeout', message: 'the provider did not answer in time' },
  504: { code: 'upstream_timeout', message: 'the provider did not answer in time' },
  429: { code: 'rate_limit_exceeded', message: "the provider's rate limit is exceeded" },
};

/** Turns a reply that is a failure into the error for it. The provider's message reaches the client for 400 and 422 only. `file` is that of a third-party provider. */
export function replyError(
  module: ProviderModule,
  reply: WireReply & { readonly body: Uint8Array },
  now: number,
  file?: string,
): GatewayError {
  const own = readOwnFault(module, reply, file);
  const said = own instanceof ModuleFault ? commonFault(reply.body) : (own ?? commonFault(reply.body));
  const status = said.status ?? reply.status;
  const row = BY_STATUS[status] ?? { code: 'upstream_error', message: 'the provider failed' };
  const message = said.message ?? STATUS_CODES[status] ?? 'the provider refused the request';
  return new GatewayError(row.code, row.message ?? message, {
    ...(row.code === 'invalid_request' && { status }),
    ...(own instanceof ModuleFault && { cause: own }),
    retryAfterMs: waitHintMs(reply.headers, now) ?? said.retryAfterMs,
    fault: { kind: 'status', status, reason: reasonOf(said, status), message },
  });
}

/** A refusal of content is one at 400 only: elsewhere its code may stand for the provider's own trouble (docs/reference/data-plane.md#failures-that-go-on-to-the-next-target). */
function reasonOf({ reason }: ProviderFault, status: number): UpstreamFault['reason'] {
  return reason === 'content_policy' && status !== 400 ? undefined : reason;
}

/** A 2xx whose body is of no use: it cannot be decoded, is too large, or holds an error. */
export function unusableReply(why: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_error', 'the provider sent an unusable answer', {
    cause,
    fault: { kind: 'reply', message: why },
  });
}

/** No credential could be made, or the request not be signed: it is never sent without. */
export function credentialError(cause: unknown): GatewayError {
  return new GatewayError('upstream_error', 'the gateway has no credential for the provider', {
    cause,
    fault: { kind: 'transport' },
  });
}

/** No response arrived: refused, reset, unresolved, or too slow. What exactly stays in the cause, for the log. */
export function transportError(cause: unknown): GatewayError {
  const { code } = cause as { code?: unknown };
  if (typeof code === 'string' && /TIMEOUT|TIMEDOUT/.test(code)) return timeoutError(cause);
  return new GatewayError('upstream_error', 'the provider could not be reached', {
    cause,
    fault: { kind: 'transport' },
  });
}

/** The provider was too slow to connect, to answer, or to send its first chunk. */
export function timeoutError(cause?: unknown): GatewayError {
  return new GatewayError('upstream_timeout', 'the provider did not answer in time', {
    cause,
    fault: { kind: 'timeout' },
  });
}

/** The provider's reading of its own error body; one that fails on this body does not hide the error itself, and goes with it as its cause. */
function readOwnFault(
  module: ProviderModule,
  reply: WireReply,
  file: string | undefined,
): ProviderFault | ModuleFault | undefined {
  if (!module.toFault) return undefined;
  try {
    return checkedFault(module.toFault(reply));
  } catch (thrown) {
    return new ModuleFault({ kind: 'provider', name: module.name, file }, 'toFault', thrown);
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

/** The message of an error body in any of the shapes vendors use; a body of another shape is never quoted. */
export function commonFault(bytes: Uint8Array): ProviderFault {
  let body: unknown;
  try {
    body = parseJson(
      Buffer.from(bytes)
        .toString('utf8')
        .replace(/^\uFEFF/, ''),
    );
  } catch {
    return {};
  }
  if (!isFields(body)) return {};
  const { error, detail } = body;
  const message =
    textOf(error) ??
    memberText(error, 'message', 'error') ??
    textOf(detail) ??
    listText(detail) ??
    memberText(detail, 'message', 'error') ??
    textOf(body['message']) ??
    wrappedText(body['message']);
  const code = (isFields(error) ? textOf(error['code']) : undefined) ?? textOf(body['code']);
  return { message, reason: REASONS.get(code) };
}

function memberText(value: unknown, ...names: readonly string[]): string | undefined {
  if (!isFields(value)) return undefined;
  for (const name of names) {
    const text = textOf(value[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Mistral wraps what its validation says of a body once more. Source: its 422 answers as printed by its callers on GitHub, read 2026-11-22. */
function wrappedText(value: unknown): string | undefined {
  return isFields(value) ? listText(value['detail']) : undefined;
}

function listText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const messages = value.map((item) => memberText(item, 'msg')).filter((text) => text !== undefined);
  return messages.length > 0 ? messages.join('; ') : undefined;
}
