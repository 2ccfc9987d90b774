import type { ChatReply, ChatRequest } from '../../../host/contract/index.ts';
import { askBeforeTurn } from '../../../host/pipeline/turns/before-turn.ts';
import { asGatewayError } from '../../../host/pipeline/gateway-fault.ts';
import { awaitsVerdict } from '../../../host/pipeline/guards/plugin-policy.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import { replayWhole } from '../../../host/answer/replay.ts';
import { AnswerStream } from '../../../host/answer/stream.ts';
import { type Answer, collectTurn, type RunTurn } from '../../../host/pipeline/turns/turns.ts';
import { type LoopDeps, type LoopRequest, withTools } from './loop-request.ts';
import { LoopStream } from './loop-stream.ts';
import { messageToRun, runCalls } from '../tool-calls.ts';
import { TurnWriter } from './turn-writer.ts';

/**
 * The loop for a client that gets its turns as they are produced (`mcp.stream`). Until the first text there is no answer yet, so
 * that a refusal or a failure is an ordinary error; after it, it ends the stream. See docs/mcp.md#the-loop.
 */
export async function runStreamedLoop(
  exchange: LiveExchange,
  asked: LoopRequest,
  runTurn: RunTurn,
  deps: LoopDeps,
): Promise<Answer> {
  const stream = new LoopStream(exchange, deps.services.clock);
  exchange.delivery.timedUntil = stream.ended; // the deadline is that of the whole loop
  runTurns(stream, exchange, asked, runTurn, deps).then(
    () => stream.end(undefined),
    (cause: unknown) => stream.end(asGatewayError(cause)),
  );
  await stream.begun;
  if (!stream.hasBegun) {
    const error = await stream.ended;
    if (error) throw error;
  }
  return stream;
}

async function runTurns(
  stream: LoopStream,
  exchange: LiveExchange,
  { request: asked, injected, owned }: LoopRequest,
  runTurn: RunTurn,
  deps: LoopDeps,
): Promise<void> {
  let request: ChatRequest = { ...asked, stream: true };
  for (let round = 0; ; round += 1) {
    let writer = new TurnWriter(stream);
    const openStream = (): TurnWriter => (writer = new TurnWriter(stream)); // one per attempt
    const answer = await runTurn(exchange, { ...withTools(request, injected), streaming: true, openStream });
    if (answer instanceof AnswerStream) stream.follow(answer);
    const reply = await collectTurn(exchange, answer);
    if (answer instanceof AnswerStream) stream.keepHeld(answer);
    else stream.write(writer.chunk(replayWhole(reply, true)));
    const message = messageToRun(reply, owned);
    if (!message || round === deps.maxRounds) {
      const { streamGuards: guards } = exchange.plugins;
      const usage = exchange.stripsUsage ? undefined : exchange.usage;
      stream.writeLast(
        writer.rest(round === deps.maxRounds ? owned : undefined, usage),
        guards !== undefined && awaitsVerdict(guards),
      );
      return;
    }
    const added = await runCalls(exchange, message, owned, deps);
    const next = await askBeforeTurn(exchange, { ...request, messages: [...request.messages, ...added] }, deps);
    if (!next) {
      const own = new TurnWriter(stream);
      stream.write(own.chunk(replayWhole(exchange.reply as ChatReply, true)));
      stream.writeLast(own.rest(undefined, exchange.stripsUsage ? undefined : exchange.usage), false);
      return;
    }
    request = next as ChatRequest;
  }
}
