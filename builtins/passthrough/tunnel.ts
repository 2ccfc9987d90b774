import type { ServerResponse as Response } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { GatewayError } from '../../host/contract/index.ts';
import type { Timer } from '../../host/common/clock.ts';
import { ServerResponse } from '../../host/common/node-http.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { bindContext, contextOf } from '../../host/http/context.ts';
import { linger } from '../../host/http/body/leftovers.ts';
import { SECURITY_HEADERS } from '../../host/http/reply.ts';
import { logAccess } from '../../host/http/shell.ts';
import type { Upgrade } from '../../host/http/connections/upgrades.ts';
import type { FrameSearch } from './models/frame-search.ts';
import type { ForwardedReply } from '../../host/pipeline/attempts/forward-attempt.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { asGatewayError } from '../../host/pipeline/gateway-fault.ts';
import { failReply } from '../../host/pipeline/run.ts';

/** Longest silence of both sides, and longest life. See docs/passthrough.md#websocket. */
const IDLE_MS = 15 * 60_000;
const LIFE_MS = 24 * 60 * 60_000;
/** Longest time that one side stays open after the other has ended. */
const CLOSING_MS = 10_000;

/** A client's connection that asks for another protocol. */
export interface Taken {
  readonly socket: Socket;
  /** What the client sent behind its request. */
  readonly head: Buffer;
}

/**
 * A response on a connection that Node has given away, so that whatever is not the other protocol is answered as any request
 * is. The answer is the last one on its connection.
 */
export function responseOn({ request, context, socket }: Upgrade, host: Host): Response {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  context.isLast = true;
  bindContext(response, context);
  response.on('finish', () => {
    logAccess(host, request, context, response.statusCode);
    linger(socket, host);
  });
  socket.on('close', () => {
    context.onClose?.();
  });
  return response;
}

interface Tunnel {
  readonly taken: Taken;
  readonly reply: ForwardedReply;
  readonly upstream: Duplex;
  /** Those of the upstream's 101, clean, and the gateway's own. */
  readonly headers: readonly string[];
  readonly response: Response;
  readonly host: Host;
  /** Looks through what the client sends, where its key has a list of models. */
  readonly frames: FrameSearch | undefined;
}

/** Passes bytes both ways until one side has closed. Resolves then; throws what ended it from outside. */
export async function runTunnel(
  { taken: { socket, head }, reply, upstream, headers, response, host, frames }: Tunnel,
  exchange: LiveExchange,
  generation: Generation,
): Promise<void> {
  const { clock, relayed } = generation.services;
  const context = contextOf(response);
  const end = (): void => {
    socket.destroy();
    upstream.destroy();
  };
  const stopListening = exchange.cancellation.onCancel(end);
  context.onClose = undefined; // from here on a client that closes ends the tunnel as it should
  response.detachSocket(socket);
  const idle = clock.timer(IDLE_MS, end);
  const life = clock.timer(LIFE_MS, end);
  const seen = (bytes: number): void => {
    relayed.add(bytes);
    idle.refresh();
  };
  let closing: Timer | undefined;
  let isOver = false;
  const ended = (): void => {
    if (!isOver) closing ??= clock.timer(CLOSING_MS, end);
  };
  socket.write(headOf([...SECURITY_HEADERS, 'X-Request-ID', context.id, ...context.corsHeaders, ...headers]), 'latin1');
  const mayPass = (piece: Buffer): boolean => {
    try {
      frames?.push(piece);
      return true;
    } catch (error) {
      exchange.cancellation.cancel(asGatewayError(error));
      return false;
    }
  };
  const down = pump(upstream, socket, seen, ended);
  const up = pump(socket, upstream, seen, ended, frames && mayPass);
  if (head.length > 0) up(head);
  try {
    for await (const _nothing of reply.body);
    socket.destroySoon();
  } finally {
    isOver = true; // an end may be heard of after this
    idle.cancel();
    life.cancel();
    closing?.cancel();
    stopListening();
    exchange.measured.tunnel = { bytesUp: up.bytes(), bytesDown: down.bytes() };
    exchange.measured.sentBytes = down.bytes();
  }
  const { cause } = exchange.cancellation;
  if (cause instanceof GatewayError) {
    host.log.debug('a tunnel was ended', { trace_id: exchange.id, error: cause });
    await failReply(exchange, cause, generation);
  }
}

function headOf(headers: readonly string[]): string {
  let head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  for (let at = 0; at + 1 < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return `${head}\r\n`;
}

interface Pump {
  (bytes: Buffer): void;
  readonly bytes: () => number;
}

/** What one side sends goes to the other no faster than it is taken; an end goes on as one. */
function pump(
  from: Duplex,
  to: Duplex,
  seen: (bytes: number) => void,
  ended: () => void,
  mayPass?: (piece: Buffer) => boolean,
): Pump {
  let bytes = 0;
  const pass = (piece: Buffer): void => {
    if (mayPass && !mayPass(piece)) return;
    bytes += piece.length;
    seen(piece.length);
    if (!to.destroyed && !to.writableEnded && !to.write(piece)) from.pause();
  };
  from.on('data', pass);
  to.on('drain', () => {
    seen(0);
    from.resume();
  });
  from.on('end', () => {
    to.end();
    ended();
  });
  from.on('close', () => {
    if (!to.destroyed && !to.writableEnded) to.destroy();
  });
  return Object.assign(pass, { bytes: () => bytes });
}
