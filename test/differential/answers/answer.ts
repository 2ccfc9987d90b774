import type { Dice } from '../../kit/index.ts';

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    };

export type Finish = 'stop' | 'length' | 'calls' | 'filter';

/** What a model answers, before it is written in a vendor's wire. */
export interface Answer {
  readonly id: string;
  readonly blocks: readonly Block[];
  readonly finish: Finish;
  readonly tokens: {
    readonly input: number;
    readonly cached: number;
    readonly output: number;
    readonly thought: number;
  };
}

/** How one wire writes answers: a whole body, and the bytes of a stream. */
export interface Teller {
  readonly whole: (answer: Answer, dice: Dice) => object;
  readonly stream: (answer: Answer, dice: Dice) => Buffer;
  /** What the wire has no place for is taken out first. */
  readonly fit?: (answer: Answer) => Answer;
}

const WORDS = [
  'a',
  ' harbour',
  '\n',
  '"',
  '\\',
  'é',
  '水',
  '🌊',
  '{',
  '}',
  'data: ',
  '\u2028',
  ' ',
  '</think>',
  'event: error\n',
  '[DONE]',
];

export const wordsOf = (dice: Dice, least = 0): string =>
  Array.from({ length: least + dice.below(6) }, () => dice.pick(WORDS)).join('');

function inputOf(dice: Dice): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: dice.below(4) }, (_, at) => [
      `k${at}`,
      dice.pick([wordsOf(dice), dice.below(1000), null, true, [wordsOf(dice)], { deep: wordsOf(dice) }]),
    ]),
  );
}

/** Thoughts first, then texts, then calls: as models answer. */
export function answerOf(dice: Dice): Answer {
  const thoughts: Block[] = dice.below(3) === 0 ? [{ kind: 'thought', text: wordsOf(dice, 1) }] : [];
  const calls: Block[] =
    dice.below(2) === 0
      ? []
      : Array.from({ length: 1 + dice.below(3) }, (_, at) => ({
          kind: 'call',
          id: `call_${dice.below(1000)}_${at}`,
          name: dice.pick(['tide', 'wind']),
          input: inputOf(dice),
        }));
  const hasText = calls.length === 0 || dice.below(2) === 0;
  const texts: Block[] = hasText
    ? Array.from({ length: 1 + dice.below(2) }, () => ({ kind: 'text', text: wordsOf(dice, 1) }))
    : [];
  const output = 1 + dice.below(900);
  const input = 1 + dice.below(900);
  return {
    id: `answer-${dice.below(10_000)}`,
    blocks: [...thoughts, ...texts, ...calls],
    finish: calls.length > 0 ? 'calls' : dice.pick(['stop', 'stop', 'length', 'filter']),
    tokens: {
      input,
      cached: dice.below(3) === 0 ? dice.below(input) : 0,
      output,
      thought: thoughts.length > 0 ? dice.below(output) : 0,
    },
  };
}

/** A text in pieces between which no character is cut in two. */
export function piecesOf(dice: Dice, text: string): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  while (characters.length > 0) pieces.push(characters.splice(0, 1 + dice.below(8)).join(''));
  return pieces;
}

export const textsOf = ({ blocks }: Answer, kind: 'text' | 'thought'): string =>
  blocks.map((block) => (block.kind === kind ? block.text : '')).join('');
export const callsOf = ({ blocks }: Answer): readonly (Block & { readonly kind: 'call' })[] =>
  blocks.filter((block) => block.kind === 'call');

/** Events of an event stream, by their data, with or without their names. */
export function sse(events: readonly object[], { isNamed = false, isEnded = false } = {}): Buffer {
  const frames = events.map(
    (event) =>
      `${isNamed ? `event: ${(event as { readonly type: string }).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
  );
  return Buffer.from(frames.join('') + (isEnded ? 'data: [DONE]\n\n' : ''));
}
