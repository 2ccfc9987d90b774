import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ExchangeOutcome,
  GatewayError,
  isText,
  type RawReply,
  type RequestOf,
  type Surface,
  SURFACES,
} from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import { CredentialEnded } from '../stores/credential-ended.ts';
import { nextTurn } from '../common/next-turn.ts';
import type { Generation } from '../generation/generation.ts';
import type { Lease, Slot } from '../generation/slot.ts';
import type { DrawnOrder } from '../pipeline/exchange-state.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import { isTapped } from '../pipeline/hooks.ts';
import { LiveExchange } from '../pipeline/live-exchange.ts';
import { run } from '../pipeline/run.ts';
import type { AnswerStream } from '../answer/stream.ts';
import type { ClientRequest } from '../wire/client-request.ts';
import type { ClientWire } from '../wire/client-wire.ts';
import type { ForwardedApi } from '../wire/forwarded-api.ts';
import { checkCodedBytes } from './body/coding.ts';
import { type JsonObject, parseJsonObject } from './body/json-body.ts';
import { contextOf } from './context.ts';
import { LateStart } from './late-start.ts';
import { closeRaw } from './raw-reply.ts';
import { readBody } from './body/read-body.ts';
import { sendError } from './reply.ts';
import { sendExchangeError, sendReply, sendStream } from './send-answer.ts';

/** What a surface's reader makes of one HTTP request. */
export interface ReadRequest {
  readonly request: RequestOf<Surface>;
  readonly streaming: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly unreadable?: boolean;
  /** Bytes of a body that is forwarded, as far as they are known before it leaves. */
  readonly bodyBytes?: number | undefined;
  /** The client opted out of usage on its stream. */
  readonly stripsUsage?: boolean;
  /** The target that the request names: no other one may answer. */
  readonly pinned?: string;
  /** What the strategy has said of its model already. */
  readonly drawn?: DrawnOrder;
  /** Writes this one answer in the place of the wire of the path. */
  readonly wire?: ClientWire;
  /** The body as the client sent it, where it speaks another wire than the common one. */
  readonly clientRequest?: ClientRequest | undefined;
  /** The body of the answer; what the client's wire makes of the reply, unless said. */
  readonly write?: (exchange: LiveExchange) => unknown;
  /** The API that the request belongs to, where it is forwarded as one of a wire of its own. */
  readonly api?: ForwardedApi | undefined;
  /** Gives back what reading took: temporary files. Runs once, when the exchange is over. */
  readonly dispose?: () => void;
}

/** What was read of a request that is forwarded, with the surface that its reader has found. */
export interface ReadForwarded extends ReadRequest {
  readonly surface: Surface;
}

/** Where a surface reads from. */
export interface RequestSource {
  readonly request: IncomingMessage;
  /** `max_request_bytes` of the configuration that serves. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** The model that the body names: set as soon as it is read, for the record of a request that is refused. */
  askedModel: string | undefined;
}

export interface SurfaceRoute {
  readonly surface: Surface;
  readonly path: string;
  /** Whether it serves a POST; unless said every one. The others, and other methods then, go on to what takes the path after it. */
  readonly takes?: (request: IncomingMessage) => boolean;
  /** Reads the body, checks it and brings it into the common wire. Throws `GatewayError` on the first fault. */
  read(source: RequestSource): Promise<ReadRequest>;
  /** How it is answered; through the pipeline, by the route, unless said. */
  readonly serving?: Serving;
}

/** What serving a surface needs of the host. */
export interface SurfaceHost {
  readonly services: PipelineServices;
  readonly slot: Slot;
}

/** A surface whose body is one JSON object. */
export function jsonBody(
  read: (body: JsonObject, request: IncomingMessage, bytes: Buffer) => ReadRequest,
): SurfaceRoute['read'] {
  return (source) => {
    const { request, maxBytes, clock } = source;
    return readBody(request, maxBytes, clock).then((bytes) => {
      checkCodedBytes(request, bytes);
      return readJson(bytes, (body) => {
        if (isText(body['model'])) source.askedModel = body['model'];
        return read(body, request, bytes);
      });
    });
  };
}

/** Parses and reads a body; a promise for a large one. */
export function readJson<T>(bytes: Buffer, read: (body: JsonObject) => T): T | Promise<T> {
  return bytes.length < LARGE_BYTES ? read(parseJsonObject(bytes)) : readInTurns(bytes, read);
}

/** From this size on a body is read step by step. */
const LARGE_BYTES = 256 * 1024;

/** Others are served between its arrival, its parsing, its checks and its way through the pipeline. */
async function readInTurns<T>(bytes: Buffer, read: (body: JsonObject) => T): Promise<T> {
  await nextTurn();
  const body = parseJsonObject(bytes);
  await nextTurn();
  const found = read(body);
  await nextTurn();
  return found;
}

/** How an exchange comes to its answer, and how an answer that is not a stream of chunks is sent. */
export interface Serving {
  run(exchange: LiveExchange, generation: Generation): Promise<AnswerStream | undefined>;
  /** A promise only for bytes that still arrive. */
  send(
    read: ReadRequest,
    exchange: LiveExchange,
    generation: Generation,
    response: ServerResponse,
  ): Promise<void> | undefined;
}

/** Through the pipeline, by the route. */
const ROUTED: Serving = { run, send: sendReply };

/** Reads the request and answers it; a fault of the request is answered at once. */
export function serveSurface(
  host: SurfaceHost,
  route: SurfaceRoute,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | undefined {
  const { current } = host.slot;
  const refuse = (error: unknown): void => {
    if (!(error instanceof GatewayError)) throw error;
    sendError(response, error, host.services.redactor);
  };
  const context = contextOf(response);
  const { isAdmitted } = context;
  if (isAdmitted && current) {
    const source: RequestSource = {
      request,
      maxBytes: current.maxRequestBytes,
      clock: host.services.clock,
      askedModel: undefined,
    };
    return route.read(source).then(
      (read) => answerExchange(host, route.surface, read, response, route.serving),
      (error: unknown) => {
        context.askedModel = source.askedModel;
        refuse(error);
      },
    );
  }
  refuse(
    isAdmitted
      ? new GatewayError('upstream_unavailable', 'the gateway is not configured', { reason: 'draining' })
      : new GatewayError('authentication_required', 'this route needs a credential'),
  );
  return undefined;
}

/** Ties an exchange to its client: it is cancelled when the connection closes, when its credential has ended, or when the process must end. */
function openExchange(surface: Surface, read: ReadRequest, lease: Lease, response: ServerResponse): LiveExchange {
  const context = contextOf(response);
  const { id, trace, principal, limits, arrivedAt, wire } = context;
  context.hasExchange = true;
  const exchange = new LiveExchange({
    id,
    trace,
    surface,
    principal,
    limits,
    arrivedAt,
    source: context,
    wire: read.wire ?? wire,
    pinned: read.pinned,
    isPlaced: lease.generation.isPlaced,
    clock: lease.generation.services.clock,
    metadata: read.metadata ?? {},
    request: read.request,
    streaming: read.streaming,
    unreadable: read.unreadable ?? SURFACES[surface].isUnreadable ?? false,
    bodyBytes: read.bodyBytes,
    clientHeaders: response.req.headers,
    api: read.api,
    stripsUsage: read.stripsUsage ?? false,
    clientRequest: read.clientRequest,
  });
  if (read.drawn) exchange.routing.drawn = read.drawn;
  lease.onEnd = (cause) => {
    exchange.cancellation.cancel(cause);
    const hasEvents = exchange.streaming && !SURFACES[surface].isForwarded;
    if (response.headersSent && !hasEvents) response.destroy(); // the client must see that no more follows, however slowly it takes what has left
  };
  context.onEnded = lease.onEnd;
  if (exchange.streaming && context.kind === 'unary') context.kind = 'stream';
  const onClose = (): void => {
    if (!response.writableFinished)
      exchange.cancellation.cancel(new GatewayError('client_canceled', 'the client closed the connection'));
  };
  if (response.closed) onClose(); // it left while its upload was read
  else context.onClose = onClose;
  return exchange;
}

/** Leases the generation, opens the exchange, has it answered, and ends it: once, whatever happens. */
export async function answerExchange(
  host: SurfaceHost,
  surface: Surface,
  read: ReadRequest,
  response: ServerResponse,
  serving: Serving = ROUTED,
): Promise<void> {
  const context = contextOf(response);
  const { ended } = context; // while its body was read
  const lease = ended ? undefined : host.slot.lease();
  if (!lease) {
    read.dispose?.();
    const { model } = read.request as { readonly model?: unknown };
    if (isText(model)) context.askedModel = model;
    sendError(
      response,
      ended ?? new GatewayError('upstream_unavailable', 'the gateway is shutting down', { reason: 'draining' }),
      host.services.redactor,
    );
    return;
  }
  const { generation } = lease;
  const exchange = openExchange(surface, read, lease, response);
  if (isTapped(generation.hooks.opened)) generation.hooks.opened.call(exchange);
  const { openAfterMs } = generation.streamTimes;
  const early =
    openAfterMs !== undefined && exchange.streaming && serving === ROUTED
      ? new LateStart(exchange, generation, response, openAfterMs)
      : undefined;
  exchange.delivery.early = early;
  try {
    const stream = await serving.run(exchange, generation);
    early?.stop();
    const sending = stream
      ? sendStream(exchange, stream, generation, response)
      : serving.send(read, exchange, generation, response);
    if (sending) await sending;
  } catch (error) {
    exchange.error ??=
      error instanceof GatewayError
        ? error
        : new GatewayError('internal_error', 'the gateway failed', { cause: error });
    early?.stop();
    if (!(error instanceof GatewayError)) throw error;
    if (error.code !== 'client_canceled') sendExchangeError(exchange, error, generation, response);
  } finally {
    exchange.end();
    try {
      generation.hooks.finished.call(exchange, outcomeOf(exchange));
    } finally {
      const { telling } = exchange.plugins;
      if (telling) void telling.finally(() => lease.release());
      else lease.release();
      if (SURFACES[exchange.surface].isRaw) closeRaw(exchange.reply as RawReply | undefined);
      read.dispose?.();
    }
  }
}

/** A stream that a plugin ended after its start was delivered in part: an error, and no rejection (observability 2.4). */
function outcomeOf({
  error,
  plugins: { rejectedBy },
  measured: { ttftMs },
  delivery: { isSent },
}: LiveExchange): ExchangeOutcome {
  if (!error) return 'success';
  if (error.code === 'client_canceled' || error instanceof CredentialEnded) return 'client_canceled';
  const isWithheld = rejectedBy !== undefined && error.code !== 'plugin_error' && ttftMs === undefined && !isSent;
  return isWithheld ? 'rejected' : 'error';
}
