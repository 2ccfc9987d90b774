import type { ChatReply, ReplyOf, Surface } from '../../contract/index.ts';
import type { LiveExchange } from '../live-exchange.ts';
import { AnswerStream } from '../../answer/stream.ts';
import type { TurnRequest } from './turn.ts';

/** What a turn came to, and what an exchange is answered with: a whole reply, or a stream whose first chunk has been read. */
export type Answer = ReplyOf<Surface> | AnswerStream;

/**
 * Runs one turn: a request takes the route, with all its retries and targets. Attempts are numbered through, usage and cost
 * are added to the exchange as soon as the turn is over. Throws the `GatewayError` of the last target.
 */
export type RunTurn = (exchange: LiveExchange, ask?: TurnRequest) => Promise<Answer>;

/** Reads a streamed turn to its end. For nothing of it to leave, its turn needs an `openStream` of its own. */
export async function collectTurn(exchange: LiveExchange, answer: Answer): Promise<ChatReply> {
  if (!(answer instanceof AnswerStream)) return answer as ChatReply;
  const broken = await answer.ended;
  answer.release();
  if (broken) throw broken;
  return streamedReply(exchange, answer) as ChatReply;
}

/** A stream that is complete, as one reply. */
export function streamedReply(exchange: LiveExchange, stream: AnswerStream): ReplyOf<Surface> {
  return stream.reply({
    created: Math.floor(exchange.startedAt / 1000),
    model: exchange.model,
    provider: exchange.target ?? '',
    usage: exchange.usage,
  });
}
