import { type ChatReply, readUsage, SURFACES, type Usage } from '../contract/index.ts';
import { billTurn } from './billing.ts';
import type { LiveExchange } from './live-exchange.ts';
import { normalizeReply } from './normalize.ts';
import type { PipelineServices } from './pipeline-services.ts';
import { AnswerStream } from './stream.ts';
import type { Answer } from './turns.ts';

/** Shapes the whole reply of a turn, and adds what it used. The usage it tells is that of the exchange so far. A stream is billed when it ends. */
export function completeTurn(exchange: LiveExchange, answer: Answer, services: PipelineServices): Answer {
  if (answer instanceof AnswerStream) return answer;
  const { surface } = exchange;
  if (!SURFACES[surface].isChat) {
    const { usage, data } = answer as { readonly usage?: Usage; readonly data?: readonly unknown[] };
    billTurn(exchange, { usage: readUsage(usage), images: surface === 'images' ? data?.length : undefined }, services);
    return answer;
  }
  const reply = answer as ChatReply & { usage?: Usage };
  shapeChat(exchange, reply, exchange.target ?? '', services);
  billTurn(exchange, { usage: reply.usage }, services);
  if (exchange.turn?.usageBefore && exchange.usage) reply.usage = exchange.usage;
  return reply;
}

/** The same for the answer of a plugin, which is one of chat and costs nothing. One that names its provider keeps it. */
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

function shapeChat({ id, attempts, model, wire }: LiveExchange, reply: ChatReply, provider: string, { clock }: PipelineServices): void {
  normalizeReply(reply, { model, provider, created: Math.floor(clock.now() / 1000), answer: wire.needsCallIds ? `${id} ${attempts}` : undefined });
}
