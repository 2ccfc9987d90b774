import type { ChatReply, ChatRequest } from '../../../host/contract/index.ts';
import { askBeforeTurn } from '../../../host/pipeline/turns/before-turn.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Answer, RunTurn } from '../../../host/pipeline/turns/turns.ts';
import { type LoopDeps, type LoopRequest, withTools } from './loop-request.ts';
import { messageToRun, runCalls, withoutOwnedCalls } from '../tool-calls.ts';

/** Every turn is a whole answer, and so is what comes of the loop; a client that asked for a stream gets it as one chunk. */
export async function runWholeLoop(
  exchange: LiveExchange,
  { request: asked, injected, owned }: LoopRequest,
  runTurn: RunTurn,
  deps: LoopDeps,
): Promise<Answer> {
  exchange.delivery.inOneChunk = true;
  let request = asked;
  for (let round = 0; ; round += 1) {
    const reply = (await runTurn(exchange, { ...withTools(request, injected), streaming: false })) as ChatReply;
    const message = messageToRun(reply, owned);
    if (round === deps.maxRounds) return withoutOwnedCalls(reply, owned);
    if (!message) return reply;
    const added = await runCalls(exchange, message, owned, deps);
    const next = await askBeforeTurn(exchange, { ...request, messages: [...request.messages, ...added] }, deps);
    if (!next) return exchange.reply;
    request = next as ChatRequest;
  }
}
