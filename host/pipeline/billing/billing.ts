import {
  type Billed,
  BILLED,
  type Cost,
  type CostSource,
  memberOf,
  promptTokens,
  setMember,
  type Usage,
} from '../../contract/index.ts';
import { type Fields, isFields } from '../../contract/json/fields.ts';
import { choicesOf, LONGEST_ANSWER } from '../../contract/money/pricing.ts';
import type { PromptSource } from '../../contract/money/prompt-estimate.ts';
import { MOST_BOOKING } from '../../common/bounded-sum.ts';
import { searchSizeOf } from '../../common/prices/asked-words.ts';
import { type AnswerFacts, chargeOf, type Guess, withTier } from '../../answer/charged-usage.ts';
import { estimatedUse } from '../../answer/estimated-use.ts';
import { catalogEntryOf } from './catalog-entry.ts';
import { type Reported, reportedCost } from './reported-cost.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { PipelineServices } from '../pipeline-services.ts';

type Priced = Pick<PipelineServices, 'catalog'>;

/** The most that one exchange is charged: what an upstream reports above it is not believed. US dollars. */
const MOST_USD = MOST_BOOKING / 1e6;

/**
 * Adds what a turn used and what that costs: what its vendor reports, and an estimate where that is nothing, or is not believed. The
 * price is that of the model asked for, else of the model the upstream says it is: a deployment may have any name. Unpriced stays
 * unknown, which is not 0; of several turns, what is known counts.
 */
export function billTurn(exchange: LiveExchange, told: AnswerFacts, services: Priced): void {
  const { measured, turn, target, surface } = exchange;
  const facts = withAsked(told, exchange);
  measured.usage = usageSum(turn?.usageBefore, facts.usage);
  if (target === undefined) return;
  measured.images += facts.images ?? 0;
  measured.seconds += facts.seconds ?? 0;
  measured.characters += facts.characters ?? 0;
  measured.searches += searchesIn(facts.usage);
  if (exchange.isPlaced) addCacheSaving(exchange, facts.usage, services);
  const guess: Guess = {
    prompt: () => promptTokens(promptOf(exchange)),
    longestAnswer: () => longestAnswer(exchange, services),
  };
  const charge = chargeOf(surface, facts, guess);
  measured.charged = usageSum(turn?.chargedBefore, charge.usage);
  measured.doubt ??= charge.doubt;
  const cost = priceOf(exchange, charge.usage === facts.usage ? facts : { ...facts, usage: charge.usage }, services);
  const report = facts.isBroken ? undefined : reportOf(exchange, facts.usage, cost, services);
  if (report?.difference) measured.difference ??= report.difference;
  if (report?.cost) addCost(exchange, report.cost, 'reported');
  else if (cost?.priced !== false || charge.usage)
    addCost(exchange, cost, charge.isEstimated || facts.isGuessed === true ? 'estimated' : 'usage');
  else {
    const use = estimatedUse(surface, turn?.request ?? exchange.request, facts, guess.prompt);
    addCost(exchange, use ? priceOf(exchange, { usage: use }, services) : cost, 'estimated');
  }
}

/** What the answer does not say of itself in its body: the tier that its head names, and how much the request had the web searched for. */
function withAsked(facts: AnswerFacts, { turn, request, routing: { answeredTier } }: LiveExchange): AnswerFacts {
  const searchSize = searchSizeOf(turn?.request ?? request);
  if (searchSize === undefined && answeredTier === undefined) return facts;
  const { usage } = facts;
  return { ...facts, searchSize, usage: usage && withTier(usage, answeredTier) };
}

/** More of one answer is a mistake of its vendor. */
const MOST_SEARCHES = 100_000;

function searchesIn(usage: Usage | undefined): number {
  const count = usage?.[BILLED]?.webSearches ?? 0;
  return Number.isSafeInteger(count) && count > 0 && count <= MOST_SEARCHES ? count : 0;
}

/** What the turn has sent: what a loop has added to the request counts too. */
function promptOf(exchange: LiveExchange): PromptSource {
  const { surface, request, turn } = exchange;
  return turn && turn.request !== request
    ? { surface, request: turn.request, clientRequest: undefined, bodyBytes: undefined }
    : exchange;
}

function longestAnswer(
  { lastTarget, turn, routing: { upstreamModel = '' } }: LiveExchange,
  { catalog }: Priced,
): number {
  const longest = lastTarget && catalogEntryOf(lastTarget, upstreamModel, catalog)?.max_output_tokens;
  return (longest || LONGEST_ANSWER) * choicesOf(turn?.request);
}

function priceOf(
  { target, lastTarget, startedAt, routing: { upstreamModel, reportedModel } }: LiveExchange,
  billed: Billed,
  { catalog }: Priced,
): Cost | undefined {
  if (target === undefined || lastTarget === undefined || upstreamModel === undefined) return undefined;
  const { catalogProvider } = lastTarget;
  const isOther = reportedModel !== undefined && reportedModel !== upstreamModel;
  return (
    catalog.cost(catalogProvider, upstreamModel, billed, startedAt) ??
    (isOther ? catalog.cost(catalogProvider, reportedModel, billed, startedAt) : undefined)
  );
}

/** What the vendor says that the turn has cost, where it does. */
function reportOf(
  { lastTarget, routing: { upstreamModel: model } }: LiveExchange,
  usage: Usage | undefined,
  computed: Cost | undefined,
  { catalog }: Priced,
): Reported | undefined {
  if (!usage || !lastTarget?.provider?.module.costReport || model === undefined) return undefined;
  return reportedCost(lastTarget, { model, usage, computed }, catalog);
}

/** What the vendor's cache saved of the turn: reads cost less than the rest of the prompt, and writes more. Nothing is said without the prices. */
function addCacheSaving(
  { measured, lastTarget, routing: { upstreamModel } }: LiveExchange,
  usage: Usage | undefined,
  { catalog }: Priced,
): void {
  const { cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = usage ?? {};
  if ((read === 0 && written === 0) || !lastTarget || upstreamModel === undefined) return;
  const { input, cacheRead, cacheWrite } = catalog.tokenPrice(lastTarget.catalogProvider, upstreamModel) ?? {};
  if (input === undefined || (read > 0 && cacheRead === undefined) || (written > 0 && cacheWrite === undefined)) return;
  const extra = (written * ((cacheWrite ?? input) - input)) / 1e6;
  measured.cacheExtraUsd += extra;
  measured.cacheSavedUsd = (measured.cacheSavedUsd ?? 0) + (read * (input - (cacheRead ?? input))) / 1e6 - extra;
}

function addCost({ measured, turn }: LiveExchange, cost: Cost | undefined, source: CostSource): void {
  const before = turn?.costUsdBefore;
  if (cost)
    measured.cost = turn?.costBefore
      ? { ...cost, ...sumOf(turn.costBefore as unknown as Fields, cost as unknown as Fields) }
      : cost;
  measured.costUsd = cost?.priced ? bounded(cost.totalUsd + (before ?? 0), measured) : before;
  if (cost?.priced) measured.costSource = measured.costSource === 'estimated' ? 'estimated' : source;
}

function bounded(usd: number, measured: LiveExchange['measured']): number {
  if (usd <= MOST_USD) return usd;
  measured.doubt ??= 'cost';
  return MOST_USD;
}

/** Counts and costs add up, in details too; of what else vendors say, the later one stands. */
export function usageSum(before: Usage | undefined, more: Usage | undefined): Usage | undefined {
  if (!before || !more) return more ?? before;
  return sumOf(before, more) as unknown as Usage;
}

function sumOf(before: Readonly<Fields>, more: Readonly<Fields>): Fields {
  const sum: Fields = { ...before };
  for (const name of Object.keys(more)) {
    const had = memberOf(before, name);
    const has = more[name];
    if (typeof had === 'number' && typeof has === 'number') setMember(sum, name, had + has);
    else setMember(sum, name, isFields(had) && isFields(has) ? sumOf(had, has) : has);
  }
  return sum;
}
