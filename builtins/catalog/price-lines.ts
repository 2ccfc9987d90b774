import type {
  CatalogPricing,
  PriceConditions,
  PriceLine,
  PriceName,
} from '../../host/common/prices/catalog-pricing.ts';
import { isFields, isText, setMember } from '../../host/contract/index.ts';

/** What is said of lines that are not used, or not alone. */
export interface LineNotes {
  ignore(field: string): void;
  /** Two lines of one condition: the later one counts. */
  twice(field: string): void;
}

const MOST_TIMES = 1000;
const MOST_TOKENS = 1_000_000_000;
const WORD = /^[A-Za-z0-9][\w.-]{0,63}$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

export const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);

const isWord = (value: unknown): boolean => isText(value) && WORD.test(value);
const isDay = (value: unknown): boolean => isDate(value) && !Number.isNaN(Date.parse(value));
const isTime = (value: unknown): boolean => typeof value === 'string' && (TIME.test(value) || value === '24:00');
const isTimes = (value: unknown): value is number => typeof value === 'number' && value > 0 && value <= MOST_TIMES;

const CONDITIONS: Readonly<Record<keyof PriceConditions, (value: unknown) => boolean>> = {
  from: isDay,
  until: isDay,
  utc: (value) => Array.isArray(value) && value.length === 2 && value.every(isTime),
  input_above: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS,
  service_tier: isWord,
  speed: isWord,
  region: isWord,
};

/** Equal for lines that hold at the same time. */
export const conditionKey = (when: PriceConditions): string =>
  Object.keys(CONDITIONS)
    .flatMap((name) => {
      const value = when[name as keyof PriceConditions];
      return value === undefined ? [] : [`${name}=${String(value)}`];
    })
    .join(' ');

/**
 * Reads the tiers of a model. A line that asks for what is not known here never holds, so it is left out and noted; of two lines
 * with one condition the later one stays. See docs/catalog.md#tiers.
 */
export function readLines(
  raw: unknown,
  priceOf: (name: string, value: unknown) => PriceName | undefined,
  notes: LineNotes,
): readonly PriceLine[] | undefined {
  if (!Array.isArray(raw)) {
    if (raw !== null) notes.ignore('lines');
    return undefined;
  }
  const lines = new Map<string, PriceLine>();
  for (const [index, value] of raw.entries()) {
    const field = `lines[${index}]`;
    const line = readLine(value, priceOf, (member) => notes.ignore(`${field}${member}`));
    if (!line) continue;
    const key = conditionKey(line.when);
    if (lines.has(key)) notes.twice(field);
    lines.set(key, line);
  }
  return lines.size === 0 ? undefined : Object.freeze([...lines.values()]);
}

function readLine(
  raw: unknown,
  priceOf: (name: string, value: unknown) => PriceName | undefined,
  ignore: (member: string) => void,
): PriceLine | undefined {
  const when = isFields(raw) ? readConditions(raw['when'], ignore) : undefined;
  if (!isFields(raw) || !when) return isFields(raw) ? undefined : nothing(ignore, '');
  const { set, times } = raw;
  if (isTimes(times) && set === undefined) return { when, times };
  if (times !== undefined || !isFields(set)) return nothing(ignore, '');
  const prices: Partial<Record<PriceName, number>> = {};
  for (const [name, value] of Object.entries(set)) {
    const price = priceOf(name, value);
    if (price) setMember<number | undefined>(prices, price, Number(value));
    else ignore(`.set.${name}`);
  }
  return Object.keys(prices).length > 0 ? { when, set: prices } : nothing(ignore, '');
}

function readConditions(raw: unknown, ignore: (member: string) => void): PriceConditions | undefined {
  if (!isFields(raw) || Object.keys(raw).length === 0) return nothing(ignore, '.when');
  const wrong = Object.keys(raw).find(
    (name) => !Object.hasOwn(CONDITIONS, name) || !CONDITIONS[name as keyof PriceConditions](raw[name]),
  );
  return wrong === undefined ? raw : nothing(ignore, `.when.${wrong}`);
}

function nothing(ignore: (member: string) => void, member: string): undefined {
  ignore(member);
}

/** A pricing with other lines, or without. */
export function withLines(pricing: CatalogPricing, lines: readonly PriceLine[] | undefined): CatalogPricing {
  const { lines: _had, ...prices } = pricing;
  return lines ? { ...prices, lines } : prices;
}
