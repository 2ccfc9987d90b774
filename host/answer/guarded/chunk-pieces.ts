import type { ChatChunk, ChunkChoice, ChunkDelta, ToolCallDelta } from '../../contract/index.ts';

/** UTF-16 code units of one text that guards look at before others are served. */
export const LONG_TEXT = 64 * 1024;

/** A chunk with a long text as several with pieces of it, in their order; others as they are. Guards see text after text as if it had come so. */
export function chunkPieces(chunk: ChatChunk, most = LONG_TEXT): readonly ChatChunk[] {
  if (!chunk.choices.some(({ delta }) => hasLong(delta, most))) return [chunk];
  const { choices, usage, ...head } = chunk;
  const pieces: ChatChunk[] = choices
    .flatMap((choice) => choicePieces(choice, most))
    .map((choice) => ({ ...head, choices: [choice] }));
  const last = pieces.at(-1);
  if (last && usage !== undefined) last.usage = usage;
  return pieces;
}

function hasLong({ content, reasoning_content: reasoning, tool_calls: calls }: ChunkDelta, most: number): boolean {
  const isLong = (text: unknown): boolean => typeof text === 'string' && text.length > most;
  return isLong(content) || isLong(reasoning) || calls?.some((call) => isLong(call.function?.arguments)) === true;
}

/** Thoughts, what else the delta holds, the text, each call: the order in which texts of one chunk stand. */
function choicePieces(choice: ChunkChoice, most: number): ChunkChoice[] {
  const { delta, finish_reason: finish, index, ...more } = choice;
  if (!hasLong(delta, most)) return [choice];
  const { role, reasoning_content: reasoning, content, tool_calls: calls, ...others } = delta;
  const deltas: ChunkDelta[] = [
    ...slices(reasoning, most).map((text) => ({ reasoning_content: text })),
    ...(Object.keys(others).length > 0 ? [others] : []),
    ...slices(content, most).map((text) => ({ content: text })),
    ...(calls ?? []).flatMap((call, place) => callPieces(call, place, most)),
  ];
  const [first] = deltas;
  if (first && role !== undefined) deltas[0] = { role, ...first };
  const end = deltas.length - 1;
  return deltas.map((each, at) => ({
    ...(at === end && more),
    index,
    delta: each,
    finish_reason: at === end ? (finish ?? null) : null,
  }));
}

function callPieces(call: ToolCallDelta, place: number, most: number): ChunkDelta[] {
  const { index = place, function: called } = call;
  const [first, ...rest] = slices(called?.arguments, most);
  const head = {
    ...call,
    index,
    ...(called && { function: { ...called, ...(first !== undefined && { arguments: first }) } }),
  };
  return [{ tool_calls: [head] }, ...rest.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] }))];
}

/** A text in pieces that begin and end with whole characters. Nothing and what is not a text have none. */
function slices(text: string | null | undefined, most: number): string[] {
  if (typeof text !== 'string') return [];
  const cut: string[] = [];
  let from = 0;
  do {
    const isWhole = (text.codePointAt(from + most - 1) ?? 0) <= 0xffff;
    const to = from + (isWhole ? most : most - 1);
    cut.push(text.slice(from, to));
    from = to;
  } while (from < text.length);
  return cut;
}
