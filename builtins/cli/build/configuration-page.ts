import { readFileSync, writeFileSync } from 'node:fs';
import type { Description } from 'joi';
import { configSchema } from '../../../host/config/schema/config-schema.ts';
import { flagsOf } from '../../../host/config/json-schema/setting-schema.ts';
import {
  blocksOf,
  describedAt,
  factsOf,
  keysOf,
  otherKeysOf,
  sameKeysAs,
} from '../../../host/config/schema/schema-walk.ts';

const PAGE = new URL('../../../docs/configuration.md', import.meta.url);
const HEAD = '| Key | Type | Default | Bounds | Meaning |\n|---|---|---|---|---|\n';

/** Blocks of the top level that have a table of their own, under their name, in the order of the page. */
const TABLES = ['providers', 'targets', 'strategy', 'models', 'plugins', 'mcp_servers', 'observability', 'identity'];

/** The page with what the schema says of every key in its tables. All beside the tables of keys is kept: it is written by hand. */
export function configurationPage(page: string, schema: Description = configSchema.describe()): string {
  const own = new Map(keysOf(schema).map((key) => [key, rowsOf(key, describedAt(schema, [key]))]));
  const top = [...own].flatMap(([key, rows]) => (TABLES.includes(key) ? rows.slice(0, 1) : rows));
  const first = withTable(page, { heading: 'Top level', head: HEAD, rows: top });
  return TABLES.reduce((text, key) => {
    const heading = describedAt(schema, [key])?.type === 'array' ? `\`${key}[]\`` : `\`${key}\``;
    return withTable(text, { heading, head: HEAD, rows: own.get(key)?.slice(1) ?? [] });
  }, first);
}

interface Table {
  /** The text of the heading under which it stands, first of all. */
  readonly heading: string;
  /** Its first two lines. */
  readonly head: string;
  readonly rows: readonly string[];
}

/** The page with other rows in one of its tables. */
export function withTable(page: string, { heading, head, rows }: Table): string {
  const place = page.indexOf(`\n### ${heading}\n\n${head}`);
  if (place < 0) throw new Error(`the page has no such table under the heading "${heading}"`);
  const begin = page.indexOf(head, place) + head.length;
  const rest = page.slice(begin).replace(/^(?:\|[^\n]*\n)+/, '');
  return `${page.slice(0, begin)}${rows.join('\n')}\n${rest}`;
}

/** The row of a field, then those of the keys in it. A name that the operator chooses stands as `<name>`. */
function rowsOf(place: string, field: Description | undefined): string[] {
  const item = field && describedAt(field, [0]);
  const named = blocksOf(field);
  const holder = item ?? named ?? field;
  const inside = `${place}${item ? '[]' : ''}${named ? '.<name>' : ''}`;
  const keys = sameKeysAs(holder) === undefined ? keysOf(holder) : [];
  const below = keys.flatMap((key) => rowsOf(`${inside}.${key}`, holder && describedAt(holder, [key])));
  const others = otherKeysOf(holder);
  return [row(place, field), ...below, ...(others ? [row(`${inside}.<secret>`, others.member)] : [])];
}

const row = (place: string, field: Description | undefined): string =>
  rowOf([`\`${place}\``, typeOf(field), defaultOf(field), boundsOf(field), meaningOf(field)]);

/** A row of a table, with these cells. */
export function rowOf(cells: readonly string[]): string {
  return `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell.replaceAll('|', '\\|')} `)).join('|')}|`;
}

const meaningOf = (field: Description | undefined): string => flagsOf(field).description ?? '';

const ITEMS: Readonly<Record<string, string>> = { text: 'list of text', integer: 'list of integers' };

function typeOf(field: Description | undefined): string {
  const { kind } = factsOf(field);
  if (kind) return kind;
  const item = field && describedAt(field, [0]);
  return item ? (ITEMS[factsOf(item).kind ?? ''] ?? 'list') : 'block';
}

function defaultOf(field: Description | undefined): string {
  const { otherwise, otherwiseSaid, isRequired } = factsOf(field).wording;
  if (isRequired) return 'required';
  if (otherwiseSaid !== undefined) return otherwiseSaid;
  if (otherwise !== undefined) return typeof otherwise === 'number' ? `${otherwise}` : codeOf(otherwise);
  return keysOf(field).length > 0 ? '' : '–'; // of a block its keys say it
}

/** A text or a boolean. */
const codeOf = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

function boundsOf(field: Description | undefined): string {
  const { values = [], min, max, bounds } = factsOf(field).wording;
  const range = min === undefined ? [] : [max === undefined ? `≥ ${min}` : `${min} to ${max}`];
  const words = values.map(codeOf);
  return [...words, ...range, ...(bounds === undefined ? [] : [bounds])].join(', ');
}

if (import.meta.main) writeFileSync(PAGE, configurationPage(readFileSync(PAGE, 'utf8')));
