/** What differs between the prices of two catalogs, line by line. */
import { isFields } from '../../../host/contract/json/fields.ts';

export interface PriceChange {
  readonly model: string;
  /** The condition of the line that has the price; `standard` for those that hold without one. */
  readonly line: string;
  /** Name of the price; empty where the whole model is new, or gone. */
  readonly price: string;
  readonly old: unknown;
  readonly new: unknown;
}

type Raw = Readonly<Record<string, unknown>>;

/** Both are catalogs as they are written. Models in the order of the alphabet; other facts than prices are not looked at. */
export function priceChanges(before: Raw, after: Raw): readonly PriceChange[] {
  const models = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return models.flatMap((model) => {
    const [old, now] = [fieldsIn(before, model), fieldsIn(after, model)];
    if (!old || !now) return [{ model, line: '', price: '', old: old ? 'listed' : null, new: now ? 'listed' : null }];
    return changesOf(model, pricesOf(old['pricing']), pricesOf(now['pricing']));
  });
}

type Prices = ReadonlyMap<string, { readonly line: string; readonly price: string; readonly value: unknown }>;

function changesOf(model: string, before: Prices, after: Prices): PriceChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    const { line = '', price = '' } = old ?? now ?? {};
    return JSON.stringify(old?.value) === JSON.stringify(now?.value)
      ? []
      : [{ model, line, price, old: old?.value ?? null, new: now?.value ?? null }];
  });
}

const STANDARD = 'standard';

function pricesOf(pricing: unknown): Prices {
  const prices = new Map<string, { line: string; price: string; value: unknown }>();
  if (!isFields(pricing)) return prices;
  const add = (line: string, price: string, value: unknown): void => {
    if (value !== null) prices.set(`${line} ${price}`, { line, price, value });
  };
  const { lines, ...others } = pricing;
  for (const [price, value] of Object.entries(others)) add(STANDARD, price, value);
  for (const line of Array.isArray(lines) ? lines.filter(isFields) : []) {
    const name = lineName(line['when']);
    if (line['times'] !== undefined) add(name, 'times', line['times']);
    if (isFields(line['set'])) for (const [price, value] of Object.entries(line['set'])) add(name, price, value);
  }
  return prices;
}

/** Conditions in the order of their names, so that another order of writing makes no difference. */
function lineName(when: unknown): string {
  if (!isFields(when)) return '?';
  return Object.keys(when)
    .toSorted()
    .map((name) => `${name}=${Array.isArray(when[name]) ? when[name].join('-') : String(when[name])}`)
    .join(' ');
}

const fieldsIn = (catalog: Raw, model: string): Raw | undefined => {
  const value = Object.hasOwn(catalog, model) ? catalog[model] : undefined;
  return isFields(value) ? value : undefined;
};
