import { type ChatRequest, isFields } from '../../../host/contract/index.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Opening } from './fingerprint.ts';
import { bodyOf, isResponsesBody } from './sent-body.ts';

/** How the conversation of a request begins; `undefined` where no user has said anything. */
export function openingOf(exchange: LiveExchange): Opening | undefined {
  if (!isResponsesBody(exchange)) {
    const { messages, tools } = exchange.request as ChatRequest;
    return openingIn(messages, [], tools);
  }
  const { instructions, input, tools } = bodyOf(exchange);
  const before = typeof instructions === 'string' ? [instructions] : [];
  if (typeof input === 'string') return { instructions: before, tools: listOf(tools), user: input };
  return openingIn(listOf(input), before, tools);
}

const INSTRUCTING: ReadonlySet<unknown> = new Set(['system', 'developer']);

function openingIn(turns: readonly unknown[], instructions: readonly unknown[], tools: unknown): Opening | undefined {
  const at = turns.findIndex((turn) => isFields(turn) && turn['role'] === 'user');
  if (at < 0) return undefined;
  return {
    instructions: [
      ...instructions,
      ...turns
        .slice(0, at)
        .flatMap((turn) => (isFields(turn) && INSTRUCTING.has(turn['role']) ? [turn['content']] : [])),
    ],
    tools: listOf(tools),
    user: contentOf(turns[at]),
  };
}

const contentOf = (turn: unknown): unknown => (isFields(turn) ? turn['content'] : undefined);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Items of the Responses API that a model made, beside messages of the assistant. */
const MADE = /^(?:reasoning|compaction|.*_call)$/;

/** Whether the conversation holds an answer already. A completion never does. */
export function hasEarlierAnswer(exchange: LiveExchange): boolean {
  if (exchange.surface === 'completions') return false;
  if (!isResponsesBody(exchange)) return (exchange.request as ChatRequest).messages.some(isOfAssistant);
  const { input, previous_response_id: earlier } = bodyOf(exchange);
  if (typeof earlier === 'string' && earlier !== '') return true;
  return listOf(input).some(
    (item) => isOfAssistant(item) || (isFields(item) && typeof item['type'] === 'string' && MADE.test(item['type'])),
  );
}

const isOfAssistant = (turn: unknown): boolean => isFields(turn) && turn['role'] === 'assistant';
