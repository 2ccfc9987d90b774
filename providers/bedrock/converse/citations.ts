import { type Fields, isFields } from 'gw/common-wire';
import { annotationsOf, type Span } from '../../_common/anthropic/citations.ts';

/**
 * What a `citationsContent` block says: words that belong to the answer like those of a text block, or nothing where the
 * words stand in a block of their own. Source: Amazon Bedrock API reference, "CitationsContentBlock", 2026-11-23.
 */
export function citedText({ citationsContent: cited }: Fields): string {
  const content = isFields(cited) ? cited['content'] : undefined;
  return textsOf(content).join('');
}

/** Sources of a block that have an address. */
export function citationsOf({ citationsContent: cited }: Fields, span: Span): Fields[] {
  const citations = isFields(cited) ? cited['citations'] : undefined;
  return annotationsOf(Array.isArray(citations) ? citations.map(toCitation) : [], span);
}

/** A citation as the Messages API has it; one of a document of the request has no address. */
export function toCitation(value: unknown): Fields {
  const { location, source, title, sourceContent } = isFields(value) ? value : {};
  const { web, searchResultLocation } = isFields(location) ? location : {};
  const quoted = textsOf(sourceContent).join('');
  return {
    title,
    url: isFields(web) ? web['url'] : isFields(searchResultLocation) ? source : undefined,
    ...(quoted !== '' && { cited_text: quoted }),
  };
}

function textsOf(parts: unknown): string[] {
  return Array.isArray(parts)
    ? parts.filter(isFields).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    : [];
}
