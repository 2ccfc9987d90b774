/** What spend is summed up by, in the word that clients use, and the column of the ledger behind it. */
export const SPEND_COLUMNS = {
  account: 'account',
  key: 'key_id',
  tag: 'tags',
  model: 'model',
  provider: 'provider',
  target: 'target',
  credential: 'credential',
  surface: 'surface',
  line: 'line',
  catalog: 'catalog',
  source: 'source',
} as const;

export type SpendBy = keyof typeof SPEND_COLUMNS;

/** Columns that hold texts. */
export type SpendText = (typeof SPEND_COLUMNS)[SpendBy];

export const SPEND_BY = Object.keys(SPEND_COLUMNS) as readonly SpendBy[];

/** Columns that hold whole numbers, and are added up. */
export const SPEND_FIGURES = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'images',
  'unpriced',
  'micro_usd',
] as const;

export type SpendFigure = (typeof SPEND_FIGURES)[number];

/** One group of rows as a report gets it: its texts by column, and its sums. */
export interface SpendSums extends Readonly<Record<SpendFigure, number>>, Readonly<Partial<Record<SpendText, string>>> {
  /** The place of its bucket among those that were asked for. */
  readonly bucket: number;
}
