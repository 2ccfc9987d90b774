import type { IncomingMessage, ServerResponse } from 'node:http';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { GatewayError, isFields, isText, quoted } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import { contextOf } from '../../../host/http/context.ts';
import { readBody } from '../../../host/http/body/read-body.ts';
import { arrayOf, slicesOf, within } from '../../../host/http/json-pieces.ts';
import { sendEmpty, sendError } from '../../../host/http/reply.ts';
import { KNOWN_VERSIONS, PROTOCOL_VERSION } from '../link/rpc.ts';
import { CODES, readMessage, RpcFault, type RpcRequest } from './message.ts';
import { findTool, offeredTo } from './offered.ts';
import { callTool } from './tool-call.ts';
import { checkHeaders, checkVersion, type Form, sendAnswer, sendFault, sendLongAnswer } from './transport.ts';

/** Tools that are written in one turn. */
const SLICE = 100;

/** Reads the message of a request, and answers it. */
export async function serve(host: Host, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let form: Form = 'json';
  let isRead = false;
  try {
    const { current } = host;
    if (!current) throw new GatewayError('upstream_unavailable', 'the gateway is not configured');
    form = checkHeaders(request, host.settings);
    const message = readMessage(await readBody(request, current.maxRequestBytes, host.services.clock));
    checkVersion(request, message.method);
    isRead = true;
    if (message.id === undefined) sendEmpty(response, 202);
    else await answer(host, message, form, response);
  } catch (error) {
    if (error instanceof RpcFault) {
      if (!isRead) contextOf(response).refusal ??= invalidRequest(error.message); // refused before it said what it wants
      sendFault(response, form, error, host.redactor);
    } else if (error instanceof GatewayError) sendError(response, error, host.redactor);
    else throw error;
  }
}

function answer(host: Host, request: RpcRequest, form: Form, response: ServerResponse): Promise<void> | undefined {
  const { id, method } = request;
  if (method === 'tools/call') return call(host, request, form, response);
  if (method === 'tools/list') return list(host, request, form, response);
  const answers = METHODS.get(method);
  if (!answers) throw new RpcFault(CODES.method, `the method ${quoted(method)} is not supported`, { id });
  sendAnswer(response, form, { id, result: answers(host, request, response) });
  return undefined;
}

type Answers = (host: Host, request: RpcRequest, response: ServerResponse) => object;

const METHODS: ReadonlyMap<string, Answers> = new Map<string, Answers>([
  ['initialize', initialize],
  ['ping', () => ({})],
]);

function initialize({ build }: Host, { id, params: { protocolVersion } }: RpcRequest): object {
  if (!isText(protocolVersion)) throw new RpcFault(CODES.parameters, 'protocolVersion must be a text', { id });
  return {
    protocolVersion: KNOWN_VERSIONS.has(protocolVersion) ? protocolVersion : PROTOCOL_VERSION,
    capabilities: { tools: { listChanged: false } },
    serverInfo: { name: 'gw', version: build.version },
  };
}

/** All tools at once: a list has no pages, so that there is no cursor to go on from. A long one is written part after part. */
function list(
  { current, services }: Host,
  { id, params: { cursor } }: RpcRequest,
  form: Form,
  response: ServerResponse,
): Promise<void> | undefined {
  if (cursor !== undefined && cursor !== null) throw new RpcFault(CODES.parameters, 'the cursor is not known', { id });
  const offered = offeredTo(current, contextOf(response).limits);
  if (offered.length > SLICE)
    return sendLongAnswer(
      response,
      form,
      within(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":`,
        arrayOf(slicesOf(offered, SLICE), ({ tool }) => tool),
        '}}',
      ),
      services,
    );
  sendAnswer(response, form, { id, result: { tools: offered.map(({ tool }) => tool) } });
  return undefined;
}

/** A tool that the key may not call is answered like one that does not exist, before any plugin runs. */
function call(host: Host, { id, params }: RpcRequest, form: Form, response: ServerResponse): Promise<void> {
  const { name, arguments: given } = params;
  if (!isText(name)) throw new RpcFault(CODES.parameters, 'name must be a text', { id });
  if (given !== undefined && given !== null && !isFields(given))
    throw new RpcFault(CODES.parameters, 'arguments must be an object', { id });
  const offered = findTool(host.current, contextOf(response).limits, name);
  if (!offered) throw unknownTool(name, id);
  return callTool(host, { server: offered.server, name, arguments: given ?? {} }, response, {
    answered: (result, headers) => sendAnswer(response, form, { id, result }, headers),
    failed: (error) => sendFault(response, form, new RpcFault(CODES.internal, error, { id }), host.redactor),
    vanished: () => sendFault(response, form, unknownTool(name, id), host.redactor),
  });
}

const unknownTool = (name: string, id: RpcRequest['id']): RpcFault =>
  new RpcFault(CODES.parameters, `unknown tool: ${quoted(name)}`, { id });
