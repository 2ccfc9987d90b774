/** A vendor that answers in the wire it is asked in, and knows what it charges for each answer. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Dice, openSse, replyJson, type SeenRequest, type StubHandler } from '../kit/index.ts';

type Response = Parameters<StubHandler>[1];

/** How an answer ends: whole with its usage; whole without it; left by the client; cut off by the vendor. */
export const ENDS = ['reported', 'silent', 'left', 'cut'] as const;
export type End = (typeof ENDS)[number];

/** What a piece of a streamed answer is. */
export const KINDS = ['content', 'refusal', 'reasoning_content', 'arguments'] as const;
export type Kind = (typeof KINDS)[number];

export interface Plan {
  readonly end: End;
  readonly kind: Kind;
  readonly prompt: number;
  readonly completion: number;
  readonly pieces: readonly string[];
}

/** Tokens that the vendor has used; of answers that are not whole, characters that have left. */
export interface Invoice {
  sent: number;
}

/** Who waits for the first bytes of an answer in order to leave must be sent some: `kinds` are those that the client's wire shows at once. */
export function planOf(dice: Dice, end: End, kinds: readonly Kind[] = KINDS): Plan {
  const kind = dice.pick(kinds);
  const words = Array.from({ length: 4 + dice.below(20) }, () =>
    dice.pick(['word ', 'a longer piece of text, ', 'x', '"quoted" ', 'zurück ', '\n\n']),
  );
  const pieces =
    kind === 'arguments' ? ['{"text":"', ...words.map((word) => JSON.stringify(word).slice(1, -1)), '"}'] : words; // arguments are JSON
  return { end, kind, prompt: 1 + dice.below(5000), completion: 1 + dice.below(3000), pieces };
}

/** The plan that a request names stands in its prompt, as `plan <number>.`. */
export function vendor(plans: ReadonlyMap<number, Plan>, invoices: Map<number, Invoice>): StubHandler {
  return async (seen, response) => {
    const number = Number(/plan (\d+)\./.exec(seen.text)?.[1]);
    const plan = plans.get(number);
    if (!plan) return replyJson(response, 500, { error: { message: 'no plan' } });
    const wire = wireOf(seen);
    if (!isStreamed(seen)) {
      invoices.set(number, { sent: plan.pieces.join('').length });
      return replyJson(response, 200, wire.whole(plan));
    }
    return stream(plan, wire, response, invoices, number);
  };
}

const isStreamed = (seen: SeenRequest): boolean => seen.url.includes('stream') || seen.json()['stream'] === true;

async function stream(
  plan: Plan,
  wire: Wire,
  response: Response,
  invoices: Map<number, Invoice>,
  number: number,
): Promise<void> {
  const invoice: Invoice = { sent: 0 };
  invoices.set(number, invoice);
  openSse(response);
  response.write(wire.begin(plan));
  for (const piece of plan.pieces) {
    invoice.sent += piece.length;
    response.write(wire.piece(plan, piece));
  }
  if (plan.end === 'left') return; // the client goes first
  await pause(1);
  if (plan.end === 'cut') {
    response.destroy();
    return;
  }
  response.end(wire.end(plan));
}

interface Wire {
  whole(plan: Plan): object;
  begin(plan: Plan): string;
  piece(plan: Plan, text: string): string;
  end(plan: Plan): string;
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const typed = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\n${event(data)}`;

function wireOf({ url }: SeenRequest): Wire {
  if (url.includes('/messages')) return ANTHROPIC;
  if (url.includes('enerateContent')) return GEMINI;
  return url.includes('/responses') ? RESPONSES : COMMON;
}

const isTold = ({ end }: Plan): boolean => end === 'reported';

const delta = ({ kind }: Plan, text: string): object =>
  kind === 'arguments' ? { tool_calls: [{ index: 0, function: { arguments: text } }] } : { [kind]: text };
const message = (plan: Plan): object =>
  plan.kind === 'arguments'
    ? { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: plan.pieces.join('') } }] }
    : { content: null, [plan.kind]: plan.pieces.join('') };
const tokens = ({ prompt, completion }: Plan): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

const COMMON: Wire = {
  whole: (plan) => ({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', ...message(plan) }, finish_reason: 'stop' }],
    ...(isTold(plan) && { usage: tokens(plan) }),
  }),
  begin: ({ kind }) =>
    event({
      id: 'x',
      choices: [
        {
          index: 0,
          delta: {
            role: 'assistant',
            ...(kind === 'arguments' && {
              tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
            }),
          },
          finish_reason: null,
        },
      ],
    }),
  piece: (plan, text) => event({ id: 'x', choices: [{ index: 0, delta: delta(plan, text), finish_reason: null }] }),
  end: (plan) =>
    `${event({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${isTold(plan) ? event({ id: 'x', choices: [], usage: tokens(plan) }) : ''}data: [DONE]\n\n`,
};

/** Thoughts, or text. */
const block = ({ kind }: Plan, text: string): object =>
  kind === 'reasoning_content' ? { type: 'thinking', thinking: text, signature: '' } : { type: 'text', text };

const ANTHROPIC: Wire = {
  whole: (plan) => ({
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [block(plan, plan.pieces.join(''))],
    stop_reason: 'end_turn',
    stop_sequence: null,
    ...(isTold(plan) && { usage: { input_tokens: plan.prompt, output_tokens: plan.completion } }),
  }),
  begin: (plan) =>
    typed({
      type: 'message_start',
      message: {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...(plan.end !== 'silent' && { usage: { input_tokens: plan.prompt, output_tokens: 1 } }),
      },
    }) + typed({ type: 'content_block_start', index: 0, content_block: block(plan, '') }),
  piece: ({ kind }, text) =>
    typed({
      type: 'content_block_delta',
      index: 0,
      delta: kind === 'reasoning_content' ? { type: 'thinking_delta', thinking: text } : { type: 'text_delta', text },
    }),
  end: (plan) =>
    typed({ type: 'content_block_stop', index: 0 }) +
    typed({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      ...(isTold(plan) && { usage: { output_tokens: plan.completion } }),
    }) +
    typed({ type: 'message_stop' }),
};

const part = ({ kind }: Plan, text: string): object => ({
  text,
  ...(kind === 'reasoning_content' && { thought: true }),
});
const counted = (plan: Plan): object =>
  isTold(plan)
    ? {
        usageMetadata: {
          promptTokenCount: plan.prompt,
          candidatesTokenCount: plan.completion,
          totalTokenCount: plan.prompt + plan.completion,
        },
      }
    : {};

const GEMINI: Wire = {
  whole: (plan) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts: [part(plan, plan.pieces.join(''))] }, finishReason: 'STOP' },
    ],
    ...counted(plan),
  }),
  begin: () => '',
  piece: (plan, text) => event({ candidates: [{ index: 0, content: { role: 'model', parts: [part(plan, text)] } }] }),
  end: (plan) =>
    event({
      candidates: [{ index: 0, content: { role: 'model', parts: [] }, finishReason: 'STOP' }],
      ...counted(plan),
    }),
};

const responseOf = (plan: Plan, status: string): object => ({
  id: 'resp',
  object: 'response',
  model: 'x',
  status,
  output: [
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: [{ type: 'output_text', text: plan.pieces.join(''), annotations: [] }],
    },
  ],
  ...(isTold(plan) && {
    usage: { input_tokens: plan.prompt, output_tokens: plan.completion, total_tokens: plan.prompt + plan.completion },
  }),
});

const DELTAS: Readonly<Record<Kind, string>> = {
  content: 'response.output_text.delta',
  refusal: 'response.refusal.delta',
  reasoning_content: 'response.reasoning_summary_text.delta',
  arguments: 'response.function_call_arguments.delta',
};

const RESPONSES: Wire = {
  whole: (plan) => responseOf(plan, 'completed'),
  begin: () =>
    typed({
      type: 'response.created',
      response: { id: 'resp', object: 'response', model: 'x', status: 'in_progress', output: [] },
    }),
  piece: ({ kind }, text) => typed({ type: DELTAS[kind], item_id: 'm', output_index: 0, delta: text }),
  end: (plan) => typed({ type: 'response.completed', response: responseOf(plan, 'completed') }),
};
