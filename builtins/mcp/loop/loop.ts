import { type ChatRequest, ExchangeNote, SURFACES } from '../../../host/contract/index.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { OfferedTool } from '../../../host/pipeline/tool-servers.ts';
import { type LoopDeps, loopRequest } from './loop-request.ts';
import { runStreamedLoop } from './streamed-loop.ts';
import { usableTools } from '../tool-access.ts';
import { runWholeLoop } from './whole-loop.ts';

/** Lets models use the tools of the servers, wherever the caller brings none of its own. See docs/mcp.md#the-loop. */
export function tapLoop(deps: LoopDeps, streamsTurns: boolean): void {
  const {
    hooks: { prepare, turns },
    tools,
  } = deps;
  const bringing = new ExchangeNote<true>();
  prepare.tap('mcp', (exchange) => {
    if (bringsTools(exchange)) bringing.put(exchange, true);
  }); // plugins may add some later
  turns.tap('mcp', (runTurn) => (exchange, ask) => {
    const offered = ask || !takesTools(exchange) || bringing.get(exchange) ? [] : offeredTo(exchange, tools.tools());
    if (offered.length === 0) return runTurn(exchange, ask);
    const runLoop = exchange.streaming && streamsTurns ? runStreamedLoop : runWholeLoop;
    return runLoop(exchange, loopRequest(exchange.request as ChatRequest, offered), runTurn, deps);
  });
}

/** Other surfaces go without, and so do clients of another wire: they run their tools themselves. */
function takesTools({ surface, wire }: LiveExchange): boolean {
  return SURFACES[surface].isChat && wire.runsTools === true;
}

function bringsTools({ request }: LiveExchange): boolean {
  const { tools } = request as Partial<ChatRequest>;
  return Array.isArray(tools) && tools.length > 0;
}

function offeredTo({ limits }: LiveExchange, offered: readonly OfferedTool[]): readonly OfferedTool[] {
  return usableTools(offered, limits?.mcp_tools);
}
