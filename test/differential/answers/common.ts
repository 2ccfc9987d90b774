import type { Dice } from '../../kit/index.ts';
import { type Answer, callsOf, type Finish, piecesOf, sse, type Teller, textsOf } from './answer.ts';

const FINISHES: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
};

export interface Manner {
  /** What the vendor calls its thoughts: a member of the message, or chunks of its content. */
  readonly thoughts?: 'reasoning' | 'reasoning_content' | 'chunks';
  /** Streamed calls come whole, and numbered or not. */
  readonly wholeCalls?: 'numbered' | 'unnumbered';
  /** Where a stream tells its usage; `x_groq` in a member of that name too. */
  readonly usage?: 'apart' | 'finish' | 'x_groq';
  /** Whether tokens of thinking stand beside those of the answer, rather than among them. */
  readonly countsApart?: boolean;
  /** Where reads of a cache are counted; nowhere where the vendor has no such number. */
  readonly cached?: 'details' | 'prompt_cache_hit_tokens' | 'none';
  readonly finishes?: Partial<Readonly<Record<Finish, string>>>;
  /** What the vendor never says. */
  readonly never?: readonly ('thought' | 'filter')[];
}

type Fields = Record<string, unknown>;

function usageOf(
  { tokens: { input, cached, output, thought } }: Answer,
  { countsApart, cached: where = 'details' }: Manner,
): Fields {
  const cache =
    where === 'details'
      ? { prompt_tokens_details: { cached_tokens: cached } }
      : { prompt_cache_hit_tokens: cached, prompt_cache_miss_tokens: input - cached };
  return {
    prompt_tokens: input,
    completion_tokens: countsApart ? output - thought : output,
    total_tokens: input + output,
    ...(cached > 0 && where !== 'none' && cache),
    ...(thought > 0 && { completion_tokens_details: { reasoning_tokens: thought } }),
  };
}

function thoughtsIn(text: string, { thoughts = 'reasoning_content' }: Manner): Fields {
  if (text === '') return {};
  return thoughts === 'chunks'
    ? { content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }
    : { [thoughts]: text };
}

const callOf = ({ id, name, input }: ReturnType<typeof callsOf>[number]): Fields => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
});

function whole(answer: Answer, manner: Manner): object {
  const [text, thoughts, calls] = [textsOf(answer, 'text'), textsOf(answer, 'thought'), callsOf(answer).map(callOf)];
  const content =
    manner.thoughts === 'chunks' && thoughts !== ''
      ? [...(thoughtsIn(thoughts, manner)['content'] as object[]), ...(text === '' ? [] : [{ type: 'text', text }])]
      : text || null;
  const message = {
    role: 'assistant',
    ...(manner.thoughts !== 'chunks' && thoughtsIn(thoughts, manner)),
    content,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: answer.id,
    object: 'chat.completion',
    created: 1_763_700_000,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: finishOf(answer, manner) }],
    usage: usageOf(answer, manner),
  };
}

const finishOf = ({ finish }: Answer, { finishes = {} }: Manner): string => finishes[finish] ?? FINISHES[finish];

function chunks(answer: Answer, dice: Dice, manner: Manner): object[] {
  const chunk = (choices: readonly object[], more: Fields = {}): object => ({
    id: answer.id,
    object: 'chat.completion.chunk',
    created: 1_763_700_000,
    model: 'm',
    choices,
    ...more,
  });
  const delta = (value: object, finish_reason: string | null = null): object[] => [
    { index: 0, delta: value, finish_reason },
  ];
  const calls = callsOf(answer);
  const usage = { usage: usageOf(answer, manner) };
  return [
    chunk(delta({ role: 'assistant', content: '' })),
    ...piecesOf(dice, textsOf(answer, 'thought')).map((piece) => chunk(delta(thoughtsIn(piece, manner)))),
    ...piecesOf(dice, textsOf(answer, 'text')).map((content) => chunk(delta({ content }))),
    ...calls
      .flatMap((call, index) =>
        manner.wholeCalls
          ? [{ ...(manner.wholeCalls === 'numbered' && { index }), ...callOf(call) }]
          : fragments(dice, call, index),
      )
      .map((call) => chunk(delta({ tool_calls: [call] }))),
    chunk(delta({}, finishOf(answer, manner)), endOf(usage, manner)),
    ...(manner.usage === 'finish' ? [] : [chunk([], usage)]),
  ];
}

function endOf(usage: Fields, { usage: where }: Manner): Fields {
  if (where === 'x_groq') return { x_groq: { id: 'req_1', ...usage } };
  return where === 'finish' ? usage : {};
}

function fragments(dice: Dice, call: ReturnType<typeof callsOf>[number], index: number): Fields[] {
  const pieces = piecesOf(dice, JSON.stringify(call.input));
  return [
    { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
    ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
  ];
}

function fit(answer: Answer, { cached, never = [] }: Manner): Answer {
  const { blocks, tokens, finish } = answer;
  const isSilent = never.includes('thought');
  return {
    ...answer,
    blocks: isSilent ? blocks.filter(({ kind }) => kind !== 'thought') : blocks,
    finish: finish === 'filter' && never.includes('filter') ? 'stop' : finish,
    tokens: { ...tokens, ...(cached === 'none' && { cached: 0 }), ...(isSilent && { thought: 0 }) },
  };
}

/** The common wire in a vendor's manner. */
export function common(manner: Manner = {}): Teller {
  return {
    whole: (answer) => whole(answer, manner),
    stream: (answer, dice) => sse(chunks(answer, dice, manner), { isEnded: true }),
    fit: (answer) => fit(answer, manner),
  };
}
