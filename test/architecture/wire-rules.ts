import { type Checker, importsOf, lineOf, type Node, parse, walk } from './source.ts';

const COMMON_WIRE = 'host/wire/common-wire.ts';
/** The wires of other clients, a folder each. */
const OTHER_WIRES = 'builtins/wires/';
/** It answers as an upstream of the common wire does. */
const UPSTREAM = 'providers/echo/respond.ts';
/** The kit of module authors plays upstreams, and the client that reads what became of their streams. */
const KIT = 'host/testing/';
/** Answers of a service on the common wire, for a new provider's test. */
const FIXTURES = 'builtins/cli/modules/common-answers.ts';
/** Clients of a gateway. */
const CLIENTS = ['builtins/cli/chat.ts', 'builtins/dashboard/app/'];

/** Another protocol: servers, and clients of the gateway, that speak it send and take events, too. */
const TOOL_SERVERS = 'builtins/mcp/';

/** What only a client's wire writes, and the files or folders where it may stand: there, where upstreams are read or asked, and where one is played. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  '[DONE]': [COMMON_WIRE, 'host/upstream/sse.ts', UPSTREAM, KIT, FIXTURES, ...CLIENTS],
  'text/event-stream': [COMMON_WIRE, OTHER_WIRES, 'providers/', KIT, TOOL_SERVERS, ...CLIENTS],
  '404 page not found': [COMMON_WIRE],
};

/** Errors of JSON-RPC look alike. `toEnvelope` is part of the contract: module authors may call it, the gateway asks the wire. */
export const ENVELOPES: readonly string[] = [
  COMMON_WIRE,
  'host/contract/errors.ts',
  UPSTREAM,
  FIXTURES,
  `${TOOL_SERVERS}link/rpc.ts`,
  `${TOOL_SERVERS}endpoint/transport.ts`,
];

/** Where no path decides: what has none, and exchanges without a client. Everybody else uses the wire of the request. */
export const KNOW_THE_COMMON_WIRE: readonly string[] = [
  'host/wire/client-wires.ts',
  'host/http/server.ts',
  'host/http/arrivals.ts',
  'host/pipeline/live-exchange.ts',
  'host/testing/relay-stream.ts',
];

/** Refuses what is written for clients of one wire anywhere but in that wire. */
export const wireProblems: Checker = (path, source) => {
  const found: string[] = [];
  walk(parse(path, source), (node) => {
    const at = `${path}:${lineOf(source, node)}`;
    for (const text of textsOf(node)) {
      for (const [owned, places] of Object.entries(TEXTS))
        if (text.includes(owned) && !places.some((place) => path.startsWith(place))) found.push(`${at}: ${owned}`);
    }
    if (isEnvelope(node) && !ENVELOPES.includes(path) && !path.startsWith(OTHER_WIRES))
      found.push(`${at}: an error envelope`);
  });
  const isKnowing = path === COMMON_WIRE || KNOW_THE_COMMON_WIRE.includes(path);
  for (const { file, line } of importsOf(path, source))
    if (file === COMMON_WIRE && !isKnowing) found.push(`${path}:${line}: the common wire itself`);
  return found;
};

function textsOf(node: Node): string[] {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return [node['value']];
  return node.type === 'TemplateElement' ? [String(node['value'].cooked)] : [];
}

/** `{ error: { message, … } }`, or the call that makes it. */
function isEnvelope(node: Node): boolean {
  if (node.type === 'CallExpression')
    return node['callee'].type === 'MemberExpression' && node['callee'].property.name === 'toEnvelope';
  const error = memberOf(node, 'error');
  return error !== undefined && memberOf(error, 'message') !== undefined;
}

function memberOf(node: Node, name: string): Node | undefined {
  if (node.type !== 'ObjectExpression') return undefined;
  const members = (node['properties'] as readonly Node[]).filter(({ type }) => type === 'Property');
  return members.find(({ key }) => (key.name ?? key.value) === name)?.['value'] as Node | undefined;
}
