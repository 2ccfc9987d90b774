import { sseEvent } from '../../kit/index.ts';
import { callsOf, type Turn } from '../script.ts';

/** A turn as a stream of the common wire. Vendors that show thoughts do so in `reasoning_content`. */
export function speakCommon(turn: Turn, number: number, model: string): string {
  const head = { id: `chatcmpl-${number}`, object: 'chat.completion.chunk', created: 1_790_000_000, model };
  const events: object[] = [];
  const send = (delta: object, finish: string | null = null): number =>
    events.push({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  send({ role: 'assistant', content: '' });
  for (const piece of pieces(turn.thought)) send({ reasoning_content: piece });
  for (const piece of pieces(turn.say)) send({ content: piece });
  callsOf(turn, number).forEach(({ id, tool, args }, index) => {
    send({ tool_calls: [{ index, id, type: 'function', function: { name: tool, arguments: '' } }] });
    for (const piece of pieces(JSON.stringify(args))) send({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  send({}, turn.calls ? 'tool_calls' : 'stop');
  events.push({ ...head, choices: [], usage: { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109 } });
  return events.map(sseEvent).join('') + sseEvent('[DONE]');
}

/** A text in pieces of a few characters, as models stream it. */
export const pieces = (text = ''): readonly string[] => text.match(/[^]{1,7}/g) ?? [];
