import { readFileSync } from 'node:fs';
import type { CatalogEntry } from '../../../host/common/catalog.ts';
import { type EntryMap, readEntries } from '../entries.ts';
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

/** Whether tiers may be added: not to what has some by hand, nor to embeddings, which have another price. */
const isTiered = ({ mode, pricing }: CatalogEntry): boolean => mode !== 'embedding' && pricing.lines === undefined;

/** Models whose base prices the sources state differently: none of them gets tiers, until `curated.json` settles it. */
export const disagreements = (entries: EntryMap, { models }: TiersFile): string[] =>
  Object.keys(models).filter((key) => {
    const [entry, tiered] = [entries.get(key), models[key]];
    return entry && tiered && isTiered(entry) && !agrees(entry, tiered);
  });

/** Adds tiers to rows that have none by hand, where both sources agree on what the model costs without them. */
export function withTiers(entries: EntryMap, { models }: TiersFile): EntryMap {
  const rows = Object.entries(models).flatMap(([key, tiered]) => {
    const entry = entries.get(key);
    if (!entry || !isTiered(entry) || !agrees(entry, tiered)) return [];
    const { pricing } = tiered;
    const kept = Object.entries(pricing).filter(([name]) => !Object.hasOwn(entry.pricing, name));
    return [[key, { pricing: Object.fromEntries(kept) }] as const];
  });
  const { entries: tiered, malformed, ignored, doubled } = readEntries(Object.fromEntries(rows), entries);
  const wrong = [...malformed, ...ignored, ...doubled];
  if (wrong.length > 0) throw new Error(`unusable tiers: ${wrong.join('; ')}`);
  return tiered;
}
