import { type ChatReply, SURFACES, type Usage } from '../../contract/index.ts';
import { charactersOfReply } from '../../answer/answer-size.ts';
import { billTurn } from '../billing/billing.ts';
import type { LiveExchange } from '../live-exchange.ts';
import { normalizeReply } from '../../answer/normalize-reply.ts';
import type { PipelineServices } from '../pipeline-services.ts';
import { AnswerStream } from '../../answer/stream.ts';
import { otherFacts } from './other-facts.ts';
import type { Answer } from './turns.ts';

/** Shapes the whole reply of a turn, and adds what it used. The usage it tells is that of the exchange so far. A stream is billed when it ends. */
export function completeTurn(exchange: LiveExchange, answer: Answer, services: PipelineServices): Answer {
  if (answer instanceof AnswerStream) return answer;
  if (!SURFACES[exchange.surface].isChat) {
    billTurn(exchange, otherFacts(exchange, answer), services);
    return answer;
  }
  const reply = answer as ChatReply & { usage?: Usage };
  const doubts: string[] = [];
  shapeChat(exchange, reply, exchange.target ?? '', services, doubts);
  billTurn(exchange, { usage: reply.usage, answered: charactersOfReply(reply), doubts }, services);
  if (exchange.turn?.usageBefore && exchange.usage) reply.usage = exchange.usage;
  return reply;
}

/** Completes the answer of a plugin, which is one of chat and costs nothing. One that names its provider keeps it. */
export function completeOwnAnswer(exchange: LiveExchange, pluginName: string, services: PipelineServices): void {
  const reply = shapeOwnAnswer(exchange, pluginName, services);
  exchange.measured.usage = reply.usage;
  exchange.measured.costUsd = 0;
}

/** The shape alone: what turns before it have used and cost stays. */
export function shapeOwnAnswer(exchange: LiveExchange, pluginName: string, services: PipelineServices): ChatReply {
  const reply = (Object.isFrozen(exchange.reply) ? structuredClone(exchange.reply) : exchange.reply) as ChatReply; // third-party plugins that have seen it saw it frozen
  exchange.reply = reply;
  shapeChat(exchange, reply, typeof reply.provider === 'string' ? reply.provider : pluginName, services);
  return reply;
}

function shapeChat(
  { id, attempts, model, wire }: LiveExchange,
  reply: ChatReply,
  provider: string,
  { clock }: PipelineServices,
  doubts?: string[],
): void {
  normalizeReply(
    reply,
    {
      model,
      provider,
      created: Math.floor(clock.now() / 1000),
      answer: wire.needsCallIds ? `${id} ${attempts}` : undefined,
    },
    doubts,
  );
}
