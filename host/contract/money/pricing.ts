import type { Rates, TokenPrice } from './cost.ts';
import type { Exchange } from '../exchange.ts';
import { CHARACTERS_PER_TOKEN, promptSize } from './prompt-estimate.ts';
import type { PluginPrices } from '../services.ts';
import { cacheWritesIn } from './usage.ts';
import type { Usage } from '../wire/chat.ts';
import type { UploadedFile } from '../wire/form.ts';
import type { RerankRequest, SpeechRequest } from '../wire/other.ts';

/**
 * Tokens of a call before it is made. Of the answer it is the most that there may be, because calls
 * that are in flight together would otherwise spend the same money.
 */
export interface Estimate {
  /** Tokens of the prompt. */
  readonly prompt: number;
  /** Tokens of the answer, at most. */
  readonly completion: number;
  /** The prompt is to be kept in a cache, and costs at least what that does. */
  readonly writesCache?: boolean;
  /** The prompt holds sound, and costs at least what that does. */
  readonly holdsSound?: boolean;
  /** The prompt holds images, and costs at least what those do. */
  readonly holdsImages?: boolean;
}

/**
 * What calls cost, in micro-dollars. Amounts may have a fraction; the ledger sees to whole ones.
 */
export interface Pricing {
  /** Where it is one price for all models. */
  readonly rates?: Rates;
  /**
   * What a call may cost, before a target is chosen. 0 where nothing prices what is asked for: such
   * a call reserves nothing, and `needsPrice` says whether it is served at all.
   */
  expected(exchange: Exchange, estimate: Estimate): number;
  /** What a call has cost so far, by what was reported or is estimated. Without a price it is 0. */
  reported(exchange: Exchange): number;
}

const MICRO = 1e6;

/**
 * The catalog's prices, of the target that served; before one is chosen, of the dearest that may.
 * Before an attempt the price of each class is the highest of all targets that may serve;
 * afterwards the cost is the measured one, by the target that did.
 *
 * @param prices `deps.prices`. It is asked anew for each call, so a refresh of the catalog counts
 * at once.
 */
export function catalogPricing(prices: PluginPrices): Pricing {
  return {
    expected: (exchange, estimate) => expectedAt(prices.highest(exchange, estimate.prompt), exchange, estimate),
    reported: ({ measurements }) => (measurements.costUsd ?? 0) * MICRO,
  };
}

/**
 * The operator's rates, one for all models. What is not counted in tokens costs nothing. Images,
 * audio and speech are free by these rates where no tokens of them are known; use the catalog's
 * prices where they matter.
 *
 * @param rates US dollars per million tokens; one that is left out is 0.
 */
export function flatPricing(rates: Rates): Pricing {
  return {
    rates,
    expected: (_exchange, { prompt, completion }) =>
      costAt(rates, { prompt_tokens: prompt, completion_tokens: completion, total_tokens: 0 }),
    reported: ({ charged }) => (charged ? costAt(rates, charged) : 0),
  };
}

/**
 * Cached tokens are part of the prompt: without a rate of their own they cost what the rest does.
 * So are cache writes where the vendor counts them in it.
 *
 * @param rates of the operator.
 * @param usage token counts in the common shape, as `readUsage` gives them. `total_tokens` does not
 * count.
 * @returns micro-dollars, with a fraction. Reasoning is a part of the completion, and costs what
 * that does.
 */
export function costAt(rates: Rates, usage: Usage): number {
  const {
    input_per_m_tokens: input = 0,
    output_per_m_tokens: output = 0,
    cache_read_per_m_tokens: cacheRead,
    cache_write_per_m_tokens: cacheWrite,
  } = rates;
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    cache_read_tokens: read = 0,
    cache_write_tokens: written = 0,
  } = usage;
  const stored = cacheWrite === undefined ? 0 : cacheWritesIn(usage);
  const fresh = Math.max(0, prompt - (cacheRead === undefined ? 0 : read) - stored);
  return input * fresh + output * completion + (cacheRead ?? 0) * read + (cacheWrite ?? 0) * (written + stored);
}

/**
 * What a call costs at a catalog's price at most, by what it asks for: inputs of embeddings,
 * images, characters to be spoken, sound to be heard, else tokens.
 */
function expectedAt(
  price: TokenPrice | undefined,
  { request, surface }: Exchange,
  { prompt, completion, writesCache, holdsSound, holdsImages }: Estimate,
): number {
  if (!price) return 0;
  const { embedding, image, character, audioMinute, searchUnit } = price;
  if (embedding !== undefined) return embedding * prompt;
  if (image !== undefined) return image * choicesOf(request) * MICRO;
  if (surface === 'audio.speech' && character !== undefined)
    return character * (request as SpeechRequest).input.length * MICRO;
  if (isHeard(request['file']) && audioMinute !== undefined)
    return audioMinute * (secondsOf(request['file'].bytes) / 60) * MICRO;
  if (surface === 'rerank' && searchUnit !== undefined)
    return searchUnit * rerankUnits((request as RerankRequest).documents) * MICRO;
  const input = Math.max(
    price.input ?? 0,
    writesCache ? Math.max(price.cacheWrite ?? 0, price.cacheWriteLong ?? 0) : 0,
    holdsSound ? (price.audioInput ?? 0) : 0,
    holdsImages ? (price.imageInput ?? 0) : 0,
  );
  return input * prompt + (price.output ?? 0) * completion + (price.call ?? 0) * MICRO;
}

/** Documents that a vendor searches for the price of one unit. Source: docs.cohere.com, "How does Cohere's pricing work", 2026-11-27. */
const DOCUMENTS_PER_UNIT = 100;

/** Units of a search over documents, where the vendor does not say how many it was: never less than it bills. */
export const rerankUnits = (documents: unknown): number =>
  1 + Math.floor((Array.isArray(documents) ? documents.length : 0) / DOCUMENTS_PER_UNIT);

const isHeard = (file: unknown): file is UploadedFile =>
  typeof file === 'object' && file !== null && typeof (file as Partial<UploadedFile>).bytes === 'number';

/** Bytes of one second of sound, of the least that is usual: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;

/** Seconds of a recording, guessed from its size. */
export const secondsOf = (bytes: number): number => bytes / BYTES_PER_SECOND;

/**
 * Tokens to hold for an answer without a ceiling, where neither the operator nor the catalog says
 * less.
 */
const UNDECLARED = 4096;
/** The longest answer that is believed of a model that the catalog does not know. */
export const LONGEST_ANSWER = 200_000;
const MOST_CHOICES = 128;

/**
 * Most tokens that the answer may have; each choice has as many. A declared ceiling counts no
 * further than the model can answer (`longest`); `undeclared` is what the operator holds for a
 * request without one.
 */
export function ceilingOf(
  { request }: Exchange,
  { undeclared, longest }: { readonly undeclared: number | undefined; readonly longest: number | undefined },
): number {
  const declared = request['max_completion_tokens'] ?? request['max_tokens'];
  const perChoice =
    typeof declared === 'number'
      ? Math.min(declared, longest ?? LONGEST_ANSWER)
      : (undeclared ?? Math.min(UNDECLARED, longest ?? UNDECLARED));
  return Math.max(perChoice, 0) * choicesOf(request);
}

/** How many answers a request asks for. */
export function choicesOf(request: { readonly [field: string]: unknown } | undefined): number {
  const n = request?.['n'];
  return typeof n === 'number' && n > 1 ? Math.min(n, MOST_CHOICES) : 1;
}

/** What a call may use: its prompt, and the most that it may be answered. */
export function estimateOf(exchange: Exchange, bounds: Parameters<typeof ceilingOf>[1]): Estimate {
  const { tokens, ...held } = promptSize(exchange);
  return { prompt: tokens, completion: answersInTokens(exchange) ? ceilingOf(exchange, bounds) : 0, ...held };
}

/** Whether tokens of an answer are paid for beside those of the prompt. */
const answersInTokens = ({ surface }: Exchange): boolean =>
  surface !== 'embeddings' && surface !== 'rerank' && surface !== 'moderations';

/** Characters that count as so many tokens. */
export const tokenCharacters = (tokens: number): number => tokens * CHARACTERS_PER_TOKEN;

/** Tokens of a text of so many characters. */
export const tokensOf = (characters: number): number => characters / CHARACTERS_PER_TOKEN;
