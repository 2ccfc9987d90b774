/** A source of an answer, and where in its text it is cited. */
export interface Citation {
  readonly url: string;
  /** The address where the source has no title. */
  readonly title?: unknown;
  /** Characters of the text; 0 and 0 where the source is not cited at one place. */
  readonly start?: number;
  readonly end?: number;
}

/** Sources as the common wire has them. Source: OpenAI API reference, "Chat", `annotations` of a message, 2026-11-22. */
export function urlCitations(citations: readonly Citation[]): object[] {
  return citations.map(({ url, title, start = 0, end = 0 }) => ({
    type: 'url_citation',
    url_citation: {
      start_index: start,
      end_index: end,
      url,
      title: typeof title === 'string' && title !== '' ? title : url,
    },
  }));
}
