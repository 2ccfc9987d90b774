import { readFileSync } from 'node:fs';
import { globMatcher } from '../../../host/common/models/model-glob.ts';
import type { ModelRule } from '../../../host/common/models/model-rule.ts';
import { type EntryMap, readEntries } from '../entries.ts';
import { RuleBook, type RuleSet } from '../model-rules.ts';
import { readRules } from '../read-rules.ts';
import { nameInRules } from '../rule-names.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** What vendors change within months is read again by then. */
const OLD_DAYS = 120;

/** Vendors whose reasoning models are each to be known by more than the rule of their family. */
const LISTED: ReadonlySet<string> = new Set([
  'openai',
  'anthropic',
  'gemini',
  'xai',
  'deepseek',
  'mistral',
  'qwen',
  'moonshot',
  'groq',
  'cerebras',
]);

/** What the makers of a release should look at, as lines. Throws where a rule cannot be used. */
export function examineRules(
  catalogText: string,
  now: number,
  file = new URL('../model-rules.json', import.meta.url),
): string[] {
  const document = JSON.parse(readFileSync(file, 'utf8')) as { readonly aliases?: unknown };
  const read = readRules(document);
  const bad = [...read.leftOut, ...read.unknown, ...incomplete(read.rules), ...doubles(read.rules)];
  if (bad.length > 0) throw new Error(`unusable rules of models:\n${bad.join('\n')}`);
  const { entries } = readEntries(JSON.parse(catalogText));
  const aliases = new Set(Array.isArray(document.aliases) ? document.aliases : []);
  return [
    ...unmatched(read, entries, aliases),
    ...unlisted(read, entries),
    ...read.rules
      .filter(({ checked }) => now - Date.parse(checked) > OLD_DAYS * DAY_MS)
      .map(({ id, checked }) => `old: the rule ${id} was checked on ${checked}`),
  ];
}

const incomplete = (rules: readonly ModelRule[]): string[] =>
  rules
    .filter(({ source, checked }) => source.length === 0 || checked === '')
    .map(({ id }) => `model rule "${id}" names no page, or no day`);

const doubles = (rules: readonly ModelRule[]): string[] =>
  rules
    .map(({ id }) => id)
    .filter((id, at, all) => all.indexOf(id) < at)
    .map((id) => `model rule "${id}" is there twice`);

interface NamedModel {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  readonly reasons: boolean;
}

/** Models of the catalog under the names that rules know. */
function modelsIn(entries: EntryMap, { names }: RuleSet): readonly NamedModel[] {
  return [...entries.values()].map(({ provider, model_id: id, capabilities }) => {
    const host = provider.replaceAll('_', '-');
    return { provider: host, id, name: nameInRules(host, id, names), reasons: capabilities['reasoning'] === true };
  });
}

/** Patterns that no model of the catalog fits, but for those that the file says are names beside it. */
function unmatched(read: RuleSet, entries: EntryMap, aliases: ReadonlySet<unknown>): string[] {
  const names = [...new Set(modelsIn(entries, read).map(({ name }) => name))];
  const patterns = new Map(read.rules.flatMap(({ id, models }) => models.map((glob) => [glob, id] as const)));
  return [...patterns]
    .filter(([glob]) => !aliases.has(glob) && !names.some(globMatcher(glob)))
    .map(([glob, id]) => `unmatched: no model of the catalog fits ${glob} of the rule ${id}; list it in aliases`);
}

/** Reasoning models that only the rule of their family speaks of: a new one, mostly, or one whose row is missing. */
function unlisted(read: RuleSet, entries: EntryMap): string[] {
  const book = new RuleBook(read);
  return modelsIn(entries, read)
    .filter(({ provider, id, reasons }) => reasons && LISTED.has(provider) && isFamilyAlone(book, provider, id))
    .map(({ provider, id }) => `unlisted: ${provider}/${id} is known by its family alone`);
}

function isFamilyAlone(book: RuleBook, provider: string, id: string): boolean {
  const said = new Set(Object.values(book.sources(provider, id)).map(({ rule }) => rule));
  const isGeneral = (rule: string): boolean =>
    rule.endsWith('-family') || book.rules.some(({ id: own, models }) => own === rule && models.includes('*'));
  return [...said].every(isGeneral);
}
