import { expect } from 'chai';
import anthropic from '../../providers/anthropic/index.ts';
import { callFor, cases, Dice, everyCut, relayStream, sseBytes, translateReply } from '../kit/index.ts';

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
  '\u0000',
  'event: error\n',
];

const textOf = (dice: Dice, least = 0): string =>
  Array.from({ length: least + dice.below(6) }, () => dice.pick(WORDS)).join('');

function inputOf(dice: Dice): object {
  return Object.fromEntries(
    Array.from({ length: dice.below(4) }, (_, index) => [
      `k${index}`,
      dice.pick([textOf(dice), dice.below(1000), null, true, [textOf(dice)], { deep: textOf(dice) }]),
    ]),
  );
}

type Block = Record<string, any>;

function blockOf(dice: Dice, index: number): Block {
  switch (dice.below(7)) {
    case 0:
      return { type: 'thinking', thinking: textOf(dice), signature: `sig${index}` };
    case 1:
      return { type: 'redacted_thinking', data: `sealed${index}` };
    case 2:
      return { type: 'server_tool_use', id: `srv_${index}`, name: 'web_search', input: inputOf(dice) };
    case 3:
    case 4:
      return { type: 'tool_use', id: `toolu_${index}`, name: dice.pick(['tide', 'clock']), input: inputOf(dice) };
    default:
      return {
        type: 'text',
        text: textOf(dice),
        ...(dice.below(3) === 0 && { citations: Array.from({ length: dice.below(3) }, () => citationOf(dice)) }),
      };
  }
}

function citationOf(dice: Dice): Block {
  const quote = { title: dice.pick(['Hours', null]), cited_text: textOf(dice) };
  return dice.pick([
    { type: 'web_search_result_location', url: `https://h/${dice.below(9)}`, encrypted_index: 'Eo8', ...quote },
    { type: 'search_result_location', source: 'https://h/log', ...quote },
    { type: 'char_location', document_index: 0, document_title: 'Log', cited_text: 'x' },
  ]);
}

/** An answer as a whole body. */
function answerOf(dice: Dice): Block {
  const content =
    dice.below(8) === 0
      ? [{ type: 'tool_use', id: 'toolu_form', name: 'gw_structured_answer', input: inputOf(dice) }]
      : Array.from({ length: dice.below(6) }, (_, index) => blockOf(dice, index));
  return {
    id: `msg_${dice.below(1000)}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content,
    stop_reason: dice.pick(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal', 'pause_turn']),
    usage: {
      input_tokens: dice.below(5000),
      output_tokens: dice.below(5000),
      ...(dice.below(2) === 0 && {
        cache_read_input_tokens: dice.below(900),
        cache_creation_input_tokens: dice.below(900),
      }),
      ...(dice.below(3) === 0 && { output_tokens_details: { thinking_tokens: dice.below(90) } }),
    },
  };
}

function piecesOf(dice: Dice, text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const size = 1 + dice.below(5);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** The start of a block, and what its deltas add. */
function blockEvents(dice: Dice, block: Block, index: number): object[] {
  const start = (content_block: object): object => ({ type: 'content_block_start', index, content_block });
  const delta = (value: object): object => ({ type: 'content_block_delta', index, delta: value });
  const stop = { type: 'content_block_stop', index };
  switch (block['type']) {
    case 'text': {
      const citations = (block['citations'] ?? []).map((citation: Block) =>
        delta({ type: 'citations_delta', citation }),
      );
      const texts = piecesOf(dice, block['text']).map((text) => delta({ type: 'text_delta', text }));
      return [
        start({ type: 'text', text: '', ...(citations.length > 0 && { citations: [] }) }),
        ...(dice.below(2) === 0 ? [...citations, ...texts] : [...texts, ...citations]),
        stop,
      ];
    }
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...piecesOf(dice, block['thinking']).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block['signature'] }),
        stop,
      ];
    case 'redacted_thinking':
      return [start(block), stop];
    default: {
      const { input, ...head } = block;
      const pieces =
        Object.keys(input).length === 0 && dice.below(2) === 0 ? [] : piecesOf(dice, JSON.stringify(input));
      return [
        start({ ...head, input: {} }),
        delta({ type: 'input_json_delta', partial_json: '' }),
        ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ];
    }
  }
}

/** An answer as the vendor's events; blocks may be numbered with gaps. */
function eventsOf(dice: Dice, { content, stop_reason, usage, ...head }: Block): object[] {
  const { output_tokens, output_tokens_details, ...read } = usage;
  const isTold = dice.below(2) === 0; // the numbers of the start are then from before the vendor's tools ran
  const early = isTold ? { input_tokens: dice.below(100), cache_read_input_tokens: 0 } : read;
  const gap = 1 + dice.below(3);
  return [
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, usage: { ...early, output_tokens: 1 } },
    },
    ...content.flatMap((block: Block, index: number) => [
      ...(dice.below(4) === 0 ? [{ type: 'ping' }] : []),
      ...blockEvents(dice, block, index * gap),
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: {
        output_tokens,
        ...(isTold && { cache_read_input_tokens: 0, ...read }),
        ...(output_tokens_details && { output_tokens_details }),
      },
    },
    { type: 'message_stop' },
  ];
}

const named = (event: any): object => ({ type: event.type, data: JSON.stringify(event) });

function cuts(dice: Dice, bytes: Buffer): readonly (readonly Buffer[])[] {
  if (bytes.length < 600) return [...everyCut(bytes)];
  return Array.from({ length: 20 }, () => {
    const places = Array.from({ length: 1 + dice.below(12) }, () => dice.below(bytes.length)).toSorted((a, b) => a - b);
    return [0, ...places].map((place, at, all) => bytes.subarray(place, all[at + 1] ?? bytes.length));
  });
}

describe('anthropic, whole and streamed', () => {
  for (let seed = 1; seed <= cases(300); seed += 100) {
    it(`answers ${seed} to ${Math.min(seed + 99, cases(300))} say the same`, () => {
      for (let one = seed; one < seed + 100 && one <= cases(300); one += 1) {
        const dice = new Dice(one);
        const answer = answerOf(dice);
        const whole = translateReply(anthropic, callFor('claude-sonnet-4-6'), answer);
        for (const pieces of cuts(dice, sseBytes(eventsOf(dice, answer).map(named)))) {
          const { reply, failure, chunks } = relayStream(
            anthropic,
            callFor('claude-sonnet-4-6', { stream: true }),
            pieces,
          );
          expect(failure, `seed ${one}`).to.equal(undefined);
          expect(reply, `seed ${one}`).to.deep.equal({ ...whole, created: reply.created });
          expect(
            chunks.findIndex(({ usage }) => usage),
            `usage of seed ${one}`,
          ).to.be.oneOf([-1, chunks.length - 1]);
        }
      }
    });
  }
});
