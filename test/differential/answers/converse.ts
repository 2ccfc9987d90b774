import { chunk, event } from '../../providers/bedrock-support.ts';
import type { Dice } from '../../kit/index.ts';
import { type Answer, type Block, type Finish, piecesOf, type Teller } from './answer.ts';

const FINISHES: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'content_filtered',
};

/** Source: Amazon Bedrock API reference, "TokenUsage": what was read from a cache stands beside the input, 2026-11-22. */
function usageOf({ tokens: { input, cached, output } }: Answer): object {
  return {
    inputTokens: input - cached,
    outputTokens: output,
    totalTokens: input + output,
    ...(cached > 0 && { cacheReadInputTokens: cached, cacheWriteInputTokens: 0 }),
  };
}

function blockOf(block: Block): object {
  if (block.kind === 'text') return { text: block.text };
  if (block.kind === 'thought') return { reasoningContent: { reasoningText: { text: block.text, signature: 'c2ln' } } };
  return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
}

function whole(answer: Answer): object {
  return {
    output: { message: { role: 'assistant', content: answer.blocks.map(blockOf) } },
    stopReason: FINISHES[answer.finish],
    usage: usageOf(answer),
    metrics: { latencyMs: 5 },
  };
}

type Named = readonly [string, object];

function blockEvents(dice: Dice, block: Block, contentBlockIndex: number): Named[] {
  const delta = (value: object): Named => ['contentBlockDelta', { contentBlockIndex, delta: value }];
  const stop: Named = ['contentBlockStop', { contentBlockIndex }];
  if (block.kind === 'text') return [...piecesOf(dice, block.text).map((text) => delta({ text })), stop];
  if (block.kind === 'thought')
    return [
      ...piecesOf(dice, block.text).map((text) => delta({ reasoningContent: { text } })),
      delta({ reasoningContent: { signature: 'c2ln' } }),
      stop,
    ];
  const pieces = piecesOf(dice, JSON.stringify(block.input));
  return [
    ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: block.id, name: block.name } } }],
    ...pieces.map((input) => delta({ toolUse: { input } })),
    stop,
  ];
}

function events(answer: Answer, dice: Dice): Named[] {
  return [
    ['messageStart', { role: 'assistant' }],
    ...answer.blocks.flatMap((block, at) => blockEvents(dice, block, at)),
    ['messageStop', { stopReason: FINISHES[answer.finish] }],
    ['metadata', { usage: usageOf(answer), metrics: { latencyMs: 5 } }],
  ];
}

/** The service counts no tokens of thinking. */
const fit = (answer: Answer): Answer => ({ ...answer, tokens: { ...answer.tokens, thought: 0 } });

export const converse: Teller = {
  fit,
  whole,
  stream: (answer, dice) => Buffer.concat(events(answer, dice).map(([type, payload]) => event(type, payload))),
};
export const novaInvoked: Teller = {
  fit,
  whole,
  stream: (answer, dice) => Buffer.concat(events(answer, dice).map(([type, payload]) => chunk({ [type]: payload }))),
};
