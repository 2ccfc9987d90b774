import { Buffer } from 'node:buffer';
import { type Citation, type Fields, isFields, urlCitations } from 'gw/common-wire';

/** Characters beyond which a text is cited without places, and passages beyond which it is not cited at all. */
const MAX_TEXT = 256 * 1024;
const MAX_PASSAGES = 1000;

/** What was said, and where in it each part of the vendor's content begins. */
export interface Said {
  readonly text: string;
  readonly partStarts: readonly number[];
}

interface Source {
  readonly url: string;
  readonly title: unknown;
}

interface Passage {
  readonly start: number;
  readonly end: number;
}

/** Where a source is not cited at one place. */
const NOWHERE: Passage = { start: 0, end: 0 };

/**
 * The sources of a candidate as annotations of the common wire, in UTF-16 code units of the content; the vendor counts
 * bytes, part by part. Sources that nothing cites come last, without a place. Sources: ai.google.dev, API reference,
 * "GroundingMetadata", "CitationMetadata"; OpenAI API reference, "Chat", `annotations`; 2026-11-22.
 */
export function annotationsOf(candidates: readonly Fields[], said: Said): object[] {
  const places = new Places(said);
  const cited = new Map<string, Citation>();
  const seen = new Set<unknown>();
  const add = (source: Source | undefined, find: () => Passage): void => {
    if (!source || cited.size >= MAX_PASSAGES) return;
    const passage = find();
    cited.set(JSON.stringify([source.url, passage]), { ...source, ...passage });
    seen.add(source.url);
  };
  const grounded = candidates.map(({ groundingMetadata: grounding }) => ({
    grounding,
    sources: itemsIn(grounding, 'groundingChunks').map(sourceOf),
  }));
  for (const { grounding, sources } of grounded) {
    for (const { segment, groundingChunkIndices: indices } of itemsIn(grounding, 'groundingSupports')) {
      if (Array.isArray(indices)) for (const index of indices) add(sources[Number(index)], () => places.of(segment));
    }
  }
  for (const { citationMetadata: recited } of candidates) {
    for (const citation of [...itemsIn(recited, 'citationSources'), ...itemsIn(recited, 'citations')])
      add(addressOf(citation), () => places.of(citation));
  }
  for (const source of grounded.flatMap(({ sources }) => sources))
    if (source && !seen.has(source.url)) add(source, () => NOWHERE);
  return urlCitations([...cited.values()]);
}

function itemsIn(holder: unknown, name: string): readonly Fields[] {
  const list = isFields(holder) ? holder[name] : undefined;
  return Array.isArray(list) ? list.map((item: unknown) => (isFields(item) ? item : {})) : [];
}

function sourceOf({ web, maps, retrievedContext: retrieved, image }: Fields): Source | undefined {
  return [web, maps, retrieved, image]
    .filter(isFields)
    .map(addressOf)
    .find((source) => source !== undefined);
}

function addressOf({ uri, sourceUri, title }: Fields): Source | undefined {
  const url = [uri, sourceUri].find((address): address is string => typeof address === 'string' && address !== '');
  return url === undefined ? undefined : { url, title };
}

const countOr0 = (value: unknown): number => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0);

/** Finds passages of the text. */
class Places {
  readonly #said: Said;
  #bytes: Buffer | undefined;

  constructor(said: Said) {
    this.#said = said;
  }

  of(segment: unknown): Passage {
    const { text, partStarts } = this.#said;
    if (!isFields(segment) || text === '' || text.length > MAX_TEXT) return NOWHERE;
    const { partIndex, startIndex, endIndex, text: quoted } = segment;
    const [start, end] = [countOr0(startIndex), countOr0(endIndex)];
    const isRight = ({ start: from, end: to }: Passage): boolean =>
      to > from && (typeof quoted !== 'string' || text.slice(from, to) === quoted);
    const counted = [partStarts[countOr0(partIndex)] ?? 0, 0]
      .map((base) => this.#passage(base, start, end))
      .find(isRight);
    if (counted) return counted;
    const found = typeof quoted === 'string' && quoted !== '' ? text.indexOf(quoted) : -1;
    return found < 0 ? NOWHERE : { start: found, end: found + (quoted as string).length };
  }

  /** Bytes after a place in the text, as code units. */
  #passage(base: number, start: number, end: number): Passage {
    const { text } = this.#said;
    this.#bytes ??= Buffer.from(text, 'utf8');
    const from = base === 0 ? 0 : Buffer.byteLength(text.slice(0, base), 'utf8');
    const units = (bytes: number): number =>
      (this.#bytes?.toString('utf8', 0, Math.min(from + bytes, this.#bytes.length)) ?? '').length;
    return { start: units(start), end: units(end) };
  }
}
