import type { ChatChunk, ChatReply, ChunkEdit } from 'gw/contract';
import { type Citation, type Fields, isFields, isGiven, urlCitations } from 'gw/common-wire';

const SEARCH_FIELDS = new Set(['citations', 'search_results', 'images', 'related_questions']);

/** What the search found: the sources as annotations of the message, all of it as `provider_metadata`. See docs/reference/providers.md#whole-answers. */
export function withSources(reply: ChatReply): ChatReply {
  const found = Object.entries(reply).filter(([name, value]) => SEARCH_FIELDS.has(name) && isGiven(value));
  if (found.length === 0) return reply;
  const rest = Object.fromEntries(Object.entries(reply).filter(([name]) => !SEARCH_FIELDS.has(name))) as ChatReply;
  const choices = reply.choices.map((choice) => {
    const annotations = annotationsOf(reply, isFields(choice.message) ? choice.message.content : '');
    return annotations.length > 0 && isFields(choice.message)
      ? { ...choice, message: { ...choice.message, annotations } }
      : choice;
  });
  return { ...rest, choices, provider_metadata: Object.fromEntries(found) };
}

/** Characters of a stream in which citations are looked for. */
const MAX_TEXT = 1_000_000;

/**
 * Every chunk names the sources; as annotations they leave once, with the end of their choice. The text is put together
 * for the places where it cites them.
 */
export function editStream(): ChunkEdit {
  const texts = new Map<unknown, string>();
  return (chunk: ChatChunk) => {
    const choices: unknown = chunk.choices;
    for (const { index, delta, finish_reason: finish } of (Array.isArray(choices) ? choices : []).filter(isFields)) {
      if (!isFields(delta)) continue;
      const known = texts.get(index) ?? '';
      const text = known.length < MAX_TEXT && typeof delta['content'] === 'string' ? known + delta['content'] : known;
      texts.set(index, text);
      const annotations = isGiven(finish) ? annotationsOf(chunk, text) : [];
      if (annotations.length > 0) (delta as Record<string, unknown>)['annotations'] = annotations;
    }
  };
}

/** Results have titles, older models name addresses alone. The text cites the first source as `[1]`. */
function annotationsOf({ search_results: results, citations }: Fields, content: unknown): object[] {
  const found = [results, citations].find((list) => Array.isArray(list) && list.length > 0);
  const sources = (Array.isArray(found) ? found : []).map((source: unknown): Fields =>
    isFields(source) ? source : { url: source },
  );
  const text = typeof content === 'string' ? content : '';
  return urlCitations(
    sources.flatMap(({ url, title }, at): Citation[] =>
      typeof url === 'string' && url !== '' ? [{ url, title, ...placeOf(`[${at + 1}]`, text) }] : [],
    ),
  );
}

/** Where a mark stands first. */
function placeOf(mark: string, text: string): Pick<Citation, 'start' | 'end'> {
  const start = text.indexOf(mark);
  return start < 0 ? {} : { start, end: start + mark.length };
}
