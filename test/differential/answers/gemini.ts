import type { Dice } from '../../kit/index.ts';
import { type Answer, type Block, type Finish, piecesOf, sse, type Teller } from './answer.ts';

const FINISHES: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  calls: 'STOP',
  filter: 'SAFETY',
};

/** Source: ai.google.dev, API reference, "UsageMetadata": thoughts are counted beside the answer, 2026-11-22. */
function usageOf({ tokens: { input, cached, output, thought } }: Answer): object {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - thought,
    totalTokenCount: input + output,
    ...(thought > 0 && { thoughtsTokenCount: thought }),
    ...(cached > 0 && { cachedContentTokenCount: cached }),
  };
}

function partsOf(block: Block, cut: (text: string) => string[]): object[] {
  if (block.kind === 'text') return cut(block.text).map((text) => ({ text }));
  if (block.kind === 'thought') return cut(block.text).map((text) => ({ text, thought: true }));
  return [{ functionCall: { id: block.id, name: block.name, args: block.input } }];
}

const uncut = (text: string): string[] => [text];
const about = ({ id }: Answer): object => ({ modelVersion: 'gemini-2.5-flash', responseId: id });

function whole(answer: Answer): object {
  const parts = answer.blocks.flatMap((block) => partsOf(block, uncut));
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: FINISHES[answer.finish], index: 0 }],
    usageMetadata: usageOf(answer),
    ...about(answer),
  };
}

/** Frames of one or more parts; the last says why it ends, with the usage or right before it. */
function frames(answer: Answer, dice: Dice): object[] {
  const parts = answer.blocks.flatMap((block) => partsOf(block, (text) => piecesOf(dice, text)));
  const found: object[] = [];
  while (parts.length > 0)
    found.push({
      candidates: [{ content: { role: 'model', parts: parts.splice(0, 1 + dice.below(2)) }, index: 0 }],
      usageMetadata: { promptTokenCount: answer.tokens.input },
      ...about(answer),
    });
  const end = {
    candidates: [
      { content: { role: 'model', parts: [{ text: '' }] }, finishReason: FINISHES[answer.finish], index: 0 },
    ],
    usageMetadata: usageOf(answer),
    ...about(answer),
  };
  return [...found, end];
}

export const gemini: Teller = { whole, stream: (answer, dice) => sse(frames(answer, dice)) };
