import Joi from 'joi';
import {
  defineStrategy,
  type Rank,
  type RankFigures,
  type RankNotes,
  type RouteQuery,
  type RouteTarget,
  type StrategyDeps,
  SURFACES,
  type TokenPrice,
  TOP_LEVEL,
} from 'gw/contract';

interface Settings {
  unpriced_strategy: string;
}

/** What becomes of targets without a price. Empty is as `fallback`. */
const UNPRICED = ['fallback', 'skip', 'allow'];

/** Completion tokens counted for a request that sets no ceiling. */
const DEFAULT_MAX_TOKENS = 256;
const CHARACTERS_PER_TOKEN = 4;

/** A target that serves the model, with what the catalog knows of it there. */
interface Candidate {
  readonly target: RouteTarget;
  readonly price: TokenPrice | undefined;
}

interface Priced extends Candidate {
  readonly usd: number;
}

/** Cheapest first, by the expected price of this request. See docs/reference/governance.md#expected-prices. */
export default defineStrategy<Settings>({
  name: 'cost-optimized',
  summary: 'Tries the target with the lowest expected price of the request first',
  advances: true,
  settings: Joi.object<Settings, true>({
    unpriced_strategy: Joi.string()
      .allow('')
      .default('fallback')
      .description('what becomes of targets without a price: `fallback`, `skip` or `allow`'),
  }),
  settingsFrom: ['unpriced_strategy'],
  check: ({ unpriced_strategy: chosen }, _targets, { strategy } = TOP_LEVEL) => {
    if (chosen === '' || UNPRICED.includes(chosen)) return [];
    return [
      {
        path: `${strategy}.unpriced_strategy`,
        rule: 'CV16',
        message: `unpriced_strategy is "${chosen}"; allowed are ${UNPRICED.join(', ')}`,
        fix: `use one of: ${UNPRICED.join(', ')}`,
      },
    ];
  },
  create: ({ unpriced_strategy }, { price }) => cheapestFirst(unpriced_strategy || 'fallback', price),
});

function cheapestFirst(unpricedAre: string, price: StrategyDeps['price']): Rank {
  const candidatesOf = rememberCandidates(price);
  const countsUnpriced = unpricedAre === 'allow';
  return (targets, query, notes) => {
    const candidates = candidatesOf(targets, query);
    const { priced, unpriced } = byPrice(candidates, query, countsUnpriced);
    if (notes?.target) explain(priced, unpriced, query, notes);
    const ranked = priced.map(({ target }) => target);
    if (unpricedAre === 'skip') {
      if (ranked.length === 0 && candidates.length > 0)
        notes?.nothing?.(`no priced provider supports model ${query.model}`);
      return ranked;
    }
    if (isChat(query)) return [...ranked, ...unpriced, ...targets.filter(({ serves }) => !serves)];
    if (countsUnpriced) return [...unpriced, ...ranked];
    return ranked.length > 0 ? ranked : unpriced;
  };
}

const isChat = ({ surface }: RouteQuery): boolean => SURFACES[surface].isChat;

interface Known {
  readonly model: string;
  readonly candidates: readonly Candidate[];
}

/** Prices do not change while a configuration serves, and the host hands out one list of targets per model: each is looked up once. */
function rememberCandidates(
  price: StrategyDeps['price'],
): (targets: readonly RouteTarget[], query: RouteQuery) => readonly Candidate[] {
  const known = new WeakMap<readonly RouteTarget[], Known>();
  return (targets, query) => {
    const { model } = query;
    const before = known.get(targets);
    if (before?.model === model) return before.candidates;
    const candidates = targets
      .filter(({ serves }) => serves)
      .map((target) => ({ target, price: price(target.virtualKey, query.upstreamModel(target.virtualKey)) }));
    known.set(targets, { model, candidates });
    return candidates;
  };
}

/** Splits by whether the surface has a price there; the priced ones come sorted. */
function byPrice(
  candidates: readonly Candidate[],
  query: RouteQuery,
  countsUnpriced: boolean,
): { readonly priced: Priced[]; readonly unpriced: RouteTarget[] } {
  const costOf = costFunction(query, countsUnpriced);
  const priced: Priced[] = [];
  const unpriced: RouteTarget[] = [];
  for (const { target, price } of candidates) {
    const usd = price && costOf(price);
    if (usd === undefined) unpriced.push(target);
    else priced.push({ target, price, usd });
  }
  return { priced: priced.sort((a, b) => a.usd - b.usd), unpriced };
}

/** US dollars that a request is expected to cost at a price; `undefined` where nothing prices it. */
function costFunction(query: RouteQuery, countsUnpriced: boolean): (price: TokenPrice) => number | undefined {
  if (isChat(query)) {
    const { promptTokens, completionTokens } = tokensOf(query);
    return ({ input, output }) =>
      input === undefined && !countsUnpriced
        ? undefined
        : ((input ?? 0) * promptTokens + (output ?? 0) * completionTokens) / 1e6;
  }
  if (query.surface === 'embeddings') return ({ embedding }) => (embedding === undefined ? undefined : embedding / 1e6);
  if (query.surface === 'images') return ({ image }) => (image === undefined ? undefined : image * query.images);
  return () => undefined;
}

function tokensOf(query: RouteQuery): { readonly promptTokens: number; readonly completionTokens: number } {
  return {
    promptTokens: Math.floor(query.promptCharacters() / CHARACTERS_PER_TOKEN) + 1,
    completionTokens: query.maxTokens ?? DEFAULT_MAX_TOKENS,
  };
}

function explain(
  priced: readonly Priced[],
  unpriced: readonly RouteTarget[],
  query: RouteQuery,
  notes: RankNotes,
): void {
  const { promptTokens, completionTokens } = tokensOf(query);
  const amounts: RankFigures = isChat(query)
    ? { prompt_tokens: promptTokens, completion_tokens: completionTokens }
    : {};
  for (const { target, price, usd } of priced) {
    notes.target?.(target.virtualKey, 'by expected price', { cost_usd: usd, ...pricesOf(price, query), ...amounts });
  }
  for (const { virtualKey } of unpriced) notes.target?.(virtualKey, 'no price is known for this request');
}

/** The prices that counted, in US dollars. */
function pricesOf(price: TokenPrice | undefined, query: RouteQuery): RankFigures {
  const { input, output, embedding, image } = price ?? {};
  const shown = isChat(query)
    ? { input_usd_per_m: input, output_usd_per_m: output }
    : {
        embedding_usd_per_m: query.surface === 'embeddings' ? embedding : undefined,
        image_usd: query.surface === 'images' ? image : undefined,
      };
  return Object.fromEntries(Object.entries(shown).filter((entry): entry is [string, number] => entry[1] !== undefined));
}
