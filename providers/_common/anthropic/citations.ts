import { type Fields, isFields } from '../fields.ts';

/** Where the text that citations stand behind lies in the content, in UTF-16 code units; the end is the first one after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Citations of a text block as annotations of the common wire, which knows addresses only: what cites a document of the
 * request has no place there. Sources: OpenAI API reference, "Chat completions", `annotations`; platform.claude.com,
 * "Web search tool", "Search results"; 2026-11-22.
 */
export function annotationsOf(citations: unknown, { start, end }: Span): Fields[] {
  if (!Array.isArray(citations)) return [];
  return citations.filter(isFields).flatMap((citation) => {
    const url = citation['type'] === 'search_result_location' ? citation['source'] : citation['url'];
    if (typeof url !== 'string' || url === '') return [];
    const { title, cited_text: quoted } = citation;
    const isTitled = typeof title === 'string' && title !== '';
    const place = { url, title: isTitled ? title : url, start_index: start, end_index: end };
    return [
      { type: 'url_citation', url_citation: { ...place, ...(typeof quoted === 'string' && { content: quoted }) } },
    ];
  });
}
