import type { IncomingMessage, ServerResponse } from 'node:http';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { GatewayError, type OutgoingRequest } from '../../host/contract/index.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { translatesResponses } from '../../host/config/responses-mode.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { contextOf, rawPath } from '../../host/http/context.ts';
import { bodyTooLarge } from '../../host/http/body/read-body.ts';
import { sendError } from '../../host/http/reply.ts';
import { answerExchange, type ReadRequest, type Serving } from '../../host/http/surface-route.ts';
import { forwardAttempt, type ForwardedReply } from '../../host/pipeline/attempts/forward-attempt.ts';
import { mayAsk, mayServe, notListed } from '../../host/pipeline/key-access.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { OwnedKind } from '../../host/stores/owners.ts';
import type { NamedModel } from '../../host/pipeline/named-models.ts';
import { failReply, run } from '../../host/pipeline/run.ts';
import { modelNotFound } from '../../host/pipeline/shown.ts';
import { contentRequest, filesOfBatch, requireListedLines } from './models/batch-files.ts';
import {
  addressAt,
  type Destination,
  hasResponses,
  namedDestination,
  ownerOf,
  requireForwarding,
  rootOf,
} from './destination.ts';
import { type Family, familyOf, RESPONSES } from './family.ts';
import { FrameSearch } from './models/frame-search.ts';
import { listedUpload, type Named, namedBy, passesSearched, requireListed } from './models/listed.ts';
import { meteringOf, requirePrice } from './metering/metering.ts';
import { rememberRunning } from './metering/later-usage.ts';
import { MemberScanner } from './models/member-scanner.ts';
import { MAX_READABLE, type OpaqueBody, readOpaque, refuseRepeated, responseFields } from './models/opaque-body.ts';
import {
  EARLIER,
  isBound,
  isNewBatch,
  isUpload,
  namedIn,
  namedKinds,
  type Ownership,
  ownershipOf,
  requireOwn,
  searchedUpload,
} from './ownership.ts';
import { readablePaths } from './path.ts';
import { type HeldBody, leavingBody, readAhead, type Splice } from './read-ahead.ts';
import { ReferenceCollector } from './models/reference-collector.ts';
import { forwardedHeaders } from './request-headers.ts';
import { sendForwardedReply } from './send-reply.ts';
import { answerTranslated, isTranslated } from './translation.ts';
import type { Taken } from './tunnel.ts';

/** One request that is sent on. */
interface Forwarding {
  readonly host: Host;
  readonly family: Family;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The value of `X-Provider`, where it counts. */
  readonly named: string | undefined;
  readonly body: HeldBody;
  readonly scanner: MemberScanner | undefined;
  /** The model that the request names, wherever it does. */
  readonly model: string | undefined;
  readonly taken: Taken | undefined;
  /** Its path as upstreams may read it. */
  readonly paths: readonly string[];
  /** Ids in its body that may have an owner. */
  readonly owned: ReturnType<typeof namedIn>;
  /** What it names that the key's list of models must hold; `undefined` for keys without a list. */
  readonly listed: Named | undefined;
}

/** Sends a request on to a provider, and its answer back. `taken` is the connection of a request for another protocol. */
export async function forwardRequest(
  host: Host,
  request: IncomingMessage,
  response: ServerResponse,
  taken?: Taken,
): Promise<void> {
  let forwarding: Forwarding;
  let read: ReadRequest;
  try {
    [forwarding, read] = await readRequest(host, request, response, taken);
    if (await isAnsweredAsChat(forwarding)) return;
    forwarding = withoutEnvelopes(forwarding);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    sendError(response, error, host.redactor);
    return;
  }
  const serving = servingOf(forwarding);
  try {
    await answerExchange(host, forwarding.family.surface, read, response, serving);
  } finally {
    if (serving.exchange) rememberRunning(serving.exchange, host);
    forwarding.body.rest?.return(undefined).catch(() => {}); // what was not read is left to be read in vain
  }
}

/** Whether a request of `/v1/responses` was translated, because its target has another API. Nothing else of that API is. */
async function isAnsweredAsChat({
  host,
  family,
  request,
  response,
  named,
  model,
  body,
  taken,
}: Forwarding): Promise<boolean> {
  const generation = host.current;
  if (
    !family.asks ||
    !generation ||
    !isTranslated(generation, { named, model, limits: contextOf(response).principal?.limits ?? {} })
  )
    return false;
  if (family !== RESPONSES)
    throw new GatewayError(
      'proxy_not_supported',
      'the provider of this model has no such request, and it cannot be translated',
    );
  if (taken) throw new GatewayError('proxy_not_supported', 'a response that is translated has no WebSocket');
  await answerTranslated({ host, generation, request, response, body, named });
  return true;
}

/** What only this gateway understands is cut out of a request that goes on as it is. */
function withoutEnvelopes(forwarding: Forwarding): Forwarding {
  const { host, family, body } = forwarding;
  const held =
    family.asks && !body.rest && host.current && translatesResponses(host.current.config)
      ? host.hooks.cleanForwarded.call(body.held)
      : undefined;
  if (!held) return forwarding;
  const scanner = new MemberScanner(NAMES);
  scanner.push(held);
  return { ...forwarding, body: { held, rest: undefined, declared: held.length }, scanner };
}

async function readRequest(
  host: Host,
  request: IncomingMessage,
  response: ServerResponse,
  taken: Taken | undefined,
): Promise<[Forwarding, ReadRequest]> {
  const { isAdmitted, principal } = contextOf(response);
  if (!isAdmitted) throw new GatewayError('authentication_required', 'this route needs a credential');
  if (!host.current) throw new GatewayError('upstream_unavailable', 'the gateway is not configured');
  if (request.method === 'TRACE')
    throw new GatewayError(
      'method_not_supported',
      "TRACE is not supported: its answer would show the gateway's credential",
    );
  const paths = readablePaths(rawPath(request));
  const family = familyOf(paths);
  const header = family.fixed ? undefined : request.headers['x-provider'];
  const named = header === undefined || header === '' ? undefined : String(header);
  const hasList = principal?.limits?.models !== undefined;
  const isModelWanted = !family.fixed && (named === undefined || hasList || family.asks !== undefined);
  const kinds = namedKinds(family, paths, host.current.config);
  if (taken && family === RESPONSES && isBound('response', host.current.config))
    throw new GatewayError('proxy_not_supported', 'responses that belong to who made them have no WebSocket');
  const isHeldWhole = hasList && !passesSearched({ family, paths, request });
  const { body, scanner, references } = await lookAhead(host.current, family, request, {
    isModelWanted,
    kinds,
    isHeldWhole,
  });
  const owned = namedIn(kinds.length > 0 ? scanner : undefined, references, request.headers['content-type'] ?? '');
  const opaque = readOpaque(body, scanner);
  const { max_tokens: ceiling, ...fields } = family.asks && scanner ? responseFields(scanner) : {};
  const model = opaque.model ?? (taken && modelOfQuery(request.url ?? ''));
  const forwarding = {
    host,
    family,
    request,
    response,
    named,
    body,
    scanner,
    model,
    taken,
    paths,
    owned,
    listed: hasList ? namedBy({ family, paths, request }, body, host.current) : undefined,
  };
  return [
    forwarding,
    {
      request: {
        ...shownRequest(forwarding, opaque),
        ...fields,
        ...(ceiling !== undefined && family.asks !== 'count' && { max_tokens: ceiling }),
      },
      streaming: family === RESPONSES && scanner?.found.get('stream')?.value === true,
      bodyBytes: body.rest ? (body.declared ?? body.held.length) : body.held.length,
      unreadable: opaque.isUnreadable || taken !== undefined, // the frames of a tunnel are not read
    },
  ];
}

/** The model that a request for WebSocket names. Throws for a second one: gateway and upstream might read different ones. */
function modelOfQuery(url: string): string | undefined {
  const query = url.indexOf('?');
  const [model, ...more] = query < 0 ? [] : new URLSearchParams(url.slice(query)).getAll('model');
  if (more.length > 0) throw invalidRequest('the query holds "model" twice');
  return model === '' ? undefined : model;
}

/** What plugins and logs see. A request that names its provider has no model, but for those whose model is rewritten. */
function shownRequest({ named, family, model }: Forwarding, { request }: OpaqueBody): ReadRequest['request'] {
  const { model: _found, ...rest } = request;
  return model === undefined || (named !== undefined && !family.asks) ? rest : { ...rest, model };
}

const NAMES = ['model', 'max_output_tokens', 'stream', 'user', EARLIER];

/** What of a body must be seen before it leaves. */
interface Sought {
  readonly isModelWanted: boolean;
  readonly kinds: readonly OwnedKind[];
  readonly isHeldWhole: boolean;
}

/** Holds as much of the body as must be seen before it leaves. */
async function lookAhead(
  generation: Generation,
  family: Family,
  request: IncomingMessage,
  { isModelWanted, kinds, isHeldWhole }: Sought,
): Promise<{ body: HeldBody; scanner: MemberScanner | undefined; references: ReferenceCollector | undefined }> {
  const { maxRequestBytes, plugins, services } = generation;
  const isInspected = plugins.inspected.has(family.surface);
  const isSearched = isModelWanted || isInspected || kinds.length > 0;
  const references = kinds.includes('file') ? new ReferenceCollector() : undefined;
  const scanner = isSearched ? new MemberScanner(NAMES, references) : undefined;
  const declared = Number(request.headers['content-length'] ?? Infinity);
  const isSearchedThrough = family.asks !== undefined && translatesResponses(generation.config);
  const isSearchedWhole = kinds.length > 0 || (family.asks !== undefined && plugins.needsBody.has(family.surface)); // what is looked for may stand behind everything else
  const wants = (held: number): boolean => {
    if (isHeldWhole && held > maxRequestBytes) throw bodyTooLarge();
    if (isHeldWhole) return true;
    if (!scanner || (scanner.isMalformed && !isInspected)) return false;
    const isSmall = held <= MAX_READABLE && (isInspected || family.asks !== undefined || declared <= MAX_READABLE);
    const isSought = !scanner.isOver && ((isModelWanted && !scanner.found.has('model')) || isSearchedWhole);
    if (isSought && held > maxRequestBytes) throw bodyTooLarge();
    return isSmall || isSought || (isSearchedThrough && held <= maxRequestBytes);
  };
  const single = [...(isModelWanted ? ['model'] : []), ...(kinds.includes('response') ? [EARLIER] : [])];
  const see =
    scanner &&
    ((piece: Buffer): void => {
      scanner.push(piece);
      if (single.length > 0) refuseRepeated(scanner, single);
    });
  return {
    body: await readAhead(request, { maxBytes: family.isUncapped ? Infinity : maxRequestBytes, services, wants, see }),
    scanner,
    references,
  };
}

/** Keeps the exchange that it serves. */
interface ForwardServing extends Serving {
  exchange: LiveExchange | undefined;
}

function servingOf(forwarding: Forwarding): ForwardServing {
  let reply: ForwardedReply | undefined;
  let outgoing: OutgoingRequest | undefined;
  let root = '';
  let ownership: Ownership | undefined;
  let body = forwarding.body;
  const serving: ForwardServing = {
    exchange: undefined,
    run: async (exchange, generation) => {
      serving.exchange = exchange;
      if (forwarding.family.asks === 'count') {
        exchange.isCounting = true;
        exchange.measured.costUsd = 0;
      }
      let destination: Destination;
      try {
        destination = resolve(forwarding, exchange, generation);
        root = rootOf(destination.provider);
        ownership = ownershipOf(askedBy(forwarding, exchange), generation.config);
        if (ownership) await requireOwn(ownership, forwarding.host.stores.owners.value);
        body = listedBody(searchedBody(forwarding, ownership, generation.config), forwarding, exchange, generation);
      } catch (cause) {
        throw await failReply(exchange, cause, generation);
      }
      return run(exchange, generation, async () => {
        const { taken, family } = forwarding;
        requirePrice(forwarding, exchange, destination, generation);
        outgoing = outgoingRequest(
          { ...forwarding, body },
          exchange,
          destination,
          ownership?.told !== undefined ||
            ownership?.isList === true ||
            meteringOf(forwarding, exchange, generation, forwarding.host) !== 'none',
        );
        await requireListedFiles(forwarding, outgoing, destination, exchange, generation);
        reply = await forwardAttempt(
          exchange,
          {
            ...destination,
            request: outgoing,
            upgrade: taken && 'websocket',
            isTimedToHeaders: family.isTimedToHeaders,
          },
          generation,
        );
        return undefined;
      });
    },
    send: async (_read, exchange, generation, response) => {
      const { taken, host, listed } = forwarding;
      const frames =
        listed && taken
          ? new FrameSearch(generation.maxRequestBytes, refusing(forwarding, exchange, generation))
          : undefined;
      const metering = meteringOf(forwarding, exchange, generation, host);
      if (reply && outgoing)
        await sendForwardedReply(
          { reply, before: outgoing, root, ownership, metering, taken, host, frames },
          exchange,
          generation,
          response,
        );
    },
  };
  return serving;
}

/** A body that is not JSON may hold what names files, as the lines of a batch do. */
function searchedBody(
  { body, request, taken, host }: Forwarding,
  ownership: Ownership | undefined,
  config: GatewayConfig,
): HeldBody {
  const isSearched =
    ownership &&
    isBound('file', config) &&
    !taken &&
    hasBytes(body) &&
    isUpload(request.method ?? '', request.headers['content-type'] ?? '');
  return isSearched ? searchedUpload(body, ownership.owner, host.stores.owners.value) : body;
}

const hasBytes = ({ held, rest }: HeldBody): boolean => held.length > 0 || rest !== undefined;

/** The same for what a key with a list of models uploads. */
function listedBody(body: HeldBody, forwarding: Forwarding, exchange: LiveExchange, generation: Generation): HeldBody {
  if (!forwarding.listed || !hasBytes(body) || !passesSearched(forwarding)) return body;
  return listedUpload(body, forwarding.request, refusing(forwarding, exchange, generation));
}

/** Why the caller may not name these models, if it may not. */
const refusing =
  ({ host }: Forwarding, { principal }: LiveExchange, { config: { aliases } }: Generation) =>
  (named: readonly NamedModel[]): GatewayError | undefined =>
    notListed(principal?.limits ?? {}, named, aliases, host.redactor);

function askedBy(
  { family, paths, request, owned }: Forwarding,
  { principal }: LiveExchange,
): Parameters<typeof ownershipOf>[0] {
  return { family, paths, method: request.method ?? '', owner: principal?.id ?? '', named: owned };
}

/** A batch of a key with a list of models runs no file that names others, no matter who has uploaded it. */
async function requireListedFiles(
  forwarding: Forwarding,
  { headers }: OutgoingRequest,
  destination: Destination,
  exchange: LiveExchange,
  generation: Generation,
): Promise<void> {
  const { listed, paths, body } = forwarding;
  if (!listed || !isNewBatch(paths) || !hasBytes(body)) return;
  for (const id of filesOfBatch(body.held, listed.models.length)) {
    const content = await forwardAttempt(
      exchange,
      { ...destination, request: contentRequest(id, destination, headers), isTimedToHeaders: true },
      generation,
    );
    await requireListedLines(content, refusing(forwarding, exchange, generation));
  }
}

/** Finds the one target, and refuses what the key may not have. */
function resolve(forwarding: Forwarding, exchange: LiveExchange, generation: Generation): Destination {
  const { host, family, named, model, body, taken, listed, paths, request } = forwarding;
  const { aliases } = generation.config;
  const limits = exchange.principal?.limits ?? {};
  const meant = model === undefined ? undefined : Object.hasOwn(aliases, model) ? (aliases[model] ?? model) : model;
  if (exchange.model !== '' && meant !== undefined) exchange.model = meant;
  const hold = (): void => {
    if (listed)
      requireListed(
        listed,
        limits,
        { family, paths, request, hasBody: hasBytes(body) || taken !== undefined },
        generation,
      );
    if (family.asks && !mayAsk(limits, meant ?? '', aliases)) throw modelNotFound(model ?? '', host.redactor);
  };
  if (family.fixed) {
    const fixed = allowed(family.fixed(host, generation));
    hold();
    return fixed;
  }
  if (meant === undefined && named === undefined && family.asks) throw invalidRequest('model is required');
  if (meant === undefined && named === undefined)
    throw new GatewayError(
      'provider_not_resolved',
      'name a provider in the header X-Provider, or a model in a JSON body',
    );
  const found =
    named === undefined
      ? ownerOf(host, generation, meant ?? '', (target) => mayServe(limits, target.virtualKey))
      : allowed(namedDestination(host, generation, named));
  hold();
  const { module } = found.provider;
  requireForwarding(found, family.asks ? hasResponses(found) : module.passthrough === true);
  return found;

  function allowed(destination: Destination): Destination {
    if (mayServe(limits, destination.target.virtualKey)) return destination;
    throw new GatewayError('provider_not_found', 'this key may not use the provider');
  }
}

function outgoingRequest(
  { family, request, response, body, scanner, taken, listed }: Forwarding,
  exchange: LiveExchange,
  { target, provider }: Destination,
  isRead: boolean,
): OutgoingRequest {
  const headers = forwardedHeaders(request, contextOf(response), isRead);
  if (listed && taken) delete headers['sec-websocket-extensions']; // compressed frames cannot be looked through
  const leaving = leavingBody(
    body,
    family.asks ? modelSplice(scanner, target.upstreamModel(exchange.model)) : undefined,
  );
  if (leaving.length !== undefined && leaving.body !== undefined) headers['content-length'] = String(leaving.length);
  return {
    method: request.method ?? 'GET',
    url: addressAt(provider, request.url ?? '/v1/'),
    headers,
    body: taken ? undefined : leaving.body,
  };
}

/** The model as the provider knows it, where that is not what the client wrote. */
function modelSplice(scanner: MemberScanner | undefined, model: string): Splice | undefined {
  const found = scanner?.found.get('model');
  if (!found || model === '' || typeof found.value !== 'string' || found.value === model) return undefined;
  return { start: found.start, end: found.end, bytes: Buffer.from(JSON.stringify(model)) };
}
