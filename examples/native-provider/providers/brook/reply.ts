import {
  type ChatChunk,
  type ChatReply,
  countOf,
  type Fields,
  isFields,
  parseJson,
  type StreamDecoder,
  type UnaryReply,
  type Usage,
} from 'gw/contract';

/** `{"text", "ended": "done" | "full", "used": {"in", "out"}}` */
export function fromUpstream(reply: UnaryReply): ChatReply {
  const body = reply.json();
  if (!isFields(body) || typeof body['text'] !== 'string') throw new Error('brook sent no text');
  const usage = usageOf(body['used']);
  return {
    choices: [{ index: 0, message: { role: 'assistant', content: body['text'] }, finish_reason: finishOf(body) }],
    ...(usage && { usage }),
  };
}

/** A line each: `{"text"}` for a piece, and last `{"ended", "used"}`, the trailer. One decoder per stream: it knows whether it has begun. */
export function openStream(): StreamDecoder {
  let hasBegun = false;
  return ({ data }): readonly ChatChunk[] => {
    const line = parseJson(data);
    if (!isFields(line)) throw new Error('brook sent a line that is not an object');
    if (isFields(line['trouble'])) throw new Error(String(line['trouble']['what']));
    const role = hasBegun ? {} : { role: 'assistant' };
    hasBegun = true;
    if (typeof line['text'] === 'string')
      return [{ choices: [{ index: 0, delta: { ...role, content: line['text'] }, finish_reason: null }] }];
    const usage = usageOf(line['used']);
    return [{ choices: [{ index: 0, delta: role, finish_reason: finishOf(line) }], ...(usage && { usage }) }];
  };
}

const finishOf = ({ ended }: Fields): 'length' | 'stop' => (ended === 'full' ? 'length' : 'stop');

function usageOf(used: unknown): Usage | undefined {
  if (!isFields(used)) return undefined;
  const [prompt, completion] = [countOf(used['in']), countOf(used['out'])];
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
