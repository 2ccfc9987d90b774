import { type ChatReply, type ChatRequest, type ChatTool, ExchangeNote, SURFACES } from '../../host/contract/index.ts';
import { askBeforeTurn } from '../../host/pipeline/before-turn.ts';
import type { GenerationHooks } from '../../host/pipeline/hooks.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { OfferedTool } from '../../host/pipeline/tool-servers.ts';
import type { Answer, RunTurn } from '../../host/pipeline/turns.ts';
import { COMMON_WIRE } from '../../host/wire/common-wire.ts';
import { mayUse } from './tool-access.ts';
import { type CallDeps, messageToRun, type OwnedTools, runCalls, withoutOwnedCalls } from './tool-calls.ts';

export interface LoopDeps extends CallDeps {
  readonly hooks: GenerationHooks;
  /** Rounds of calls that one request may have: one more turn than these. */
  readonly maxRounds: number;
}

/** What a loop needs of its request: what is sent, the tools that go with it, and which of them are the servers'. */
export interface LoopRequest {
  readonly request: ChatRequest;
  readonly injected: readonly ChatTool[];
  readonly owned: OwnedTools;
}

/** Lets models use the tools of the servers, wherever the caller brings none of its own. Source: data-plane reference 12.5, 12.6. */
export function tapLoop(deps: LoopDeps, runStreamed: typeof runLoop | undefined): void {
  const { hooks: { prepare, turns }, tools } = deps;
  const ownTools = new ExchangeNote<true>();
  prepare.tap('mcp', (exchange) => { if (bringsTools(exchange)) ownTools.put(exchange, true); }); // plugins may add some later
  turns.tap('mcp', (runTurn) => (exchange, ask) => {
    const offered = ask || !takesTools(exchange) || ownTools.get(exchange) ? [] : offeredTo(exchange, tools.tools());
    if (offered.length === 0) return runTurn(exchange, ask);
    const run = exchange.streaming && runStreamed ? runStreamed : runLoop;
    return run(exchange, loopRequest(exchange.request as ChatRequest, offered), runTurn, deps);
  });
}

/** Other surfaces, and clients of another wire, whose tools are their own affair, go without. */
function takesTools({ surface, wire }: LiveExchange): boolean {
  return SURFACES[surface].isChat && wire === COMMON_WIRE;
}

function bringsTools({ request }: LiveExchange): boolean {
  const { tools } = request as Partial<ChatRequest>;
  return Array.isArray(tools) && tools.length > 0;
}

function offeredTo({ principal }: LiveExchange, offered: readonly OfferedTool[]): readonly OfferedTool[] {
  const allowed = principal?.limits?.mcp_tools;
  return allowed === undefined ? offered : offered.filter(({ server, tool }) => mayUse(allowed, server, tool.name));
}

/** A plugin's tool of the same name stands. */
function loopRequest({ stream: _stream, stream_options: _options, ...request }: ChatRequest, offered: readonly OfferedTool[]): LoopRequest {
  const taken = new Set(request.tools?.map((tool) => tool.function?.name));
  const used = offered.filter(({ tool }) => !taken.has(tool.name));
  const injected = used.map(({ tool: { name, description, inputSchema } }): ChatTool => ({
    type: 'function', function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
  }));
  return { request: request as ChatRequest, injected, owned: new Map(used.map(({ server, tool }) => [tool.name, server])) };
}

/** What is sent of the request that plugins see. */
export function withTools(request: ChatRequest, injected: readonly ChatTool[]): ChatRequest {
  return { ...request, tools: [...(request.tools ?? []), ...injected] };
}

/** Every turn is a whole answer, and so is what comes of the loop; a client that asked for a stream gets it as one chunk. */
async function runLoop(exchange: LiveExchange, { request: asked, injected, owned }: LoopRequest, runTurn: RunTurn, deps: LoopDeps): Promise<Answer> {
  exchange.delivery.inOneChunk = true;
  let request = asked;
  for (let round = 0; ; round += 1) {
    const reply = await runTurn(exchange, { request: withTools(request, injected), streaming: false }) as ChatReply;
    const message = messageToRun(reply, owned);
    if (round === deps.maxRounds) return withoutOwnedCalls(reply, owned);
    if (!message) return reply;
    const added = await runCalls(exchange, message, owned, deps);
    request = await askBeforeTurn(exchange, { ...request, messages: [...request.messages, ...added] }, deps.hooks) as ChatRequest;
  }
}
