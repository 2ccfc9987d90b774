import { countOf, type Fields, isFields } from 'gw/common-wire';
import { BILLED, type ChatRequest, isText, type Usage, type UsageFacts } from 'gw/contract';

/** Tiers by Vertex's word for them. Source: types of `@google/genai` 3, `TrafficType`, 2026-11-26. */
const TIERS: Readonly<Record<string, string>> = {
  ON_DEMAND: 'standard',
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
  ON_DEMAND_OFFPEAK: 'offpeak',
  PROVISIONED_THROUGHPUT: 'provisioned',
};

/**
 * What the vendor's own searches found for an answer, over all frames of a stream. Each question to the web counts once; an answer
 * with sources and without a question was searched for once. Sources: ai.google.dev, "Grounding with Google Search", "Grounding with
 * Google Maps", 2026-11-27.
 */
export class Grounding {
  readonly #queries = new Set<string>();
  #hasPages = false;
  #hasPlaces = false;

  read(candidates: readonly Fields[]): void {
    for (const { groundingMetadata: found } of candidates) if (isFields(found)) this.#add(found);
  }

  #add({ webSearchQueries: queries, groundingChunks: chunks }: Fields): void {
    if (Array.isArray(queries))
      for (const query of queries) if (isText(query) && this.#queries.size < MOST_QUERIES) this.#queries.add(query);
    if (!Array.isArray(chunks)) return;
    for (const chunk of chunks.slice(0, MOST_QUERIES)) {
      if (!isFields(chunk)) continue;
      if (isFields(chunk['web'])) this.#hasPages = true;
      if (isFields(chunk['maps'])) this.#hasPlaces = true;
    }
  }

  facts(): UsageFacts {
    return {
      webSearches: this.#queries.size || (this.#hasPages ? 1 : undefined),
      mapSearches: this.#hasPlaces ? 1 : undefined,
    };
  }
}

/** More questions than an answer has. */
const MOST_QUERIES = 1024;

/** What the counts say of kinds of tokens, and of the tier. Source: ai.google.dev, "UsageMetadata", 2026-11-26. */
export function usageFacts(metadata: Fields): UsageFacts {
  const { trafficType: traffic } = metadata;
  const input = metadata['promptTokensDetails'];
  const cached = metadata['cacheTokensDetails'];
  const output = metadata['candidatesTokensDetails'];
  return {
    tier: isText(traffic) && Object.hasOwn(TIERS, traffic) ? TIERS[traffic] : undefined,
    audioInput: ofKind(input, 'AUDIO'),
    imageInput: ofKind(input, 'IMAGE'),
    videoInput: ofKind(input, 'VIDEO'),
    audioCached: ofKind(cached, 'AUDIO'),
    imageCached: ofKind(cached, 'IMAGE'),
    audioOutput: ofKind(output, 'AUDIO'),
    imageOutput: ofKind(output, 'IMAGE'),
    videoOutput: ofKind(output, 'VIDEO'),
  };
}

/** Tokens of a kind; `undefined` where there are none. */
function ofKind(details: unknown, kind: string): number | undefined {
  if (!Array.isArray(details)) return undefined;
  let sum = 0;
  for (const detail of details)
    if (isFields(detail) && detail['modality'] === kind) sum += countOf(detail['tokenCount']);
  return sum || undefined;
}

/** Tiers that a request can ask for, beside the usual one. */
const ASKED: ReadonlySet<unknown> = new Set(['flex', 'priority']);

/** The tier of an answer: the one that its counts name, else the one that was asked for. Its head goes before both. */
export function tierOf(usage: Usage, { service_tier: asked }: ChatRequest): string | undefined {
  const said = usage[BILLED]?.tier;
  if (said !== undefined) return said;
  return isText(asked) && ASKED.has(asked) ? asked : undefined;
}
