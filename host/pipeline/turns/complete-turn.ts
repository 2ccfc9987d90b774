import {
  type ChatReply,
  countOf,
  type RawReply,
  readUsage,
  type RerankReply,
  type SpeechRequest,
  SURFACES,
  type TranscriptionRequest,
  type Usage,
} from '../../contract/index.ts';
import { secondsOf } from '../../contract/money/pricing.ts';
import { charactersOfReply } from '../../answer/answer-size.ts';
import { billTurn } from '../billing/billing.ts';
import type { AnswerFacts } from '../../answer/charged-usage.ts';
import type { LiveExchange } from '../live-exchange.ts';
import { normalizeReply } from '../../answer/normalize-reply.ts';
import type { PipelineServices } from '../pipeline-services.ts';
import { AnswerStream } from '../../answer/stream.ts';
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

/** What answers beside chat are billed by. */
function otherFacts({ surface, turn, request: given }: LiveExchange, answer: Answer): AnswerFacts {
  const request = turn?.request ?? given;
  if (surface === 'audio.speech') return { characters: codePoints((request as SpeechRequest).input) };
  if (SURFACES[surface].isRaw) return heardFacts(answer as RawReply, request as TranscriptionRequest);
  const { usage, data } = answer as { readonly usage?: Usage; readonly data?: readonly unknown[] };
  return {
    usage: surface === 'rerank' ? rerankUsage(answer as RerankReply) : readUsage(usage),
    images: surface === 'images' ? data?.length : undefined,
  };
}

/** Seconds are those that the vendor says, else those that the recording says, else guessed from its size. */
function heardFacts({ body, billed }: RawReply, { file }: TranscriptionRequest): AnswerFacts {
  const seconds = billed?.seconds ?? file.seconds;
  const answered = body instanceof Uint8Array ? body.length : 0;
  return {
    usage: billed?.usage,
    seconds: seconds ?? secondsOf(file.bytes),
    isGuessed: seconds === undefined,
    answered,
  };
}

function rerankUsage({ meta }: RerankReply): Usage | undefined {
  const input = countOf(meta?.tokens?.input_tokens);
  return input > 0 ? { prompt_tokens: input, completion_tokens: 0, total_tokens: input } : undefined;
}

/** Halves of a pair count once. */
const codePoints = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

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
