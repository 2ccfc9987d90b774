/** The last steps of a request before it is sent: address, serialised body, what `outgoing` adds, and the credential. */
import { GatewayError, type OutgoingRequest, type WireRequest } from '../../contract/index.ts';
import { ModuleFault, type ModuleRef } from '../../boundary/module-fault.ts';
import { providerError, requireHeaders } from '../../boundary/provider-boundary.ts';
import { isThenable } from '../../boundary/thenable.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import { withInstanceHeaders } from '../../upstream/egress/instance-headers.ts';
import { credentialError } from '../../upstream/fault.ts';
import { encodeForm } from '../../upstream/multipart.ts';
import { callEventual, type Eventual } from '../eventual.ts';
import { type Departure, type GenerationHooks, isTapped } from '../hooks.ts';
import type { Attempt } from './attempt.ts';

/** The request as it leaves: absolute address, serialised body, credential last. A promise only where a tap or the credential must be waited for. */
export function outgoingRequest(
  attempt: Attempt,
  wire: WireRequest,
  hooks: Pick<GenerationHooks, 'outgoing'>,
): Eventual<OutgoingRequest> {
  return leavingRequest(attempt, unsignedRequest(attempt.provider, wire), wire, hooks);
}

function unsignedRequest(
  { root, ref }: ConnectedProvider,
  { method = 'POST', path, headers, body, form }: WireRequest,
): OutgoingRequest {
  const url = path.startsWith('/') ? root + path : path;
  if (form) {
    const encoded = encodeForm(form);
    return { method, url, headers: { ...headers, ...encoded.headers }, body: encoded.body };
  }
  const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
  return {
    method,
    url,
    headers: isJson ? { 'content-type': 'application/json', ...headers } : { ...headers },
    body: isJson ? jsonOf(body, ref) : body,
  };
}

/** What holds itself, or a bigint, has no JSON. */
function jsonOf(body: object, ref: ModuleRef): string {
  try {
    return JSON.stringify(body);
  } catch (thrown) {
    throw providerError(ref, 'toUpstream', thrown);
  }
}

/** Which requests get the credential: those to the provider's own place, unless something else is said. */
export type Trust = Pick<WireRequest, 'path' | 'withCredential'>;

/** The last changes to a request: what `outgoing` adds, then the credential. A promise only where a tap or the credential must be waited for. */
export function leavingRequest(
  attempt: Attempt,
  request: OutgoingRequest,
  trust: Trust,
  { outgoing }: Pick<GenerationHooks, 'outgoing'>,
): Eventual<OutgoingRequest> {
  if (!isTapped(outgoing)) return withCredential(attempt, trust, request);
  const departure: Departure = { attempt, request };
  const leave = (): Eventual<OutgoingRequest> => withCredential(attempt, trust, departure.request);
  const waiting = callEventual(outgoing, departure);
  return waiting instanceof Promise ? waiting.then(leave) : leave();
}

function withCredential(
  attempt: Attempt,
  { path, withCredential: isSaid }: Trust,
  unsigned: OutgoingRequest,
): Eventual<OutgoingRequest> {
  const { authorize, credentials, basicAuthorization, root, ref, trace, egress } = attempt.provider;
  const isTrusted = isSaid ?? (path.startsWith('/') || new URL(unsigned.url).origin === new URL(root).origin);
  if (!isTrusted) return unsigned;
  const request = egress?.headers
    ? { ...unsigned, headers: withInstanceHeaders(unsigned.headers, egress.headers) }
    : unsigned;
  const add = (authorization: unknown): OutgoingRequest => {
    const headers: Record<string, string> = { ...request.headers, ...requireHeaders(authorization) };
    if (basicAuthorization !== undefined) headers['authorization'] ??= basicAuthorization;
    return { method: request.method, url: request.url, headers, body: request.body };
  };
  const refuse = (thrown: unknown): never => {
    throw thrown instanceof GatewayError ? thrown : credentialError(new ModuleFault(ref, 'authorize', thrown));
  };
  try {
    const made: unknown = trace
      ? trace.run({ module: ref, exchangeId: attempt.exchange.id }, authorize, request, credentials)
      : authorize(request, credentials);
    return isThenable(made) ? attempt.cancellation.race(Promise.resolve(made)).then(add).catch(refuse) : add(made);
  } catch (cause) {
    return refuse(cause);
  }
}
