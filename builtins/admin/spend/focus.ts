import { DAY_MS, HOUR_MS } from '../../../host/common/once-per.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import { type Cell, csvLine, figure } from './csv.ts';
import type { SpendSums } from '../../../host/stores/spend/spend-ledger.ts';
import type { SpendText } from '../../../host/stores/spend/spend-row.ts';
import { usdText } from './usd-text.ts';

/** Columns of the ledger that a row of FOCUS is made of: each value of them has a row of its own. */
export const FOCUS_BY: readonly SpendText[] = [
  'account',
  'key_id',
  'model',
  'target',
  'line',
  'source',
  'provider',
  'tags',
  'catalog',
];

/** What names stand for, where it is known. */
export interface SpendNames {
  keyName(id: string): string;
  accountTitle(path: string): string;
}

interface Day {
  /** Unix milliseconds of its first moment in UTC. */
  readonly begins: number;
}

type Column = (row: SpendSums, day: Day, names: SpendNames) => Cell;

/** For what has no name of its own where FOCUS needs one. */
const NONE = 'none';

/** Columns of FOCUS 1.2, in the order of the file. See docs/decisions/0084-focus-as-its-validator-reads-it.md. */
const COLUMNS: Readonly<Record<string, Column>> = {
  BilledCost: cost,
  EffectiveCost: cost,
  ListCost: cost,
  ContractedCost: cost,
  BillingAccountId: ({ account = '' }) => firstSegment(account),
  BillingAccountName: ({ account = '' }) => firstSegment(account).slice(1) || '/',
  BillingCurrency: () => 'USD',
  BillingPeriodStart: (_row, { begins }) => timestamp(monthOf(begins, 0)),
  BillingPeriodEnd: (_row, { begins }) => timestamp(monthOf(begins, 1)),
  ChargeCategory: () => 'Usage',
  ChargeClass: ({ source }) => (source === 'correction' ? 'Correction' : ''),
  ChargeDescription: description,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodStart: (_row, { begins }) => timestamp(begins),
  ChargePeriodEnd: (_row, { begins }) => timestamp(begins + DAY_MS),
  CommitmentDiscountStatus: () => '',
  ConsumedQuantity: quantity,
  ConsumedUnit: () => 'Tokens',
  InvoiceId: () => '',
  InvoiceIssuerName: vendor,
  PricingQuantity: quantity,
  PricingUnit: () => 'Tokens',
  ProviderName: vendor,
  PublisherName: vendor,
  ResourceId: ({ key_id = '' }) => key_id,
  ResourceName: ({ key_id = '' }, _day, names) => names.keyName(key_id),
  ResourceType: ({ key_id = '' }) => (key_id === '' ? '' : 'API key'),
  ServiceCategory: () => 'AI and Machine Learning',
  ServiceName: vendor,
  ServiceSubcategory: () => 'Generative AI',
  SkuId: ({ model = '' }) => model || NONE,
  SkuPriceId: ({ line = '' }) => line || NONE,
  SubAccountId: ({ account = '' }) => account,
  SubAccountName: ({ account = '' }, _day, names) => account && (names.accountTitle(account) || account),
  Tags: ({ tags = '' }) => JSON.stringify(tagValues(tags)),
  x_CatalogVersion: ({ catalog = '' }) => catalog,
  x_CostSource: ({ source = '' }) => source,
};

/** Lines of a file of FOCUS. The buckets of the sums are days of UTC, `starts` their first hours since 1970. */
export function* focusLines(
  sums: readonly SpendSums[],
  starts: readonly number[],
  names: SpendNames,
): Generator<string> {
  const columns = Object.values(COLUMNS);
  yield csvLine(Object.keys(COLUMNS));
  for (const row of sums) {
    const day = { begins: (starts[row.bucket] ?? 0) * HOUR_MS };
    yield csvLine(columns.map((column) => column(row, day, names)));
  }
}

/** With a decimal, as the type that FOCUS wants: programs guess types by what they read. */
const decimal = (text: string): Cell => figure(text.includes('.') ? text : `${text}.0`);

function cost({ micro_usd: micro }: SpendSums): Cell {
  return decimal(usdText(micro));
}

function quantity({ prompt_tokens: prompt, completion_tokens: completion }: SpendSums): Cell {
  return decimal(String(prompt + completion));
}

/** The validator of FOCUS takes no other characters here. */
function description({ requests, model = '', target = '' }: SpendSums): string {
  const text = `${requests} ${requests === 1 ? 'request' : 'requests'} to ${model || NONE} by ${target || NONE}`;
  return text.replace(/[^\x20-\x7e]/g, '?');
}

function vendor({ provider = '' }: SpendSums): string {
  return provider || NONE;
}

function firstSegment(path: string): string {
  return `/${path.split('/')[1] ?? ''}`;
}

function monthOf(at: number, ahead: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1);
}

/** A tag with `=` has a value; of one without, FOCUS wants `true`. The second value of a name stands as a tag of its own: none is lost. */
function tagValues(tags: string): Readonly<Record<string, string | true>> {
  const values = new Map<string, string | true>();
  for (const tag of tags.split(',')) {
    if (tag === '') continue;
    const at = tag.indexOf('=');
    const name = at < 0 ? tag : tag.slice(0, at);
    if (at < 0 || values.has(name)) values.set(tag, true);
    else values.set(name, tag.slice(at + 1));
  }
  return Object.fromEntries(values);
}
