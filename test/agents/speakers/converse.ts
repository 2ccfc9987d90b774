import { event } from '../../providers/bedrock-support.ts';
import { callsOf, type Turn } from '../script.ts';
import { pieces } from './common.ts';

/** A turn as a stream of Converse. Source: Amazon Bedrock API reference, "ConverseStream", 2026-11-22. */
export function speakConverse(turn: Turn, number: number): Buffer {
  const frames: Buffer[] = [];
  const send = (type: string, payload: object): number => frames.push(event(type, payload));
  let contentBlockIndex = 0;
  const block = (start: object | undefined, deltas: readonly object[]): void => {
    if (start) send('contentBlockStart', { contentBlockIndex, start });
    for (const delta of deltas) send('contentBlockDelta', { contentBlockIndex, delta });
    send('contentBlockStop', { contentBlockIndex });
    contentBlockIndex += 1;
  };
  send('messageStart', { role: 'assistant' });
  if (turn.thought !== undefined)
    block(
      undefined,
      pieces(turn.thought).map((text) => ({ reasoningContent: { text } })),
    );
  if (turn.say !== undefined)
    block(
      undefined,
      pieces(turn.say).map((text) => ({ text })),
    );
  for (const { id, tool, args } of callsOf(turn, number))
    block(
      { toolUse: { toolUseId: id, name: tool } },
      pieces(JSON.stringify(args)).map((input) => ({ toolUse: { input } })),
    );
  send('messageStop', { stopReason: turn.calls ? 'tool_use' : 'end_turn' });
  send('metadata', { usage: { inputTokens: 100, outputTokens: 9, totalTokens: 109 }, metrics: { latencyMs: 7 } });
  return Buffer.concat(frames);
}
