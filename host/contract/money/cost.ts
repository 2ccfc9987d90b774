/** Prices, and what is paid by them. */
import type { Usage } from '../wire/chat.ts';

/** What a cost was computed of: what the vendor reported of the use, or an estimate where it said nothing that can be believed. */
export type CostSource = 'usage' | 'estimated';

/** What becomes of a request that is paid for in dollars where its model has no price: it is served, served with a warning, or refused. */
export type Unpriced = 'allow' | 'warn' | 'refuse';

/** US dollars. `priced: false` means that nothing prices the model; a price of 0 is a price. */
export interface Cost {
  readonly totalUsd: number;
  readonly inputUsd: number;
  readonly outputUsd: number;
  readonly cacheReadUsd: number;
  readonly cacheWriteUsd: number;
  readonly reasoningUsd: number;
  readonly modelFound: boolean;
  readonly priced: boolean;
  /** Version of the catalog the figures were computed with. */
  readonly catalog: string;
}

/** US dollars per million tokens; `undefined` where nothing is known. */
export interface TokenPrice {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  readonly embedding: number | undefined;
  /** Per generated image. */
  readonly image: number | undefined;
  /** Per minute of audio heard. */
  readonly audioMinute?: number | undefined;
  /** Per character spoken. */
  readonly character?: number | undefined;
}

/** What one exchange consumed. Only the classes that the model's mode is priced by count. */
export interface Billed {
  readonly usage?: Usage | undefined;
  /** Images returned. */
  readonly images?: number | undefined;
  /** Seconds of audio heard. */
  readonly seconds?: number | undefined;
  /** Characters spoken. */
  readonly characters?: number | undefined;
}

/** Catalog prices by target and upstream model. `undefined`: the catalog does not know the model. */
export interface Prices {
  readonly tokenPrice: (target: string, model: string) => TokenPrice | undefined;
  readonly cost: (target: string, model: string, billed: Billed) => Cost | undefined;
}

/** US dollars per million tokens, which is micro-dollars per token. */
export interface Rates {
  readonly input_per_m_tokens?: number;
  readonly output_per_m_tokens?: number;
  readonly cache_read_per_m_tokens?: number;
  readonly cache_write_per_m_tokens?: number;
}

/** An estimate that was booked, to be corrected later. */
export interface LaterBooking {
  /** Name of the ledger, and the key in it. */
  readonly ledger: string;
  readonly key: string;
  /** Micro-dollars. */
  readonly amount: number;
  /** The rates it was booked by; `undefined` for prices of the catalog. */
  readonly rates?: Rates | undefined;
}
