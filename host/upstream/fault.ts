import {
  type ErrorCode,
  GatewayError,
  type GatewayErrorOptions,
  type ProviderFault,
  type ProviderModule,
  type UpstreamFault,
  type WireReply,
} from '../contract/index.ts';
import { ModuleFault } from '../boundary/module-fault.ts';
import { checkedFault } from '../boundary/provider-boundary.ts';
import { STATUS_CODES } from '../common/node-http.ts';
import { failureIn, MAX_BODY_BYTES, readFault, readFaultBytes, type SaidFault } from './fault-body.ts';
import { classOf } from './fault-classes.ts';
import { tokensIn, waitIn } from './fault-figures.ts';
import { type FaultMeaning, type FaultSigns, isOfContent, lowered, meaningOf } from './fault-words.ts';
import { asksNoWait, waitHintMs } from './wait-hint.ts';
import { ProxyRefused } from './egress/refusals.ts';

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

/** Statuses at which a wait in the words is one until the same request may succeed. */
const WAITS: ReadonlySet<number | undefined> = new Set([429, 500, 503, 529, undefined]);

/**
 * Turns a reply that is a failure into the error for it. What the provider said reaches the client where it is about the
 * request. `file` is that of a third-party provider.
 */
export function replyError(
  module: ProviderModule,
  reply: WireReply & { readonly body: Uint8Array },
  now: number,
  file?: string,
): GatewayError {
  const own = readOwnFault(module, reply, file);
  const [cause, said] = own instanceof ModuleFault ? [own, undefined] : [undefined, own];
  const read = readFaultBytes(reply.body);
  const stated = isOfAnother(read, reply.status) ? (read.status ?? reply.status) : reply.status;
  return errorOf(
    {
      message: said?.message ?? read.message,
      codes: said?.code === undefined ? read.codes : [said.code, ...read.codes],
      param: read.param,
      status: said?.status ?? stated,
      isInside: isOfAnother(read, stated),
      reason: said?.reason,
    },
    {
      cause,
      retryAfterMs: waitHintMs(reply.headers, now) ?? said?.retryAfterMs ?? read.retryAfterMs,
      asksNoWait: asksNoWait(reply.headers, now),
    },
  );
}

/** The error for a failed reply whose body is not read: what its status alone says. */
export function statusError({ status, headers }: Pick<WireReply, 'status' | 'headers'>, now: number): GatewayError {
  const fault: UpstreamFault = { kind: 'status', status, message: phraseOf(status) };
  const waits = waitHintMs(headers, now);
  return byKind(withNoWait(fault, waits === undefined && asksNoWait(headers, now)), { retryAfterMs: waits });
}

/** What clients read of an answer that says 200 and is none. */
const UNUSABLE = 'the provider sent an unusable answer';
const BROKEN_OFF = 'the provider failed while answering';

/** The error of a whole answer that says 200 and holds a failure; `undefined` for any other. */
export function faultInAnswer(answer: unknown): GatewayError | undefined {
  const failure = failureIn(answer);
  return failure === undefined ? undefined : insideError(readFault(failure), UNUSABLE);
}

/** The error that a frame of a stream is; `undefined` for any other frame. */
export function faultInFrame(frame: unknown): GatewayError | undefined {
  const failure = failureIn(frame);
  return failure === undefined ? undefined : insideError(readFault(failure), BROKEN_OFF);
}

/** The error of an answer that is of no use: what it says in any shape of an error, if that is of a known kind. */
export function faultInUseless(answer: unknown, cause?: unknown): GatewayError | undefined {
  const error = insideError(readFault(answer), UNUSABLE, cause);
  return error.fault?.reason === undefined ? undefined : error;
}

function insideError(said: SaidFault, says: string, cause?: unknown): GatewayError {
  const { message, codes, param, status, retryAfterMs } = said;
  const isInside = status === undefined || isOfAnother(said, status);
  return errorOf({ message, codes, param, status, isInside }, { cause, retryAfterMs, says });
}

/** A service in between says 502 of whatever failed behind it: its own status tells nothing. */
const isOfAnother = ({ isRelayed }: SaidFault, status: number): boolean => isRelayed === true && status === 502;

/** What a module threw of an answer that failed while it was read, as its code and words mean it. Any other error stays as it is. */
export function classified(error: GatewayError): GatewayError {
  const { fault, cause, retryAfterMs, message: says, code } = error;
  if (fault?.message === undefined || (fault.kind !== 'reply' && fault.kind !== 'status')) return error;
  const { message, status, reason, param } = fault;
  const isStated = fault.kind === 'reply' && status !== undefined;
  const signs: Signs = {
    message,
    codes: fault.code === undefined ? [] : [fault.code],
    param,
    status,
    isInside: status === undefined,
    reason,
  };
  const making: Making = { cause, retryAfterMs, says, ...(!isStated && { code }) };
  const made = errorOf(signs, making);
  if (classOf(made.fault).quotes) return errorOf({ ...signs, message: withoutType(message) }, making);
  return isStated || made.fault?.reason !== undefined ? made : error;
}

/** A message that a client is to know again, without the vendor's type in front of it. */
const withoutType = (message: string): string => message.replace(/^\w{0,60}(?:_error|exception): /i, '');

/** What is known of a failure, and where it stood. */
interface Signs extends FaultSigns {
  /** Inside an answer, whatever the status of what it came in. */
  readonly isInside: boolean;
  readonly param?: string | undefined;
  /** What the module says that it is. */
  readonly reason?: ProviderFault['reason'];
}

interface Making {
  readonly cause?: unknown;
  readonly retryAfterMs?: number | undefined;
  readonly asksNoWait?: boolean;
  /** Code and message where neither kind nor status says which. */
  readonly code?: ErrorCode;
  readonly says?: string;
}

function errorOf(
  { message, codes, param, status: stated, isInside, reason: own }: Signs,
  making: Making,
): GatewayError {
  const at = isInside ? undefined : stated;
  // Refused content is the module's to say where content is refused at all: elsewhere its code may stand for the provider's own trouble.
  const isSaid = own !== undefined && (own !== 'content_policy' || isOfContent(at));
  const meaning: FaultMeaning | undefined = isSaid ? { reason: own } : meaningOf({ status: at, codes, message });
  const text = lowered(message ?? '');
  const status = meaning?.status ?? stated;
  const tokens = meaning?.reason === 'context_length' ? tokensIn(text) : undefined;
  const fault: UpstreamFault = {
    kind: status === undefined ? 'reply' : 'status',
    ...(status !== undefined && { status }),
    ...(meaning && { reason: meaning.reason }),
    ...withCode(meaning ? meaning.code : codes[0]),
    ...(param !== undefined && { param }),
    ...(tokens && { tokens }),
    ...(meaning?.ofRequest === true && { ofRequest: true }),
    message: message ?? phraseOf(status),
  };
  const retryAfterMs = making.retryAfterMs ?? (WAITS.has(status) ? waitIn(text) : undefined);
  const isNoWait = retryAfterMs === undefined && making.asksNoWait === true;
  return byKind(withNoWait(fault, isNoWait), { ...making, retryAfterMs }, message);
}

const withNoWait = (fault: UpstreamFault, isNoWait: boolean): UpstreamFault =>
  isNoWait ? { ...fault, asksNoWait: true } : fault;

const withCode = (code: string | undefined): Pick<UpstreamFault, 'code'> => (code === undefined ? {} : { code });

/** The error for a fault: by its kind, else by its status. `words` are what the provider said. */
function byKind(fault: UpstreamFault, { cause, retryAfterMs, code, says }: Making, words?: string): GatewayError {
  const { code: codeOf, says: ofKind, quotes } = classOf(fault);
  const options: GatewayErrorOptions = { ...(cause !== undefined && { cause }), retryAfterMs, fault };
  if (codeOf) return new GatewayError(codeOf(fault.status), (quotes && words) || (ofKind ?? UNUSABLE), options);
  if (code !== undefined || fault.status === undefined)
    return new GatewayError(code ?? 'upstream_error', says ?? UNUSABLE, options);
  const row = BY_STATUS[fault.status] ?? { code: 'upstream_error', message: 'the provider failed' };
  return new GatewayError(row.code, row.message ?? fault.message ?? phraseOf(fault.status), {
    ...options,
    ...(row.code === 'invalid_request' && { status: fault.status }),
  });
}

const phraseOf = (status: number | undefined): string =>
  (status === undefined ? undefined : STATUS_CODES[status]) ?? 'the provider refused the request';

/** A 2xx whose body is of no use: it cannot be decoded, is too large, or holds an error. */
export function unusableReply(why: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_error', UNUSABLE, {
    cause,
    fault: { kind: 'reply', message: why },
  });
}

/**
 * A 429 of an account that has spent what it may: a repeat cannot succeed, and no wait is named but that of a credential that
 * only rests.
 */
export class SpentError extends GatewayError {
  constructor({ code, message, fault, cause }: GatewayError, retryAfterMs: number | undefined) {
    const spent: UpstreamFault = { ...fault, kind: fault?.kind ?? 'status', reason: 'billing' };
    super(code, classOf(spent).says ?? message, { cause, retryAfterMs, fault: spent });
  }
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
  const message =
    cause instanceof ProxyRefused ? 'the provider cannot be reached' : 'the provider could not be reached';
  return new GatewayError('upstream_error', message, {
    cause,
    fault: { kind: 'transport' },
  });
}

/** The status with which a proxy refused the way to a provider; `undefined` for any other failure. */
export const proxyStatusOf = ({ cause }: GatewayError): number | undefined =>
  cause instanceof ProxyRefused ? cause.status : undefined;

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
  reply: WireReply & { readonly body: Uint8Array },
  file: string | undefined,
): ProviderFault | ModuleFault | undefined {
  if (!module.toFault) return undefined;
  try {
    return checkedFault(
      module.toFault(reply.body.length > MAX_BODY_BYTES ? { ...reply, body: new Uint8Array() } : reply),
    );
  } catch (thrown) {
    return new ModuleFault({ kind: 'provider', name: module.name, file }, 'toFault', thrown);
  }
}
