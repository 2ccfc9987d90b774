import type { Dice } from '../../kit/index.ts';
import { type Answer, type Block, callsOf, type Finish, piecesOf, sse, type Teller } from './answer.ts';

const FINISHES: Readonly<Record<Finish, string>> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  calls: 'TOOL_CALL',
  filter: 'ERROR_TOXIC',
};

const usageOf = ({ tokens: { input, cached, output } }: Answer): object => ({
  billed_units: { input_tokens: input, output_tokens: output },
  tokens: { input_tokens: input, output_tokens: output },
  ...(cached > 0 && { cached_tokens: cached }),
});
const contentOf = (block: Block): object[] => {
  if (block.kind === 'call') return [];
  return block.kind === 'text' ? [{ type: 'text', text: block.text }] : [{ type: 'thinking', thinking: block.text }];
};
const callOf = ({ id, name, input }: Block & { readonly kind: 'call' }): object => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
});

function whole(answer: Answer): object {
  const calls = callsOf(answer).map(callOf);
  const content = answer.blocks.flatMap(contentOf);
  const message = {
    role: 'assistant',
    ...(content.length > 0 && { content }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { id: answer.id, message, finish_reason: FINISHES[answer.finish], usage: usageOf(answer) };
}

function blockEvents(dice: Dice, block: Block, index: number): object[] {
  if (block.kind === 'call') {
    const start = {
      type: 'tool-call-start',
      index,
      delta: {
        message: { tool_calls: { id: block.id, type: 'function', function: { name: block.name, arguments: '' } } },
      },
    };
    const pieces = piecesOf(dice, JSON.stringify(block.input)).map((piece) => ({
      type: 'tool-call-delta',
      index,
      delta: { message: { tool_calls: { function: { arguments: piece } } } },
    }));
    return [start, ...pieces, { type: 'tool-call-end', index }];
  }
  const key = block.kind === 'text' ? 'text' : 'thinking';
  const event = (type: string, text: string): object => ({
    type,
    index,
    delta: { message: { content: { ...(type === 'content-start' && { type: key }), [key]: text } } },
  });
  return [
    event('content-start', ''),
    ...piecesOf(dice, block.text).map((piece) => event('content-delta', piece)),
    { type: 'content-end', index },
  ];
}

function events(answer: Answer, dice: Dice): object[] {
  return [
    {
      type: 'message-start',
      id: answer.id,
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    },
    ...answer.blocks.flatMap((block, index) => blockEvents(dice, block, index)),
    { type: 'message-end', delta: { finish_reason: FINISHES[answer.finish], usage: usageOf(answer) } },
  ];
}

/** The vendor counts no tokens of thinking. */
const fit = (answer: Answer): Answer => ({ ...answer, tokens: { ...answer.tokens, thought: 0 } });

export const cohere: Teller = { fit, whole, stream: (answer, dice) => sse(events(answer, dice), { isNamed: true }) };
