import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../../contract/index.ts';
import { failureOf } from '../../wire/client-failure.ts';
import type { Arrivals } from '../arrivals.ts';
import type { ListenerName, RequestContext } from '../context.ts';
import { hasLeftovers, isEnding } from '../body/leftovers.ts';
import { type RefusalHooks, tellRefusal } from '../door/refused.ts';
import { type Arrival, failureHeaders, type Refusal } from '../reply.ts';
import { logAccess, type ShellHost } from '../shell.ts';
import { answerSocket, takeSocket } from './socket-reply.ts';

/** A request whose connection is to speak another protocol. Shell and authentication have let it pass. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly context: RequestContext;
  /** From here on it belongs to the function that takes it; a shutdown waits for its end. */
  readonly socket: Socket;
  /** What the client sent behind its request. */
  readonly head: Buffer;
  /** Answers as plain HTTP, in the wire of the path, and ends the connection. Nothing may have been written to it. */
  readonly refuse: (refusal: Refusal) => void;
}

/** Takes a connection over: writes the 101, or refuses. What it throws is answered as a fault of the gateway. */
export type TakeUpgrade = (upgrade: Upgrade) => void;

/** Hooks of the host that an upgrade meets. */
export interface UpgradeHooks<H> extends RefusalHooks<H> {
  readonly arrived: { call(request: IncomingMessage, context: RequestContext, host: H): Arrival };
  readonly upgrade: {
    readonly taps: readonly unknown[];
    call(request: IncomingMessage, host: H): TakeUpgrade | undefined;
  };
}

/** What the listener asks of requests with an `Upgrade` header. */
export interface Upgrades {
  /** False while nothing speaks another protocol: then all such requests are served as any other, as RFC 9110 7.8 allows. */
  readonly isSpoken: boolean;
  /** Whether this request's connection leaves HTTP. */
  accepts(request: IncomingMessage): boolean;
  take(request: IncomingMessage, socket: Socket, head: Buffer): void;
}

export function createUpgrades<H extends ShellHost>(
  host: H & { readonly hooks: UpgradeHooks<H> },
  arrivals: Arrivals,
  listener: ListenerName | undefined,
): Upgrades {
  const { arrived, upgrade } = host.hooks;
  const takers = new WeakMap<IncomingMessage, TakeUpgrade>();
  return {
    isSpoken: upgrade.taps.length > 0,
    accepts: (request) => {
      if (isEnding(request.socket) || isAnswering(request.socket) || !arrivals.settle(request)) return false;
      if (!arrivals.isServed(request, listener)) return false;
      try {
        const take = upgrade.call(request, host);
        if (take) takers.set(request, take);
        return take !== undefined;
      } catch (error) {
        host.log.error('an upgrade could not be looked at', { error }); // Node's parser would let it end the process
        return false;
      }
    },
    take: (request, socket, head) => {
      takeSocket(socket);
      host.connections.hijack(socket);
      host.activity.begin();
      socket.on('close', () => host.activity.end());
      const context = arrivals.open(request, listener);
      context.kind = 'tunnel';
      socket.on('close', () => {
        tellRefusal(host, context);
        host.running.remove(context);
      });
      const refuse = (refusal: Refusal): void => refuseUpgrade(host, { request, context, socket, refusal });
      const hand = (refusal: Refusal | undefined): void => {
        if (socket.destroyed) return; // the client left while its credential was looked up
        const why = refusal ?? context.misspelling;
        if (why) refuse(why);
        else (takers.get(request) ?? passOver)({ request, context, socket, head, refuse });
      };
      const fail = (error: unknown): void => {
        host.log.error('an upgrade failed', { trace_id: context.id, error });
        if (socket.bytesWritten > 0) socket.destroy();
        else
          refuse({
            error: error instanceof GatewayError ? error : new GatewayError('internal_error', 'the gateway failed'),
          });
      };
      try {
        const arrive = (error: GatewayError | undefined): Arrival =>
          error ? { error } : arrived.call(request, context, host);
        const refusal = arrivals.inspect(request, context) ?? arrivals.limit(context);
        const arrival =
          refusal instanceof Promise
            ? refusal.then((late) => arrive(late ?? elsewhere(context)))
            : arrive(refusal ?? elsewhere(context));
        if (arrival instanceof Promise) arrival.then(hand).catch(fail);
        else hand(arrival);
      } catch (error) {
        fail(error);
      }
    },
  };
}

/** An answer to what came before has yet to leave, and must not be mixed with what another protocol sends. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: answering } = socket as { _httpMessage?: ServerResponse | null };
  return answering !== undefined && answering !== null;
}

/** Node before 24.9 asks for no opinion: once one path is upgraded, requests for all others come here too. */
function passOver({ refuse }: Upgrade): void {
  refuse({
    error: new GatewayError(
      'invalid_request',
      'this path speaks no other protocol than HTTP/1.1; ask without the Upgrade header',
    ),
  });
}

/** What the listener does not serve is not upgraded there either. */
const elsewhere = ({ isElsewhere }: RequestContext): GatewayError | undefined =>
  isElsewhere ? new GatewayError('resource_not_found', 'no route serves this path') : undefined;

interface RefusedUpgrade {
  readonly request: IncomingMessage;
  readonly context: RequestContext;
  readonly socket: Socket;
  readonly refusal: Refusal;
}

function refuseUpgrade(
  host: ShellHost,
  { request, context, socket, refusal: { error, headers = [] } }: RefusedUpgrade,
): void {
  context.refusal ??= error;
  const failure = failureOf(error, host.redactor.excerpt(error.message), context.id);
  const { contentType, body } = context.wire.error(failure);
  context.bytes = Buffer.byteLength(body);
  socket.on('data', () => hasLeftovers(socket));
  request.resume(); // a body that came with it is read in vain
  const reply = {
    status: failure.status,
    contentType,
    body,
    headers: [
      'X-Request-ID',
      context.id,
      ...context.corsHeaders,
      ...(context.protectedBy?.headers ?? []),
      ...(context.wire.headers?.(context.id) ?? []),
      ...failureHeaders(failure, context.wire),
      ...headers,
    ],
  };
  answerSocket(socket, reply, host, () => {
    if (context.address !== '') logAccess(host, request, context, failure.status);
  });
}
