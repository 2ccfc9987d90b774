/** Prices of the price package that depend on the length of the prompt, the day or the hour, as lines. */
import type { PriceConditions, PriceLine } from '../../../host/common/prices/catalog-pricing.ts';

/** A price for all, or for prompts of so many tokens and more than `start`. */
type Tiered =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] };

export type PackagePrices = Readonly<Record<string, Tiered | undefined>>;

/** Prices under a constraint. The last of a list that holds is the one in force. */
export interface Constrained {
  readonly constraint?:
    | { readonly type: 'start_date'; readonly start_date: string }
    | { readonly type: 'time_of_date'; readonly start_time: string; readonly end_time: string }
    | undefined;
  readonly prices: PackagePrices;
}

/** Prices that hold under a condition, by the names of the package, each one number. */
export interface Situation {
  readonly when: PriceConditions;
  readonly prices: Readonly<Record<string, number>>;
}

/** What is in force on a day, and what differs from it at some hours, from later days on, and for long prompts. */
export function situationsOf(prices: PackagePrices | readonly Constrained[], day: string): readonly Situation[] {
  const list: readonly Constrained[] = isList(prices) ? prices : [{ prices }];
  let known: { readonly when: PriceConditions; readonly prices: PackagePrices }[] = [];
  for (const { constraint, prices: own } of list) {
    if (constraint === undefined || (constraint.type === 'start_date' && constraint.start_date <= day))
      known = [{ when: {}, prices: own }];
    else if (constraint.type === 'start_date') {
      const from = constraint.start_date;
      known = [
        ...known,
        ...known
          .filter(({ when }) => when.from === undefined)
          .map(({ when }) => ({ when: { ...when, from }, prices: own })),
      ];
    } else {
      const utc = [clock(constraint.start_time), clock(constraint.end_time)] as const;
      known = [
        ...known,
        ...known
          .filter(({ when }) => !when.utc)
          .map(({ when }) => ({ when: { ...when, utc: [...utc] as [string, string] }, prices: own })),
      ];
    }
  }
  return known.flatMap(byLength);
}

const isList = (prices: PackagePrices | readonly Constrained[]): prices is readonly Constrained[] =>
  Array.isArray(prices);

/** `00:30:00Z` as `00:30`. */
const clock = (time: string): string => time.slice(0, 5);

/** One situation for all lengths up to the first threshold, and one above each. */
function byLength({ when, prices }: { readonly when: PriceConditions; readonly prices: PackagePrices }): Situation[] {
  const given = Object.entries(prices).flatMap(([name, price]) =>
    price === undefined ? [] : [[name, price] as const],
  );
  const starts = new Set(
    given.flatMap(([, price]) => (typeof price === 'number' ? [] : price.tiers.map(({ start }) => start))),
  );
  const at = (length: number): Readonly<Record<string, number>> =>
    Object.fromEntries(given.map(([name, price]) => [name, priceAt(price, length)]));
  return [
    { when, prices: at(0) },
    ...[...starts]
      .toSorted((a, b) => a - b)
      .map((start) => ({ when: { ...when, input_above: start }, prices: at(start) })),
  ];
}

function priceAt(price: Tiered, above: number): number {
  if (typeof price === 'number') return price;
  return price.tiers.filter(({ start }) => start <= above).reduce((_had, tier) => tier.price, price.base);
}

/** OpenAI's page says "above 272K", which the package states as a token less. Source: developers.openai.com, "Pricing", 2026-11-26. */
const OPENAI_THRESHOLD = 272_000;

/** A situation as a line of ours, without what costs as it does without the condition; `undefined` where nothing differs. */
export function lineOf(
  { when, prices }: Situation,
  base: Readonly<Record<string, number>>,
  provider: string,
): PriceLine | undefined {
  const isPair = Object.keys(when).length > 1;
  const set = Object.fromEntries(Object.entries(prices).filter(([name, price]) => isPair || base[name] !== price));
  if (Object.keys(set).length === 0) return undefined;
  const { input_above: above } = when;
  const isOpenai = (provider === 'openai' || provider === 'azure') && above === OPENAI_THRESHOLD - 1;
  return { when: isOpenai ? { ...when, input_above: OPENAI_THRESHOLD } : when, set };
}
