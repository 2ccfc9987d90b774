import { callsOf, type Turn } from '../script.ts';
import { pieces } from './common.ts';

/** A turn as a stream of the Gemini API. Source: ai.google.dev, "Generating content" and "Thought signatures", 2026-11-22. */
export function speakGemini(turn: Turn, number: number, model: string): string {
  const frames: object[] = [];
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 9, totalTokenCount: 109 };
  const frame = (parts: readonly object[], more: object = {}): number =>
    frames.push({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      usageMetadata,
      modelVersion: model,
      responseId: `r${number}`,
    });
  for (const text of pieces(turn.thought)) frame([{ text, thought: true }]);
  for (const text of pieces(turn.say)) frame([{ text }]);
  callsOf(turn, number).forEach(({ id, tool, args }, at) =>
    frame([
      {
        functionCall: { id, name: tool, args },
        ...(at === 0 && { thoughtSignature: `c2lnbmF0dXJl${number}A==` }),
      },
    ]),
  );
  frame([{ text: '' }], { finishReason: 'STOP' });
  return frames.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('');
}
