/**
 * What stands between the host and the functions of a provider. They are called in place, each inside a `try` of its caller: what
 * they throw, and what is wrong with what they return, becomes a `ModuleFault` here.
 */
import {
  type Discovery,
  type DiscoveredModel,
  GatewayError,
  isFields,
  type ProviderFault,
  type WireReply,
  type WireRequest,
} from '../contract/index.ts';
import { headersProblem } from './headers.ts';
import { faultIn, ModuleFault, type ModuleRef } from './module-fault.ts';
import { refusePromise } from './thenable.ts';

/** What a provider cannot express is its refusal, and goes on as it is; anything else is its own fault, and the request's next target may do better. */
export function providerError(module: ModuleRef, functionName: string, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('routing_error', 'the gateway could not complete the request', {
    cause: new ModuleFault(module, functionName, thrown),
  });
}

/** Whether a provider's own code failed before anything was sent. */
export function isOfProvider(error: GatewayError): boolean {
  return error.code === 'routing_error' && faultIn(error)?.module.kind === 'provider';
}

/**
 * A provider's own fault, to be logged whatever follows. A shipped one says with a plain error that the vendor's answer is of no use, which
 * is the vendor's.
 */
export function ownFault(error: GatewayError | undefined): ModuleFault | undefined {
  const fault = error && faultIn(error);
  if (fault?.module.kind !== 'provider') return undefined;
  const isPlain =
    (fault.cause as Error).constructor === Error ||
    fault.cause instanceof SyntaxError ||
    fault.cause instanceof RangeError;
  return isPlain && fault.module.file === undefined ? undefined : fault;
}

const PATH = /^(?:\/|https?:\/\/[^/])[\x21-\x7e\x80-\xff]*$/;

/** What a translator made of a request, if the host can send it. */
export function checkedWire(wire: unknown): WireRequest {
  if (!isFields(wire)) {
    refusePromise(wire);
    throw new Error('it returned no request: { path, body }');
  }
  const { path, headers, body, form, ignored, bounded } = wire;
  if (typeof path !== 'string') {
    refusePromise(wire);
    throw new Error('it returned no path');
  }
  if (path !== '' && !PATH.test(path))
    throw new Error(
      `its path ${JSON.stringify(path)} is not one: it begins with / or is a whole address, and holds no blanks`,
    );
  if (headers !== undefined) requireHeaders(headers);
  if (body !== undefined && typeof body !== 'string' && (typeof body !== 'object' || body === null))
    throw new Error('its body is neither an object nor a text nor bytes');
  if (form !== undefined && !Array.isArray(form)) throw new Error('its form is not a list of parts');
  if (ignored !== undefined && !Array.isArray(ignored)) throw new Error('ignored is not a list of names');
  if (bounded !== undefined && !Array.isArray(bounded)) throw new Error('bounded is not a list of names');
  return wire as unknown as WireRequest;
}

/** Headers that a provider adds, if they may leave. */
export function requireHeaders(headers: unknown): Readonly<Record<string, string>> {
  const problem = headersProblem(headers);
  if (problem !== undefined) throw new Error(problem);
  return headers as Readonly<Record<string, string>>;
}

/** A reply that `converse` made, if it is one. */
export function checkedReply(reply: unknown): WireReply {
  if (!isFields(reply)) throw new Error('it returned no reply: { status, headers, body }');
  const { status, headers, body } = reply;
  if (!Number.isInteger(status) || Number(status) < 100 || Number(status) > 599)
    throw new Error('its status is not one of HTTP');
  if (!isFields(headers)) throw new Error('its headers are not an object');
  const isBody =
    body instanceof Uint8Array || (typeof body === 'object' && body !== null && Symbol.asyncIterator in body);
  if (!isBody) throw new Error('its body is neither bytes nor an iterable of bytes');
  return reply as unknown as WireReply;
}

/** What `toFault` read of an error body, if it has the types it must have. */
export function checkedFault(read: unknown): ProviderFault | undefined {
  refusePromise(read);
  if (read === undefined) return undefined;
  if (!isFields(read)) throw new Error('it returned no fault: { message, status, … }');
  const { message, status, retryAfterMs } = read;
  if (message !== undefined && typeof message !== 'string') throw new Error('its message is not a text');
  if (status !== undefined && !(Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599))
    throw new Error('its status is not one of an error');
  if (retryAfterMs !== undefined && !(typeof retryAfterMs === 'number' && retryAfterMs >= 0))
    throw new Error('its retryAfterMs is not a number of milliseconds');
  return read;
}

/** The live models that a provider reads out of a list. */
export function discovered(module: ModuleRef, discovery: Discovery, body: unknown): readonly DiscoveredModel[] {
  try {
    const models: unknown = discovery.read(body);
    refusePromise(models);
    if (!Array.isArray(models) || !models.every(isFields)) throw new Error('it returned no list of models: [{ id }]');
    return models as unknown as readonly DiscoveredModel[];
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : new ModuleFault(module, 'discovery.read', thrown);
  }
}
