import { CAPABILITIES, type CatalogEntry } from '../../host/common/catalog.ts';
import {
  type CatalogPricing,
  COUNT_PRICES,
  KIND_PRICES,
  type PriceName,
  type PriceTable,
} from '../../host/common/prices/catalog-pricing.ts';
import { type Fields, isFields, isText, type ReportUse, setMember } from '../../host/contract/index.ts';
import { isPrice } from './price.ts';
import { isDate, readLines, withLines } from './price-lines.ts';
import { isSpecial, putSpecial } from './special-prices.ts';

const NO_PRICES: CatalogPricing = Object.freeze({
  input_per_m_tokens: null,
  output_per_m_tokens: null,
  cache_read_per_m_tokens: null,
  cache_write_per_m_tokens: null,
  reasoning_per_m_tokens: null,
  embedding_per_m_tokens: null,
  image_per_tile: null,
  audio_input_per_minute: null,
  audio_output_per_character: null,
});

const BASE_NAMES: ReadonlySet<string> = new Set(Object.keys(NO_PRICES));
const PRICE_NAMES: ReadonlySet<string> = new Set([...BASE_NAMES, ...KIND_PRICES, ...COUNT_PRICES]);
const KNOWN_CAPABILITIES: ReadonlySet<string> = new Set(CAPABILITIES);

/** Fields of the format that nothing here uses. */
const UNUSED = new Set([
  'tier',
  'finetune_train_per_m_tokens',
  'finetune_input_per_m_tokens',
  'finetune_output_per_m_tokens',
]);

const MAX_TOKENS = 1_000_000_000;

const NO_CAPABILITIES: CatalogEntry['capabilities'] = Object.freeze({});
const GA: CatalogEntry['lifecycle'] = Object.freeze({
  status: 'ga',
  deprecation_date: null,
  sunset_date: null,
  successor: null,
});

/** Entries by `provider/model_id`. */
export interface Entries {
  readonly size: number;
  get(key: string): CatalogEntry | undefined;
  /** What follows the slash in the keys of a provider. */
  idsOf(provider: string): Iterable<string>;
}

/** Entries that have been read, all of them. */
export type EntryMap = ReadonlyMap<string, CatalogEntry>;

export interface ReadEntries {
  readonly entries: EntryMap;
  /** Entries that cannot be used, `key: why`; they are left out. */
  readonly malformed: readonly string[];
  /** Fields without a usable value, `key: field`; they count as not written. */
  readonly ignored: readonly string[];
  /** Lines that have the condition of an earlier one, `key: line`; they count, and the earlier one does not. */
  readonly doubled: readonly string[];
}

type Raw = Readonly<Fields>;

/**
 * Reads a catalog: an object of `provider/model_id` to entry. What is not written stays as `base` has it, else unknown.
 * Never throws for what an entry holds; throws when the whole is not an object.
 */
export function readEntries(document: unknown, base: EntryMap = new Map()): ReadEntries {
  if (!isFields(document)) throw new Error('the catalog is not an object of entries');
  const entries = new Map(base);
  const malformed: string[] = [];
  const ignored: string[] = [];
  const doubled: string[] = [];
  for (const [key, raw] of Object.entries(document)) {
    const problem = problemOf(key, raw);
    if (problem !== undefined) malformed.push(`${key}: ${problem}`);
    else
      entries.set(
        key,
        readEntry(raw as Raw, base.get(key) ?? blankEntry(key), {
          ignore: (field) => ignored.push(`${key}: ${field}`),
          twice: (field) => doubled.push(`${key}: ${field}`),
        }),
      );
  }
  return { entries, malformed, ignored, doubled };
}

function problemOf(key: string, raw: unknown): string | undefined {
  const slash = key.indexOf('/');
  if (slash < 1 || slash === key.length - 1) return 'the key is not "provider/model"';
  if (!isFields(raw)) return 'it is not an object';
  if (raw['mode'] !== undefined && !isText(raw['mode'])) return 'mode is not text';
  const { provider = key.slice(0, slash), model_id = key.slice(slash + 1) } = raw;
  return isText(provider) && isText(model_id) && `${provider}/${model_id}` === key
    ? undefined
    : 'provider and model_id do not make its key';
}

/** An entry of which nothing is known but its key. */
export function blankEntry(key: string): CatalogEntry {
  const slash = key.indexOf('/');
  const model_id = key.slice(slash + 1);
  return {
    provider: key.slice(0, slash),
    model_id,
    display_name: model_id,
    mode: 'chat',
    context_window: 0,
    max_output_tokens: 0,
    pricing: NO_PRICES,
    capabilities: NO_CAPABILITIES,
    lifecycle: GA,
    source: '',
    updated_at: '',
  };
}

type Ignore = (field: string) => void;

/** What is said of an entry as it is read. */
interface Notes {
  readonly ignore: Ignore;
  readonly twice: (field: string) => void;
}

/** The value of a written field, or the one it had; `null` is as good as not written. */
function pick<T>(raw: Raw, field: string, had: T, isValid: (value: unknown) => value is T, ignore: Ignore): T {
  const value = raw[field];
  if (value === undefined || value === null) return had;
  if (isValid(value)) return value;
  ignore(field);
  return had;
}

const isTokens = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS;
const FIELDS = new Set([
  'provider',
  'model_id',
  'display_name',
  'mode',
  'context_window',
  'max_output_tokens',
  'pricing',
  'capabilities',
  'lifecycle',
  'source',
  'updated_at',
]);

function readEntry(raw: Raw, had: CatalogEntry, notes: Notes): CatalogEntry {
  const { ignore } = notes;
  for (const field of Object.keys(raw)) if (!FIELDS.has(field) && !UNUSED.has(field)) ignore(field);
  return {
    provider: had.provider,
    model_id: had.model_id,
    display_name: pick(raw, 'display_name', had.display_name, isText, ignore),
    mode: pick(raw, 'mode', had.mode, isText, ignore),
    context_window: pick(raw, 'context_window', had.context_window, isTokens, ignore),
    max_output_tokens: pick(raw, 'max_output_tokens', had.max_output_tokens, isTokens, ignore),
    pricing: readPricing(raw['pricing'], had.pricing, notes),
    capabilities: readCapabilities(raw['capabilities'], had.capabilities, ignore),
    lifecycle: readLifecycle(raw['lifecycle'], had.lifecycle, ignore),
    source: pick(raw, 'source', had.source, isText, ignore),
    updated_at: pick(raw, 'updated_at', had.updated_at, isDate, ignore),
  };
}

type Writable<T> = { -readonly [name in keyof T]: T[name] };

/** `null` removes a price, or all lines. So does a value that is not a price: the old price was meant to change. */
function readPricing(raw: unknown, had: CatalogPricing, { ignore, twice }: Notes): CatalogPricing {
  if (raw === undefined || raw === null) return had;
  if (!isFields(raw)) return ignored('pricing', had, ignore);
  const pricing: Writable<Partial<CatalogPricing>> = { ...had };
  for (const name of Object.keys(raw)) {
    const value = raw[name];
    if (name === 'lines' || name === 'reported' || isSpecial(name)) continue;
    if (isPriceName(name)) putPrice(pricing, name, isPrice(value) ? value : null);
    if (isPriceName(name) ? value !== null && !isPrice(value) : !UNUSED.has(name)) ignore(`pricing.${name}`);
  }
  putReported(pricing, raw['reported'], ignore);
  putSpecial(pricing, raw, (name) => ignore(`pricing.${name}`));
  if (raw['lines'] === undefined) return pricing as CatalogPricing;
  const lines = readLines(raw['lines'], priceOf, {
    ignore: (field) => ignore(`pricing.${field}`),
    twice: (field) => twice(`pricing.${field}`),
  });
  return withLines(pricing as CatalogPricing, lines);
}

const isReportUse = (value: unknown): value is ReportUse =>
  value === 'prefer' || value === 'compare' || value === 'ignore';

function putReported(pricing: { reported?: ReportUse }, value: unknown, ignore: Ignore): void {
  if (value === undefined) return;
  if (isReportUse(value)) pricing.reported = value;
  else delete pricing.reported;
  if (value !== null && !isReportUse(value)) ignore('pricing.reported');
}

/** A price that only some models have is left out where it is unknown. */
function putPrice(pricing: Partial<PriceTable>, name: PriceName, price: number | null): void {
  if (price === null && !BASE_NAMES.has(name)) delete pricing[name];
  else setMember<number | null | undefined>(pricing, name, price);
}

const priceOf = (name: string, value: unknown): PriceName | undefined =>
  isPriceName(name) && isPrice(value) ? name : undefined;

function readCapabilities(
  raw: unknown,
  had: CatalogEntry['capabilities'],
  ignore: Ignore,
): CatalogEntry['capabilities'] {
  if (raw === undefined || raw === null) return had;
  if (!isFields(raw)) return ignored('capabilities', had, ignore);
  const capabilities: Record<string, boolean> = { ...had };
  for (const name of Object.keys(raw)) {
    const value = raw[name];
    if (KNOWN_CAPABILITIES.has(name) && typeof value === 'boolean') setMember(capabilities, name, value);
    else ignore(`capabilities.${name}`);
  }
  return capabilities;
}

function readLifecycle(raw: unknown, had: CatalogEntry['lifecycle'], ignore: Ignore): CatalogEntry['lifecycle'] {
  if (raw === undefined || raw === null) return had;
  if (!isFields(raw)) return ignored('lifecycle', had, ignore);
  const ignoreField = (field: string): void => ignore(`lifecycle.${field}`);
  const orNull = <T>(field: string, kept: T | null, isValid: (value: unknown) => value is T): T | null =>
    raw[field] === null ? null : pick<T | null>(raw, field, kept, isValid, ignoreField);
  return {
    status: pick<string>(raw, 'status', had.status, isText, ignoreField),
    deprecation_date: orNull('deprecation_date', had.deprecation_date, isDate),
    sunset_date: orNull('sunset_date', had.sunset_date, isDate),
    successor: orNull('successor', had.successor, isText),
  };
}

function ignored<T>(field: string, had: T, ignore: Ignore): T {
  ignore(field);
  return had;
}

function isPriceName(name: string): name is PriceName {
  return PRICE_NAMES.has(name);
}
