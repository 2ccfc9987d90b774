import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyMiddleware, type Plugin, type RequestHandler } from 'http-proxy-middleware';
import { GatewayError, type Log } from '../contract/index.ts';
import type { Forward } from '../http/app.ts';
import { endInStages } from '../http/body/leftovers.ts';
import { inviteBody } from '../http/body/read-body.ts';
import { contextOf, rawPath } from '../http/context.ts';
import type { ShellHost } from '../http/shell.ts';
import { sendError } from '../http/reply.ts';
import { forwardedText } from './forwarded-header.ts';

/** Milliseconds of silence of the primary: a profile runs for 300 s. */
const SILENCE_MS = 330_000;
const MOST_CONNECTIONS = 256;

/** Paths that the listener for models serves too, and the primary answers. */
const OF_PRIMARY: ReadonlySet<string> = new Set(['/mcp', '/v1/key', '/readyz', '/openapi.json']);

export interface ControlProxyDeps {
  readonly host: ShellHost & { readonly log: Log };
  readonly socketPath: string;
  /** Throws where the socket is not the primary's any more. */
  readonly check: () => void;
}

/** Sends requests of the control plane on to the primary, and its answers back as they come. See docs/workers.md. */
export function createControlProxy({ host, socketPath, check }: ControlProxyDeps): Forward {
  const expecting = new WeakSet<IncomingMessage>();
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_CONNECTIONS });
  const proxy = createProxyMiddleware({
    target: { socketPath, host: 'localhost', protocol: 'http:' },
    agent,
    changeOrigin: false,
    xfwd: false,
    proxyTimeout: SILENCE_MS,
    preserveHeaderKeyCase: true,
    ejectPlugins: true,
    plugins: [listeners(host, expecting)],
  });
  return {
    takes: (request) => {
      const path = rawPath(request);
      return !host.protection.isOfData(path) || (OF_PRIMARY.has(path) && isOwnKey(request, path));
    },
    send: (request, response) => send(request, response, { host, proxy, check, expecting }),
  };
}

/** With `X-Provider`, `/v1/key` is a path of that provider. */
const isOwnKey = ({ headers }: IncomingMessage, path: string): boolean =>
  path !== '/v1/key' || headers['x-provider'] === undefined;

interface Sending {
  readonly host: ShellHost;
  readonly proxy: RequestHandler;
  readonly check: () => void;
  /** Requests whose clients wait for an invitation before they send a body. */
  readonly expecting: WeakSet<IncomingMessage>;
}

function send(request: IncomingMessage, response: ServerResponse, { host, proxy, check, expecting }: Sending): void {
  const context = contextOf(response);
  context.forwarding = 'sent';
  const { id, address, listener } = context;
  const { headers } = request;
  // A body is invited when the primary reads it: behind the credential.
  if (headers.expect !== undefined) {
    expecting.add(request);
    delete headers.expect;
  }
  // An upgrade is not sent on; what Node's parser may have lost behind the request is not waited for.
  if (headers.upgrade !== undefined) context.isLast = true;
  delete headers.upgrade;
  delete headers.connection; // of the client's connection alone
  Object.assign(headers, { 'x-gateway-worker': forwardedText({ id, address, listener }) });
  try {
    check();
  } catch (error) {
    refuse(host, error, response);
    return;
  }
  void proxy(request, response, () => {});
}

function listeners(host: ShellHost, expecting: WeakSet<IncomingMessage>): Plugin {
  return (server) => {
    server.on('proxyReq', (outgoing: ClientRequest, request: IncomingMessage) => {
      if (expecting.delete(request)) invite(outgoing, request);
    });
    server.on('proxyRes', (answer: IncomingMessage, _request: IncomingMessage, response: ServerResponse) =>
      prepare(host, answer, response),
    );
    server.on('error', (error: Error, _request?: IncomingMessage, response?: ServerResponse | Socket) => {
      if (response && 'writeHead' in response) refuse(host, error, response);
      else response?.destroy();
    });
  };
}

function invite(outgoing: ClientRequest, request: IncomingMessage): void {
  outgoing.setHeader('Expect', '100-continue');
  outgoing.once('continue', () => inviteBody(request));
  outgoing.flushHeaders();
}

/** What the private connection says of itself is not the client's. */
function prepare(host: ShellHost, answer: IncomingMessage, response: ServerResponse): void {
  const { headers } = answer;
  const context = contextOf(response);
  const isLast = context.isLast || host.isDraining || !response.shouldKeepAlive;
  delete headers['keep-alive'];
  headers.connection = isLast ? 'close' : 'keep-alive';
  if (isLast) endInStages(response, host);
}

/** Before the answer has begun it says so; a short answer would pass for a whole one. */
function refuse(host: ShellHost, cause: unknown, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  contextOf(response).forwarding = undefined; // this process answers, and leaves the line
  const error = new GatewayError('store_unavailable', "the gateway's control process does not answer", { cause });
  sendError(response, error, host.redactor);
}
