import type { IncomingHttpHeaders } from 'node:http';
import {
  type CallInfo,
  type ChatRequest,
  type Credentials,
  GatewayError,
  type ImagesRequest,
  isFields,
  type OutgoingRequest,
  type ParamTreatments,
  type ProviderModule,
  quoted,
  setMember,
  SURFACES,
  type TranslatedSurface,
  type Translator,
  type WireRequest,
} from '../../contract/index.ts';
import { deepFrozen } from '../../common/deep-frozen.ts';
import type { ModuleRef } from '../../boundary/module-fault.ts';
import { checkedWire, providerError } from '../../boundary/provider-boundary.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import type { Attempt } from './attempt.ts';
import { describedEntry } from '../billing/catalog-entry.ts';
import { inBodyOrder } from '../../wire/body-order.ts';
import { inClientPaths } from '../../wire/client-paths.ts';
import type { ClientRequest } from '../../wire/client-request.ts';
import { encodeForm } from '../../upstream/multipart.ts';
import type { Eventual } from '../eventual.ts';
import type { GenerationHooks } from '../hooks.ts';
import { inMatrixOrder, unsupportedError, unsupportedIn, withoutUnsupported } from './parameters.ts';
import type { PipelineServices } from '../pipeline-services.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { adaptedRequest, boundedNames, sameWireRequest, targetFacts } from './same-wire.ts';
import { leavingRequest } from './send-attempt.ts';
import { shownNames } from '../shown.ts';

/** One call as translators see it. The signal is made only for those who ask. */
export class LiveCall implements CallInfo {
  readonly model: string;
  readonly stream: boolean;
  readonly root: string;
  readonly credentials: Credentials;
  readonly exchangeId: string;
  readonly #attempt: Attempt;
  readonly #services: PipelineServices;

  constructor(attempt: Attempt, services: PipelineServices) {
    this.model = attempt.upstreamModel;
    this.stream = attempt.turn.streaming;
    this.root = attempt.provider.root;
    this.credentials = attempt.provider.credentials;
    this.exchangeId = attempt.exchange.id;
    this.#attempt = attempt;
    this.#services = services;
  }

  get maxOutputTokens(): number | undefined {
    const {
      target: { catalogProvider },
      provider: { module },
    } = this.#attempt;
    const { catalog } = this.#services;
    const own = catalog.entry(catalogProvider, this.model)?.max_output_tokens;
    return own || describedEntry(module, this.model, catalog)?.max_output_tokens || undefined;
  }

  get clientHeaders(): Readonly<Record<string, string>> | undefined {
    const {
      exchange,
      isSameWire,
      provider: {
        module: { clientHeaders: names },
      },
    } = this.#attempt;
    if (exchange.sent && !isSameWire) return undefined; // they speak of the client's own wire
    return names && exchange.clientHeaders && pickHeaders(exchange.clientHeaders, names);
  }

  get signal(): AbortSignal {
    return this.#attempt.cancellation.signal;
  }

  readonly wait = (ms: number): Promise<void> => this.#attempt.cancellation.wait(ms, this.#services.clock);
}

function pickHeaders(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) setMember(picked, name, Array.isArray(value) ? value.join(', ') : value);
  }
  return Object.keys(picked).length > 0 ? picked : undefined;
}

/** The translator that serves the exchange's surface at the attempt's provider. */
export function translatorOf(attempt: Attempt): Translator<TranslatedSurface> {
  const surface = SURFACES[attempt.exchange.surface].translator;
  const translator = surface && attempt.provider.module.translators[surface];
  if (!translator) throw new Error(`${attempt.provider.module.name} has no translator for ${attempt.exchange.surface}`); // routing has ruled it out
  return translator;
}

/** The request in the provider's wire, under the policy for what it cannot express. */
export function toWire(attempt: Attempt, call: CallInfo, generation: RunningGeneration): WireRequest {
  const { exchange, turn } = attempt;
  if (exchange.sent) return clientWire(attempt, exchange.sent, call, generation);
  if (exchange.surface === 'images')
    refuseImageFormat(attempt.provider.module, (turn.request as ImagesRequest).response_format);
  const { wire, names } = translated(attempt, turn.request as ChatRequest, call, generation);
  exchange.routing.ignoredParams = names.length > 0 ? reportIgnored(attempt, names, generation) : NO_NAMES;
  return wire;
}

/** The same for a client that speaks a wire of its own: what is not carried goes by its own paths. */
function clientWire(attempt: Attempt, sent: ClientRequest, call: CallInfo, generation: RunningGeneration): WireRequest {
  const {
    exchange,
    provider: { module },
  } = attempt;
  const same = sameWireRequest(attempt, call);
  if (same) {
    exchange.routing.translated = undefined;
    exchange.routing.ignoredParams = reportLost(attempt, same.ignored ?? NO_NAMES, generation);
    return same;
  }
  const facts = targetFacts(attempt, generation.services);
  const { request, lost } = adaptedRequest(attempt, sent, facts);
  let made: ReturnType<typeof translated>;
  try {
    made = translated(attempt, request, call, generation);
  } catch (thrown) {
    throw inClientPaths(thrown, request, { sent, facts });
  }
  const { wire, names } = made;
  const paths = inMatrixOrder(names, module.wire).flatMap((name) => sent.dialect.pathsOf(name, facts, sent.value));
  exchange.routing.ignoredParams = reportLost(attempt, [...lost, ...paths], generation);
  return wire;
}

/** What the translator makes of a request, and the fields that it cannot express. */
function translated(
  attempt: Attempt,
  given: ChatRequest,
  call: CallInfo,
  { unsupportedParams: policy, services: { log } }: RunningGeneration,
): { readonly wire: WireRequest; readonly names: readonly string[] } {
  const {
    exchange,
    turn: { withoutTools },
  } = attempt;
  const params = SURFACES[exchange.surface].isChat ? treatmentsOf(attempt, call.model) : {};
  const asked = withoutTools && params['tools'] === 'unsupported' ? (withoutTools as ChatRequest) : given;
  const unsupported = unsupportedIn(asked, params);
  const request = policy === 'drop' ? withoutUnsupported(asked, unsupported) : asked;
  const wire = wireOf(attempt, request, call);
  if (wire.bounded?.length) {
    log.warn('parameters bounded to what the provider takes', {
      target: attempt.target.virtualKey,
      params: shownNames(wire.bounded),
      trace_id: exchange.id,
    });
  }
  const names = wire.ignored?.length ? [...unsupported, ...wire.ignored] : unsupported;
  exchange.routing.translated = { request: asked, left: names };
  return { wire, names };
}

function treatmentsOf({ provider: { module, ref } }: Attempt, model: string): ParamTreatments {
  if (!module.paramsFor) return module.params;
  try {
    const params: unknown = module.paramsFor(model);
    if (isFields(params)) return params as ParamTreatments;
    throw new Error('it returned no treatments: an object by parameter');
  } catch (thrown) {
    throw providerError(ref, 'paramsFor', thrown);
  }
}

/** What the translator makes of the request. The next target gets the same one: a third-party module that changes it fails where it does. */
function wireOf(attempt: Attempt, request: ChatRequest, call: CallInfo): WireRequest {
  const { ref } = attempt.provider;
  if (ref.file !== undefined) deepFrozen(request);
  try {
    return checkedWire(translatorOf(attempt).toUpstream(request, call));
  } catch (thrown) {
    throw providerError(ref, 'toUpstream', thrown);
  }
}

const NO_NAMES: readonly string[] = Object.freeze([]);

/** Refuses, or reports, what the provider cannot express; returns the names that the client gets. */
function reportIgnored(
  { exchange, turn, target, provider: { module } }: Attempt,
  names: readonly string[],
  { unsupportedParams: policy, services: { log } }: RunningGeneration,
): readonly string[] {
  const inOrder = (order: ProviderModule['wire']): string[] => inMatrixOrder(names, order, Object.keys(turn.request));
  if (policy === 'reject') throw unsupportedError(inOrder(module.wire), module.name);
  const ignored = inOrder('common'); // only the refusal has an order by wire
  log.warn('parameters ignored by the provider', {
    target: target.virtualKey,
    params: shownNames(ignored),
    policy,
    trace_id: exchange.id,
  });
  return policy === 'warn' ? ignored : NO_NAMES;
}

/** The same for paths of the client's own body, in the order of its members. */
function reportLost(
  { exchange, target, provider: { module } }: Attempt,
  paths: readonly string[],
  { unsupportedParams: policy, services: { log } }: RunningGeneration,
): readonly string[] {
  if (paths.length === 0) return NO_NAMES;
  const lost = boundedNames(inBodyOrder(paths, exchange.sent?.value ?? {}));
  if (policy === 'reject') throw unsupportedError(lost, module.name);
  log.warn('parameters ignored by the provider', {
    target: target.virtualKey,
    params: shownNames(lost),
    policy,
    trace_id: exchange.id,
  });
  return policy === 'warn' ? lost : NO_NAMES;
}

/** Always refused, whatever the policy for parameters: formats are not converted. */
function refuseImageFormat({ name, imageFormats }: ProviderModule, format: string | null | undefined): void {
  if (!format || !imageFormats || imageFormats.includes(format)) return;
  throw new GatewayError(
    'unsupported_parameter',
    `${name} does not support: response_format ${quoted(format)}, only ${imageFormats.join(', ')}`,
  );
}

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
