import { type Citation, countOf, type Fields, isFields, urlCitations } from 'gw/common-wire';

/**
 * Citations as annotations, one for each source that a place of the text cites. Places are counted in the block that holds
 * them, which begins at `offsetOf` its index. What thoughts and plans cite has no place in the text. Source: cohere-ai
 * 8.1.0, Citation, ChatDocumentSource and ChatToolSource, 2026-11-22.
 */
export function annotationsOf(citations: readonly unknown[], offsetOf: (block: number) => number): object[] {
  return urlCitations(
    citations
      .filter(isFields)
      .filter(({ type = 'TEXT_CONTENT' }) => type === 'TEXT_CONTENT')
      .flatMap((citation): Citation[] => {
        const { start, end, sources, content_index: block } = citation;
        const offset = offsetOf(countOf(block));
        return (Array.isArray(sources) ? sources : [])
          .filter(isFields)
          .map(sourceOf)
          .filter(({ url }) => url !== '')
          .map((source) => ({ ...source, start: offset + countOf(start), end: offset + countOf(end) }));
      }),
  );
}

/** A document of the caller's or what a tool said. Where it names no address, its id stands for it. */
function sourceOf({ id, document, tool_output: output }: Fields): Pick<Citation, 'url' | 'title'> {
  const { url, title } = [document, output].find(isFields) ?? {};
  return {
    url: ([url, id].find((name) => typeof name === 'string' && name !== '') as string | undefined) ?? '',
    title,
  };
}
