/** What decides which line of a model's prices an answer is paid by. */
export interface PriceFacts {
  /** Unix milliseconds at which the request arrived. Without it, prices of a day or an hour do not count. */
  readonly at?: number | undefined;
  /** Tier of service, by the word of the vendor. */
  readonly tier?: string | undefined;
  /** Mode of speed, by the word of the vendor. */
  readonly speed?: string | undefined;
  /** Where the answer was made, by the word of the vendor. */
  readonly region?: string | undefined;
}

/** Parts of the prompt, of what was cached of it, and of the completion, which some models price apart. */
export interface UsageKinds {
  /** Sound in the prompt, cached or not. */
  readonly audioInput?: number | undefined;
  /** Images in the prompt, cached or not. */
  readonly imageInput?: number | undefined;
  /** Moving pictures in the prompt. */
  readonly videoInput?: number | undefined;
  /** Sound that was read from the cache. */
  readonly audioCached?: number | undefined;
  /** Images that were read from the cache. */
  readonly imageCached?: number | undefined;
  /** Sound in the answer. */
  readonly audioOutput?: number | undefined;
  /** Images in the answer. */
  readonly imageOutput?: number | undefined;
  /** Moving pictures in the answer. */
  readonly videoOutput?: number | undefined;
  /** Citations in the answer. */
  readonly citation?: number | undefined;
  /** Tokens that were written to the cache and are kept longer than usual. */
  readonly writtenLong?: number | undefined;
}

/** An image that a tool of the vendor made on the way to an answer. */
export interface ToolImage {
  /** The model that made it, where the request or the answer names one. */
  readonly model?: string | undefined;
  /** Width and height in pixels, such as `1024x1024`. */
  readonly size?: string | undefined;
  /** How much work went into it, by the word of the vendor. */
  readonly quality?: string | undefined;
}

/** How often the vendor's own tools worked on an answer, where it is billed by that. */
export interface ToolCounts {
  /** Searches of the web. */
  readonly webSearches?: number | undefined;
  /** Searches of the caller's files. */
  readonly fileSearches?: number | undefined;
  /** Searches of a map. */
  readonly mapSearches?: number | undefined;
  /** Pages that were fetched. */
  readonly webFetches?: number | undefined;
  /** Containers in which code ran. */
  readonly codeSessions?: number | undefined;
  /** Images that a tool made. */
  readonly toolImages?: readonly ToolImage[] | undefined;
}

/** What a vendor says of an answer beside the counts of the common wire. */
export interface UsageFacts extends Omit<PriceFacts, 'at'>, UsageKinds, ToolCounts {}

/**
 * Name of the member of a usage that holds what else the answer is billed by. A symbol, so that
 * clients are shown nothing of it.
 */
export const BILLED: unique symbol = Symbol('billed');
