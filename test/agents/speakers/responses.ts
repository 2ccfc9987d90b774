import { callsOf, type NumberedCall, type Turn } from '../script.ts';
import { pieces } from './common.ts';

type Json = Readonly<Record<string, unknown>>;

/** Numbers the events and the items of one answer. */
class Answer {
  readonly #frames: string[] = [];
  readonly #output: Json[] = [];

  send(type: string, members: object): void {
    const data = JSON.stringify({ type, sequence_number: this.#frames.length, ...members });
    this.#frames.push(`event: ${type}\ndata: ${data}\n\n`);
  }

  /** One item, from its first event to its last; what stands between is sent by `fill`, with what names the item. */
  item(begun: Json, whole: Json, fill: (place: object) => void): void {
    const place = { item_id: whole['id'], output_index: this.#output.length };
    this.send('response.output_item.added', { output_index: place.output_index, item: begun });
    fill(place);
    this.send('response.output_item.done', { output_index: place.output_index, item: whole });
    this.#output.push(whole);
  }

  end(response: Json): string {
    this.send('response.completed', {
      response: {
        ...response,
        status: 'completed',
        output: this.#output,
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 9,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 109,
        },
      },
    });
    return this.#frames.join('');
  }
}

/** A turn as a stream of the Responses API. Source: openai 6.49.0, `ResponseStreamEvent`, 2026-11-22. */
export function speakResponses(turn: Turn, number: number, model: string): string {
  const answer = new Answer();
  const response = { id: `resp_${number}`, object: 'response', created_at: 1_790_000_000, model, output: [] };
  answer.send('response.created', { response: { ...response, status: 'in_progress' } });
  answer.send('response.in_progress', { response: { ...response, status: 'in_progress' } });
  if (turn.thought !== undefined) think(answer, turn.thought, number);
  if (turn.say !== undefined) say(answer, turn.say, number);
  for (const call of callsOf(turn, number)) makeCall(answer, call);
  return answer.end(response);
}

function think(answer: Answer, thought: string, number: number): void {
  const item = { id: `rs_${number}`, type: 'reasoning', summary: [], encrypted_content: `sealed-${number}` };
  const part = { type: 'summary_text', text: thought };
  answer.item(item, { ...item, summary: [part] }, (place) => {
    const at = { ...place, summary_index: 0 };
    answer.send('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } });
    for (const delta of pieces(thought)) answer.send('response.reasoning_summary_text.delta', { ...at, delta });
    answer.send('response.reasoning_summary_text.done', { ...at, text: thought });
    answer.send('response.reasoning_summary_part.done', { ...at, part });
  });
}

function say(answer: Answer, text: string, number: number): void {
  const item = { id: `msg_${number}`, type: 'message', role: 'assistant', status: 'completed' };
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  answer.item({ ...item, status: 'in_progress', content: [] }, { ...item, content: [part] }, (place) => {
    const at = { ...place, content_index: 0 };
    answer.send('response.content_part.added', { ...at, part: { ...part, text: '' } });
    for (const delta of pieces(text)) answer.send('response.output_text.delta', { ...at, delta, logprobs: [] });
    answer.send('response.output_text.done', { ...at, text, logprobs: [] });
    answer.send('response.content_part.done', { ...at, part });
  });
}

/** A custom tool gets its one text, and functions in a namespace stand apart from it. */
function makeCall(answer: Answer, { id, tool, args }: NumberedCall): void {
  const [name, namespace] = tool.split('__').toReversed();
  const item = { id: `fc_${id}`, call_id: id, name, ...(namespace !== undefined && { namespace }) };
  const isCustom = 'input' in args;
  const text = isCustom ? String(args['input']) : JSON.stringify(args);
  const [type, member, events] = isCustom
    ? ['custom_tool_call', 'input', 'response.custom_tool_call_input']
    : ['function_call', 'arguments', 'response.function_call_arguments'];
  answer.item(
    { ...item, type, status: 'in_progress', [member]: '' },
    { ...item, type, status: 'completed', [member]: text },
    (place) => {
      for (const delta of pieces(text)) answer.send(`${events}.delta`, { ...place, delta });
      answer.send(`${events}.done`, { ...place, ...(!isCustom && { name }), [member]: text });
    },
  );
}
