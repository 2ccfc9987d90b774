import { chunk } from '../../providers/bedrock-support.ts';
import type { Dice } from '../../kit/index.ts';
import { type Answer, type Block, type Finish, piecesOf, sse, type Teller } from './answer.ts';

const FINISHES: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
};

/** The numbers of `usage`; those of the whole answer stand at its end, cumulative. Source: platform.claude.com, "Streaming messages", 2026-11-22. */
function usageOf({ tokens: { input, cached, output, thought } }: Answer): object {
  return {
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
    ...(thought > 0 && { output_tokens_details: { thinking_tokens: thought } }),
  };
}

function blockOf(block: Block): Record<string, any> {
  if (block.kind === 'text') return { type: 'text', text: block.text };
  if (block.kind === 'thought') return { type: 'thinking', thinking: block.text, signature: 'c2ln' };
  return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
}

const head = ({ id }: Answer): object => ({ id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' });

function whole(answer: Answer): object {
  return {
    ...head(answer),
    content: answer.blocks.map(blockOf),
    stop_reason: FINISHES[answer.finish],
    stop_sequence: null,
    usage: usageOf(answer),
  };
}

function blockEvents(dice: Dice, block: Block, index: number): object[] {
  const delta = (value: object): object => ({ type: 'content_block_delta', index, delta: value });
  const start = (content_block: object): object => ({ type: 'content_block_start', index, content_block });
  const stop = { type: 'content_block_stop', index };
  if (block.kind === 'text')
    return [
      start({ type: 'text', text: '' }),
      ...piecesOf(dice, block.text).map((text) => delta({ type: 'text_delta', text })),
      stop,
    ];
  if (block.kind === 'thought') {
    return [
      start({ type: 'thinking', thinking: '', signature: '' }),
      ...piecesOf(dice, block.text).map((thinking) => delta({ type: 'thinking_delta', thinking })),
      delta({ type: 'signature_delta', signature: 'c2ln' }),
      stop,
    ];
  }
  const pieces =
    Object.keys(block.input).length === 0 && dice.below(2) === 0 ? [] : piecesOf(dice, JSON.stringify(block.input));
  return [
    start({ ...blockOf(block), input: {} }),
    delta({ type: 'input_json_delta', partial_json: '' }),
    ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
    stop,
  ];
}

function events(answer: Answer, dice: Dice): object[] {
  const {
    tokens: { input, cached },
  } = answer;
  const early = {
    input_tokens: dice.below(3) === 0 ? 1 : input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
  };
  return [
    {
      type: 'message_start',
      message: { ...head(answer), content: [], stop_reason: null, stop_sequence: null, usage: early },
    },
    ...answer.blocks.flatMap((block, index) => [
      ...(dice.below(4) === 0 ? [{ type: 'ping' }] : []),
      ...blockEvents(dice, block, index),
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: FINISHES[answer.finish], stop_sequence: null },
      usage: usageOf(answer),
    },
    { type: 'message_stop' },
  ];
}

export const anthropic: Teller = { whole, stream: (answer, dice) => sse(events(answer, dice), { isNamed: true }) };
export const bedrockClaude: Teller = {
  whole,
  stream: (answer, dice) => Buffer.concat(events(answer, dice).map(chunk)),
};
