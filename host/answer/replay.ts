import type { ChatChunk, ChatReply, ToolCall } from '../contract/index.ts';

/** Characters of text per replayed chunk; of a short text fewer, so that it comes in several. */
const PIECE = 40;
const FEWEST_PIECES = 3;

/** A whole answer as the chunks of a stream: text in pieces, then the finish, then the usage unless the client opted out. */
export function replayReply(reply: ChatReply, stripUsage: boolean): readonly ChatChunk[] {
  const head = headOf(reply);
  const chunks: ChatChunk[] = [];
  for (const { index, message, logprobs, finish_reason } of reply.choices) {
    const delta = (value: ChatChunk['choices'][number]['delta']): void => {
      chunks.push({ ...head, choices: [{ index, delta: value, finish_reason: null }] });
    };
    delta({ role: 'assistant', ...(message.content === '' && { content: '' }) });
    for (const piece of pieces(message.reasoning_content ?? '')) delta({ reasoning_content: piece });
    if (message.reasoning_details) delta({ reasoning_details: message.reasoning_details });
    for (const piece of pieces(message.content ?? '')) delta({ content: piece });
    message.tool_calls?.forEach((call: ToolCall, at) => delta({ tool_calls: [{ ...call, index: at }] }));
    chunks.push({
      ...head,
      choices: [{ index, delta: {}, ...(logprobs !== undefined && { logprobs }), finish_reason }],
    });
  }
  if (reply.usage && !stripUsage) chunks.push({ ...head, choices: [], usage: reply.usage });
  return chunks;
}

/** A whole answer as a single chunk: role, content, finish and usage. */
export function replayWhole(reply: ChatReply, stripUsage: boolean): ChatChunk {
  const choices = reply.choices.map(
    ({ index, message: { tool_calls: calls, ...message }, logprobs, finish_reason }) => ({
      index,
      delta: { ...message, ...(calls && { tool_calls: calls.map((call, at) => ({ ...call, index: at })) }) },
      ...(logprobs !== undefined && { logprobs }),
      finish_reason,
    }),
  );
  return { ...headOf(reply), choices, ...(reply.usage && !stripUsage && { usage: reply.usage }) };
}

const headOf = ({ id = '', created = 0, model = '' }: ChatReply): Omit<ChatChunk, 'choices'> => ({
  id,
  object: 'chat.completion.chunk',
  created,
  model,
});

/** Cuts between characters, never inside a surrogate pair. */
function pieces(text: string): string[] {
  const characters = Array.from(text);
  const cut: string[] = [];
  const size = Math.min(PIECE, Math.ceil(characters.length / FEWEST_PIECES));
  for (let at = 0; at < characters.length; at += size) cut.push(characters.slice(at, at + size).join(''));
  return cut;
}
