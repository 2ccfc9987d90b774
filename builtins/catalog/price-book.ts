import type {
  CatalogPricing,
  PriceConditions,
  PriceLine,
  PriceName,
  PriceTable,
} from '../../host/common/prices/catalog-pricing.ts';
import type { PriceFacts } from '../../host/contract/index.ts';
import { conditionKey } from './price-lines.ts';

/** Prices that are in force together, by the name of their line. */
export interface BookLine {
  readonly id: string;
  readonly prices: PriceTable;
}

/** What a line is chosen by, one after the other: a day, an hour, a length, a tier; then what multiplies the prices that come of it. */
interface Dimension {
  /** What a line asks of it; `undefined` where it does not. */
  readonly of: (when: PriceConditions) => PriceConditions | undefined;
  /** Its part of the name of a line. */
  readonly name: (when: PriceConditions) => string;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
export const STANDARD = 'standard';

/** Words of vendors for the tier that costs what the model costs. */
const STANDARD_WORDS: ReadonlySet<string> = new Set(['', 'default', STANDARD, 'standard_only', 'on_demand']);

const DIMENSIONS: readonly Dimension[] = [
  {
    of: ({ from, until }) =>
      from === undefined && until === undefined
        ? undefined
        : { ...(from !== undefined && { from }), ...(until !== undefined && { until }) },
    name: ({ from, until }) => (from === undefined ? `until${until}` : `from${from}`),
  },
  {
    of: ({ utc }) => utc && { utc },
    name: ({ utc }) => `utc${utc?.[0].replace(':', '')}`,
  },
  {
    of: ({ input_above }) => (input_above === undefined ? undefined : { input_above }),
    name: ({ input_above }) => `above${input_above}`,
  },
  { of: ({ service_tier }) => (service_tier === undefined ? undefined : { service_tier }), name: tierOf },
  { of: ({ speed }) => (speed === undefined ? undefined : { speed }), name: ({ speed }) => `*${speed}` },
  { of: ({ region }) => (region === undefined ? undefined : { region }), name: ({ region }) => `*${region}` },
];

function tierOf({ service_tier: tier = '' }: PriceConditions): string {
  return tier;
}

/** The prices of one model with all of its tiers. A line is made when it is first asked for, and kept: there are as many as an entry can name. */
export class PriceBook {
  readonly base: BookLine;
  readonly #lines: readonly PriceLine[];
  readonly #rows: ReadonlyMap<string, PriceLine>;
  readonly #tiers: ReadonlySet<string>;
  readonly #made = new Map<string, BookLine>();

  constructor(pricing: CatalogPricing) {
    const { lines = NO_LINES, reported: _reported, ...prices } = pricing;
    this.base = { id: STANDARD, prices: lines.length === 0 ? pricing : prices };
    this.#lines = lines;
    this.#tiers = new Set(lines.flatMap(({ when: { service_tier: tier } }) => tier ?? []));
    this.#rows = new Map(lines.map((line) => [conditionKey(line.when), line]));
  }

  /** The one line that prices a whole request. A tier that no line has is the usual one. */
  line(input: number, facts: PriceFacts): BookLine {
    return this.#lines.length === 0 ? this.base : this.#chosen(input, facts);
  }

  /** Lines that a request may turn out to be priced by: of a tier that no line has, those of every tier. */
  lines(input: number, facts: PriceFacts): readonly BookLine[] {
    const { tier = '' } = facts;
    const tiers = this.#tiers;
    if (STANDARD_WORDS.has(tier) || tiers.has(tier)) return [this.line(input, facts)];
    return ['', ...tiers].map((word) => this.line(input, { ...facts, tier: word }));
  }

  #chosen(input: number, facts: PriceFacts): BookLine {
    const holding = this.#lines.filter(({ when }) => holds(when, input, facts));
    if (holding.length === 0) return this.base;
    const parts = DIMENSIONS.flatMap((dimension) => {
      const asked = holding.map(({ when }) => dimension.of(when)).filter((when) => when !== undefined);
      return asked.length === 0 ? [] : [{ when: asked.reduce(narrower), dimension }];
    });
    const whens = parts.map(({ when }) => when);
    const key = keyOf(whens);
    const known = this.#made.get(key);
    if (known) return known;
    const line = { id: idOf(parts), prices: this.#pricesOf(whens) };
    this.#made.set(key, line);
    return line;
  }

  /**
   * The prices where several conditions hold: the row that names them all, and of what it leaves open the product of the rows that
   * name fewer. A row that names the later ones together counts as one of them.
   */
  #pricesOf(whens: readonly PriceConditions[]): PriceTable {
    const [first] = whens;
    const { prices: base } = this.base;
    if (!first) return base;
    const row = this.#rows.get(keyOf(whens));
    if (whens.length === 1) return row ? applied(base, row) : base;
    const together = whens.findIndex((_when, at) => at > 0 && this.#rows.has(keyOf(whens.slice(at))));
    const at = together > 0 ? together : whens.length - 1;
    const product = scaled(this.#pricesOf(whens.slice(0, at)), this.#pricesOf(whens.slice(at)), base);
    return row ? applied(row.times === undefined ? product : base, row) : product;
  }
}

const NO_LINES: readonly PriceLine[] = [];

/** Equal for conditions that hold together, however they are split. */
const keyOf = (whens: readonly PriceConditions[]): string =>
  conditionKey(whens.reduce<PriceConditions>((all, when) => ({ ...all, ...when }), {}));

/** What counts where two conditions of one kind hold: the one that begins later, or lies higher. */
function narrower(one: PriceConditions, other: PriceConditions): PriceConditions {
  const { from = '', input_above: above = 0 } = one;
  const { from: otherFrom = '', input_above: otherAbove = 0 } = other;
  return otherFrom > from || otherAbove > above ? other : one;
}

function holds(
  { from, until, utc, input_above: above, service_tier, speed, region }: PriceConditions,
  input: number,
  { at, tier, speed: fast, region: where }: PriceFacts,
): boolean {
  if (above !== undefined && !(input > above)) return false;
  if (service_tier !== undefined && service_tier !== tier) return false;
  if (speed !== undefined && speed !== fast) return false;
  if (region !== undefined && region !== where) return false;
  if (from === undefined && until === undefined && !utc) return true;
  if (at === undefined) return false;
  if (from !== undefined && at < Date.parse(from)) return false;
  if (until !== undefined && at >= Date.parse(until)) return false;
  return !utc || isWithin(at, utc);
}

function isWithin(at: number, [start, end]: readonly [string, string]): boolean {
  const minute = Math.floor((((at % DAY_MS) + DAY_MS) % DAY_MS) / MINUTE_MS);
  const [first, last] = [minuteOf(start), minuteOf(end)];
  return first <= last ? minute >= first && minute < last : minute >= first || minute < last;
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

function idOf(parts: readonly { readonly when: PriceConditions; readonly dimension: Dimension }[]): string {
  const names = parts.map(({ when, dimension }) => dimension.name(when));
  const tiers = names.filter((name) => !name.startsWith('*')).join('+');
  return (tiers === '' ? STANDARD : tiers) + names.filter((name) => name.startsWith('*')).join('');
}

/** Prices of anything but tokens are not multiplied. */
const isOfTokens = (name: string): boolean => name.endsWith('_per_m_tokens');

function applied(prices: PriceTable, { set, times = 1 }: PriceLine): PriceTable {
  if (set) return { ...prices, ...set };
  return mapped(prices, (name, price) => (isOfTokens(name) ? rounded(price * times) : price));
}

/** `prices × (row ÷ base)`, price by price. What the row alone has a price for is taken from it. */
function scaled(prices: PriceTable, row: PriceTable, base: PriceTable): PriceTable {
  const product = mapped(prices, (name, price) => {
    const [of, at] = [base[name] ?? undefined, row[name] ?? undefined];
    return of === undefined || at === undefined
      ? (at ?? price)
      : of === at
        ? price
        : of === 0
          ? at
          : rounded((price * at) / of);
  });
  const alone = Object.entries(row).filter(([name, price]) => price !== null && product[name as PriceName] == null);
  return alone.length === 0 ? product : { ...product, ...Object.fromEntries(alone) };
}

function mapped(prices: PriceTable, to: (name: PriceName, price: number) => number): PriceTable {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]: [string, number | null]) => [
      name,
      price === null ? null : to(name as PriceName, price),
    ]),
  ) as unknown as PriceTable;
}

/** Without what binary fractions add. */
const rounded = (price: number): number => Number(price.toPrecision(12));
