/** Texts that a row of spend is kept by. An empty one stands for what a request has not. */
export const SPEND_TEXTS = [
  'account',
  'key_id',
  'tags',
  'model',
  'provider',
  'target',
  'credential',
  'surface',
  'line',
  'catalog',
  'source',
] as const;
export type SpendText = (typeof SPEND_TEXTS)[number];

/** Whole numbers that add up. */
export const SPEND_COUNTS = [
  'requests',
  'unpriced',
  'prompt_tokens',
  'completion_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'images',
  'milliseconds',
  'characters',
  'searches',
  'micro_usd',
] as const;
export type SpendCount = (typeof SPEND_COUNTS)[number];

/** What was spent alike in one hour, or in a day that was merged. */
export interface SpendRow extends Readonly<Record<SpendText, string>>, Readonly<Record<SpendCount, number>> {
  /** Hours of UTC since 1970 at which it begins. */
  readonly hour: number;
  /** Hours that it stands for: 1, or 24. */
  readonly span: number;
}

/** Stands for keys and tags of rows beyond what is kept apart. */
export const OTHERS = '(other)';

/** What of two rows is alike, as one text. */
export function spendKey(row: SpendRow): string {
  let key = `${row.hour} ${row.span}`;
  for (const name of SPEND_TEXTS) key += `\0${row[name]}`;
  return key;
}

/** The sum of two rows that are alike. Column by column, since each request adds one. */
export function spendSum(one: SpendRow, other: SpendRow): SpendRow {
  const counts: Record<SpendCount, number> = {
    requests: one.requests + other.requests,
    unpriced: one.unpriced + other.unpriced,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    cache_read_tokens: one.cache_read_tokens + other.cache_read_tokens,
    cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    images: one.images + other.images,
    milliseconds: one.milliseconds + other.milliseconds,
    characters: one.characters + other.characters,
    searches: one.searches + other.searches,
    micro_usd: one.micro_usd + other.micro_usd,
  };
  return { ...one, ...counts };
}
