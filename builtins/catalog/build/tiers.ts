import { readFileSync } from 'node:fs';
import type { CatalogEntry } from '../../../host/common/catalog.ts';
import type { PriceLine, PriceName } from '../../../host/common/prices/catalog-pricing.ts';
import { isFields } from '../../../host/contract/index.ts';
import { type EntryMap, readEntries } from '../entries.ts';
import { conditionKey } from '../price-lines.ts';
import type { Tiered } from './litellm.ts';

export const TIERS_FILE = new URL('tiers.json', import.meta.url);

/** What `tiers.json` holds: tiers of models that we list, and where they were read. */
export interface TiersFile {
  readonly source: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, Tiered>>;
}

export const readTiers = (): TiersFile => JSON.parse(readFileSync(TIERS_FILE, 'utf8')) as TiersFile;

/** Base prices that two sources state may differ by what rounding makes. */
const TOLERANCE = 0.005;

const isNear = (one: number | null, other: number): boolean =>
  one !== null && Math.abs(one - other) <= TOLERANCE * Math.max(one, other);

/** Whether both sources mean the same prices. */
const agrees = ({ pricing }: CatalogEntry, { input, output }: Tiered): boolean =>
  isNear(pricing.input_per_m_tokens, input) && isNear(pricing.output_per_m_tokens, output);

/** Whether tiers may be added: embeddings have another price. */
const isTiered = ({ mode }: CatalogEntry): boolean => mode !== 'embedding';

/** Models whose base prices the sources state differently: none of them gets tiers, until `curated.json` settles it. */
export const disagreements = (entries: EntryMap, { models }: TiersFile, byHand: ReadonlySet<string>): string[] =>
  Object.keys(models).filter((key) => {
    const [entry, tiered] = [entries.get(key), models[key]];
    return entry && tiered && !byHand.has(key) && isTiered(entry) && !agrees(entry, tiered);
  });

/** Lines of one condition that the sources price differently, `model line`: those of the price package count. */
export const disputedLines = (entries: EntryMap, { models }: TiersFile, byHand: ReadonlySet<string>): string[] =>
  Object.entries(models).flatMap(([key, tiered]) => {
    const entry = entries.get(key);
    if (!entry?.pricing.lines || byHand.has(key) || !isTiered(entry) || !agrees(entry, tiered)) return [];
    const own = linesOf(entry.pricing);
    return [...linesOf(tiered.pricing)].flatMap(([condition, { set = {} }]) => {
      const other = own.get(condition)?.set;
      const differ = Object.entries(set).some(
        ([name, price]) => other?.[name as PriceName] !== undefined && !isNear(other[name as PriceName] ?? null, price),
      );
      return differ ? [`${key} ${condition}`] : [];
    });
  });

type Lines = ReadonlyMap<string, PriceLine>;

function linesOf({ lines }: { readonly lines?: unknown }): Lines {
  return new Map((Array.isArray(lines) ? (lines as PriceLine[]) : []).map((line) => [conditionKey(line.when), line]));
}

/** Adds tiers to rows that have none by hand, where both sources agree on what the model costs without them. */
export function withTiers(entries: EntryMap, { models }: TiersFile, byHand: ReadonlySet<string>): EntryMap {
  const rows = Object.entries(models).flatMap(([key, tiered]) => {
    const entry = entries.get(key);
    if (!entry || byHand.has(key) || !isTiered(entry) || !agrees(entry, tiered)) return [];
    const { lines: _lines, ...prices } = tiered.pricing;
    const kept = Object.entries(prices).filter(
      ([name, price]) => !Object.hasOwn(entry.pricing, name) || (name === 'request' && isFields(price)), // fees by size go before the highest of them
    );
    const lines = merged(linesOf(entry.pricing), linesOf(tiered.pricing));
    return [[key, { pricing: { ...Object.fromEntries(kept), ...(lines.length > 0 && { lines }) } }] as const];
  });
  const { entries: tiered, malformed, ignored, doubled } = readEntries(Object.fromEntries(rows), entries);
  const wrong = [...malformed, ...ignored, ...doubled];
  if (wrong.length > 0) throw new Error(`unusable tiers: ${wrong.join('; ')}`);
  return tiered;
}

/** Lines of both: where both have one of a condition, the price package's prices with those that only the other one has. */
function merged(own: Lines, others: Lines): readonly PriceLine[] {
  const lines = new Map(others);
  for (const [condition, line] of own) {
    const { set } = lines.get(condition) ?? {};
    lines.set(condition, set && line.set ? { ...line, set: { ...set, ...line.set } } : line);
  }
  return [...lines.values()];
}
