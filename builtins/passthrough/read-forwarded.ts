import { listsModels } from '../../host/pipeline/key-access.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { GatewayError } from '../../host/contract/index.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import type { Host } from '../../host/host.ts';
import { contextOf, rawPath } from '../../host/http/context.ts';
import type { ReadRequest } from '../../host/http/surface-route.ts';
import { type Family, familyOf, RESPONSES } from './family.ts';
import { lookAhead } from './look-ahead.ts';
import { isReadableForm, modelOfForm } from './models/form-model.ts';
import { isPricedPath } from './metering/metering.ts';
import { type Named, namedBy, passesSearched } from './models/listed.ts';
import type { MemberScanner } from './models/member-scanner.ts';
import { type OpaqueBody, readOpaque, responseFields } from './models/opaque-body.ts';
import { isBound, namedIn, namedKinds } from './ownership.ts';
import { readablePaths } from './path.ts';
import type { HeldBody } from './read-ahead.ts';
import type { Taken } from './tunnel.ts';

/** One request that is sent on. */
export interface Forwarding {
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
  /** What it names that lists of models must hold; `undefined` where there is no list. */
  readonly listed: Named | undefined;
}

/** Reads of a request what must be known before it is sent on. Throws for what is not forwarded. */
export async function readForwarded(
  host: Host,
  request: IncomingMessage,
  response: ServerResponse,
  taken: Taken | undefined,
): Promise<[Forwarding, ReadRequest]> {
  const { isAdmitted, limits } = contextOf(response);
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
  const hasList = (limits !== undefined && listsModels(limits)) || bringsTags(request, host.current.config);
  const isModelWanted =
    !family.fixed &&
    (named === undefined ||
      hasList ||
      family.asks !== undefined ||
      host.current.groups !== undefined ||
      isPricedPath(paths));
  const kinds = namedKinds(family, paths, host.current.config);
  if (taken && family === RESPONSES && isBound('response', host.current.config))
    throw new GatewayError('proxy_not_supported', 'responses that belong to who made them have no WebSocket');
  const readsForm =
    (named === undefined || host.current.groups !== undefined) &&
    !family.fixed &&
    !family.asks &&
    !taken &&
    isReadableForm(request);
  const isHeldWhole = readsForm || (hasList && !passesSearched({ family, paths, request }));
  const { body, scanner, references } = await lookAhead(host.current, family, request, {
    isModelWanted,
    kinds,
    isHeldWhole,
  });
  const owned = namedIn(kinds.length > 0 ? scanner : undefined, references, request.headers['content-type'] ?? '');
  const opaque = readOpaque(body, scanner);
  const { max_tokens: ceiling, ...fields } = family.asks && scanner ? responseFields(scanner) : {};
  const model = readsForm
    ? modelOfForm(body.held, request)
    : (opaque.model ?? (taken && modelOfQuery(request.url ?? '')));
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
      api: family.api,
      bodyBytes: body.rest ? (body.declared ?? body.held.length) : body.held.length,
      unreadable: opaque.isUnreadable || taken !== undefined, // the frames of a tunnel are not read
    },
  ];
}

/** Whether tags may add a list of models to those of the key: that is known when the request begins. */
const bringsTags = ({ headers }: IncomingMessage, { money }: GatewayConfig): boolean =>
  money.tags?.header === true && headers['x-gateway-tags'] !== undefined;

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
