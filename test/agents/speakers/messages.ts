import { callsOf, type Turn } from '../script.ts';
import { pieces } from './common.ts';

/** A turn as a stream of the Messages API. Source: platform.claude.com, "Streaming messages", 2026-11-22. */
export function speakMessages(turn: Turn, number: number, model: string): string {
  const frames: string[] = [];
  const send = (type: string, members: object): void => {
    frames.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
  };
  let index = 0;
  const block = (content_block: object, deltas: readonly object[]): void => {
    send('content_block_start', { index, content_block });
    for (const delta of deltas) send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
    index += 1;
  };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model, content: [], container: null };
  const usage = { input_tokens: 100, output_tokens: 1 };
  send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, stop_details: null, usage } });
  send('ping', {});
  if (turn.thought !== undefined)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(turn.thought).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: `c2lnbmF0dXJl${number}A==` },
    ]);
  if (turn.say !== undefined)
    block(
      { type: 'text', text: '' },
      pieces(turn.say).map((text) => ({ type: 'text_delta', text })),
    );
  for (const { id, tool, args } of callsOf(turn, number))
    block(
      { type: 'tool_use', id, name: tool, input: {}, caller: { type: 'direct' } },
      ['', ...pieces(JSON.stringify(args))].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    );
  const delta = { stop_reason: turn.calls ? 'tool_use' : 'end_turn', stop_sequence: null, stop_details: null };
  send('message_delta', { delta, usage: { output_tokens: 9 } });
  send('message_stop', {});
  return frames.join('');
}
