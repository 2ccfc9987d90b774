import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { parse } from 'yaml';
import { readPlainFile } from '../../host/config/plain-file.ts';
import { type Entries, type EntryMap, readEntries, type ReadEntries } from './entries.ts';
import type { Chains } from './lookup.ts';
import { LineEntries } from './line-entries.ts';
import { MapEntries } from './map-entries.ts';
import { type CatalogParts, ModelCatalog } from './model-catalog.ts';
import { NO_RULES, type RuleSet } from './model-rules.ts';
import { readRules, type ReadRules } from './read-rules.ts';

const NO_CHAINS: Chains = new Map();
const BUNDLE = new URL('models.json', import.meta.url);
const RULES = new URL('model-rules.json', import.meta.url);

/** The catalog that ships with this build, as text. */
export function readBundle(): Promise<string> {
  return readFile(BUNDLE, 'utf8');
}

/** The rules of models that ship with this build. */
export async function readShippedRules(): Promise<ReadRules> {
  return readRules(JSON.parse(await readFile(RULES, 'utf8')));
}

/** A file of the operator's own entries: YAML or JSON, by its extension. */
export async function readOverlay(path: string): Promise<unknown> {
  const text = await readPlainFile(path);
  if (!/^\.ya?ml$/i.test(extname(path))) return JSON.parse(text);
  return parse(text);
}

/** The catalog that ships with this build, with the overlay laid over it. */
export async function loadShipped(overlay: unknown, chains: Chains): Promise<LoadedCatalog> {
  const [text, rules] = await Promise.all([readBundle(), readShippedRules()]);
  const entries = overlay === undefined ? LineEntries.of(text) : undefined;
  if (!entries) return loadCatalog(text, overlay, { chains, rules });
  return {
    entries,
    malformed: [],
    ignored: [],
    doubled: [],
    rules,
    catalog: new ModelCatalog(entries, versionOf(entries.newest, text), { chains, rules }),
  };
}

export interface LoadedCatalog extends Omit<ReadEntries, 'entries'> {
  readonly entries: Pick<Entries, 'size'>;
  readonly catalog: ModelCatalog;
  readonly rules: RuleSet;
}

/** Reads a whole catalog and lays the overlay over it, key by key. Throws for a text without any entry. */
export function loadCatalog(
  text: string,
  overlay: unknown,
  { chains, rules = NO_RULES }: CatalogParts = { chains: NO_CHAINS },
): LoadedCatalog & ReadEntries {
  const read = readEntries(JSON.parse(text));
  if (read.entries.size === 0) throw new Error('the catalog holds no entry');
  const entries = overlay === undefined ? read.entries : readEntries(overlay, read.entries).entries;
  const made = overlay === undefined ? text : text + JSON.stringify(overlay);
  return {
    ...read,
    entries,
    rules,
    catalog: new ModelCatalog(new MapEntries(entries), versionOf(newestOf(entries), made), { chains, rules, overlay }),
  };
}

function newestOf(entries: EntryMap): string {
  let newest = '';
  for (const { updated_at } of entries.values()) if (updated_at > newest) newest = updated_at;
  return newest;
}

/** The newest date in it, and what it is made of: equal for equal content on every replica. */
function versionOf(newest: string, made: string): string {
  const digest = hash('sha256', made).slice(0, 12);
  return newest === '' ? digest : `${newest}-${digest}`;
}
