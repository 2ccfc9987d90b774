/** Prices, and what is paid by them. */
import type { Usage } from '../wire/chat.ts';
import type { PriceFacts } from './usage-facts.ts';

/**
 * What a cost was computed of: what the vendor reported of the use, or an estimate where it said
 * nothing that can be believed; or the cost that the vendor reported by itself. An estimate is booked rather than nothing, because an answer whose
 * use was not reported was paid for all the same.
 */
export type CostSource = 'usage' | 'estimated' | 'reported';

/**
 * What becomes of a cost that a vendor reports: it is booked, it is held against the computed one,
 * or nothing.
 */
export type ReportUse = 'prefer' | 'compare' | 'ignore';

/** How a vendor says what an answer has cost. */
export interface CostReport {
  /**
   * US dollars, out of the usage of an answer in the common shape; `undefined` where it does not
   * say. What is not a positive number is not believed by the host.
   */
  readonly usd: (usage: Usage) => number | undefined;
  /** What becomes of it unless the configuration or the catalog says otherwise. */
  readonly use: ReportUse;
}

/**
 * What becomes of a request that is paid for in dollars where its model has no price: it is served,
 * served with a warning, or refused.
 */
export type Unpriced = 'allow' | 'warn' | 'refuse';

/** US dollars. `priced: false` means that nothing prices the model; a price of 0 is a price. */
export interface Cost {
  /**
   * The sum of all classes. Rounded, far below a micro-dollar, so that binary fractions do not
   * show.
   */
  readonly totalUsd: number;
  /** What the prompt costs, without what was read from a cache or written to one. */
  readonly inputUsd: number;
  /** What the completion costs. */
  readonly outputUsd: number;
  /** What the tokens cost that the vendor read from its cache. */
  readonly cacheReadUsd: number;
  /** What the tokens cost that the vendor wrote to its cache. */
  readonly cacheWriteUsd: number;
  /**
   * What the reasoning costs, where the model prices it by itself. Where it does not, reasoning is
   * part of `outputUsd`, and this is 0.
   */
  readonly reasoningUsd: number;
  /** Whether the catalog knows the model at this target, priced or not. */
  readonly modelFound: boolean;
  /** False where nothing prices the model; the amounts are then 0 and say nothing. */
  readonly priced: boolean;
  /** Version of the catalog the figures were computed with. */
  readonly catalog: string;
  /** The line of the model's prices they were computed by; `standard` where it has no tiers. */
  readonly line?: string;
}

/**
 * US dollars per million tokens; `undefined` where nothing is known. What counts depends on the use
 * that the catalog names for the model: one for embeddings has no price of images, whatever it
 * lists.
 */
export interface TokenPrice {
  /** Tokens of the prompt. */
  readonly input: number | undefined;
  /** Tokens of the completion. */
  readonly output: number | undefined;
  /** Tokens of the prompt that the vendor reads from its cache. */
  readonly cacheRead: number | undefined;
  /** Tokens of the prompt that the vendor writes to its cache. */
  readonly cacheWrite: number | undefined;
  /** Tokens of the input of an embedding. */
  readonly embedding: number | undefined;
  /** Per generated image. In US dollars, not in dollars per million. */
  readonly image: number | undefined;
  /** Per minute of audio heard. */
  readonly audioMinute?: number | undefined;
  /** Per character spoken. */
  readonly character?: number | undefined;
  /** Tokens of the prompt that the vendor keeps in its cache for longer than usual. */
  readonly cacheWriteLong?: number | undefined;
  /** Tokens of sound in the prompt, where they have a price of their own. */
  readonly audioInput?: number | undefined;
  /** Tokens of images in the prompt, where they have a price of their own. */
  readonly imageInput?: number | undefined;
  /** A search over documents, as rerank is billed. In US dollars, not in dollars per million. */
  readonly searchUnit?: number | undefined;
  /** The fee of a call, beside its tokens. In US dollars, not in dollars per million. */
  readonly call?: number | undefined;
}

const OPTIONAL = ['cacheWriteLong', 'audioInput', 'imageInput', 'searchUnit', 'call'] as const;

/** What a price before a call depends on: what the request asks for, and how long its prompt is. */
export interface PriceQuestion extends PriceFacts {
  /** Tokens of the prompt, by estimate. */
  readonly input: number;
  /** Width and height of the images that are asked for, in pixels. */
  readonly size?: string | undefined;
  /** How much work is to go into them. */
  readonly quality?: string | undefined;
  /** How much a search of the web is to read. */
  readonly searchSize?: string | undefined;
}

/** What one exchange consumed. Only the classes that the model's mode is priced by count. */
export interface Billed {
  /** Token counts; `undefined` where nothing of the exchange counts in tokens. */
  readonly usage?: Usage | undefined;
  /** Images returned. */
  readonly images?: number | undefined;
  /** Width and height of them in pixels, such as `1024x1024`. */
  readonly size?: string | undefined;
  /** How much work went into them, by the word of the vendor. */
  readonly quality?: string | undefined;
  /** How much the search of the web was asked to read, where neither usage nor answer says it. */
  readonly searchSize?: string | undefined;
  /** Seconds of audio heard. */
  readonly seconds?: number | undefined;
  /** Characters spoken. */
  readonly characters?: number | undefined;
  /** Pages of documents that were read. */
  readonly pages?: number | undefined;
  /** Whether the pages were annotated as well. */
  readonly isAnnotated?: boolean | undefined;
  /** Searches over documents, as rerank is billed. */
  readonly searchUnits?: number | undefined;
}

/**
 * Catalog prices by target and upstream model. `undefined`: the catalog does not know the model.
 */
export interface Prices {
  /**
   * The price of a model at a target, which is named by its virtual key; `undefined` where the
   * catalog has none. It is the model's usual one, or that of what is `asked`: of a tier that the
   * catalog does not know, the highest price of each class in any tier.
   */
  readonly tokenPrice: (target: string, model: string, asked?: PriceQuestion) => TokenPrice | undefined;
  /**
   * What the use costs at a target, by the line of its prices that the answer belongs to. Never
   * throws: where nothing prices the model, `priced` is false. Prices of a day or an hour count
   * where `at` says when the request arrived, in Unix milliseconds.
   */
  readonly cost: (target: string, model: string, billed: Billed, at?: number) => Cost | undefined;
}

/**
 * The higher price of each class. A class that one of them does not price counts as the other
 * prices it.
 */
export function dearerPrice(one: TokenPrice, other: TokenPrice): TokenPrice {
  const most = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
  const others = OPTIONAL.flatMap((name) => {
    const price = most(one[name], other[name]);
    return price === undefined ? [] : [[name, price] as const];
  });
  return {
    input: most(one.input, other.input),
    output: most(one.output, other.output),
    cacheRead: most(one.cacheRead, other.cacheRead),
    cacheWrite: most(one.cacheWrite, other.cacheWrite),
    embedding: most(one.embedding, other.embedding),
    image: most(one.image, other.image),
    audioMinute: most(one.audioMinute, other.audioMinute),
    character: most(one.character, other.character),
    ...Object.fromEntries(others),
  };
}

/**
 * US dollars per million tokens, which is micro-dollars per token. Rates of an operator stand in
 * place of the catalog's prices, for all models alike. What is left out costs nothing, except for
 * tokens of the cache that are part of the prompt: without a rate of their own they cost what the
 * rest of it does.
 */
export interface Rates {
  /** US dollars for a million tokens of the prompt. */
  readonly input_per_m_tokens?: number;
  /** US dollars for a million tokens of the completion. */
  readonly output_per_m_tokens?: number;
  /** US dollars for a million tokens that are read from the vendor's cache. */
  readonly cache_read_per_m_tokens?: number;
  /** US dollars for a million tokens that are written to the vendor's cache. */
  readonly cache_write_per_m_tokens?: number;
}

/** An estimate that was booked, to be corrected later. */
export interface LaterBooking {
  /** Name of the ledger, and the key in it. */
  readonly ledger: string;
  /** Whose spending it is: the key that the ledger keeps it under. */
  readonly key: string;
  /** Micro-dollars. What the use turns out to cost later is booked as the difference to it. */
  readonly amount: number;
  /** The rates it was booked by; `undefined` for prices of the catalog. */
  readonly rates?: Rates | undefined;
  /** What is counted; US dollars unless said. */
  readonly unit?: 'usd' | 'tokens' | undefined;
}
