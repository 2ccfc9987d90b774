import type { SpendCount, SpendText } from '../../../host/stores/spend/spend-row.ts';

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
} as const satisfies Readonly<Record<string, SpendText>>;

export type SpendBy = keyof typeof SPEND_COLUMNS;

export const SPEND_BY = Object.keys(SPEND_COLUMNS) as readonly SpendBy[];

/** Sums that a report shows. */
export const SPEND_FIGURES = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'images',
  'unpriced',
  'micro_usd',
] as const satisfies readonly SpendCount[];

export type SpendFigure = (typeof SPEND_FIGURES)[number];
