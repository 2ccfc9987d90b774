import { writeFileSync } from 'node:fs';
import { LOG_COLUMN_LIST } from '../../../host/contract/log-columns.ts';
import { LONGEST_TEXT } from '../../../host/stores/log/row-values.ts';

const FILE = new URL('../../../host/stores/log/log-row.ts', import.meta.url);

export type NamedColumn = (typeof LOG_COLUMN_LIST)[number];
type Kind = NamedColumn[1]['kind'];

/** A member of a row as it waits. */
function given([name, { kind, isFree, longest = LONGEST_TEXT }]: NamedColumn): string {
  const member = `row.${name}`;
  if (kind === 'json' || kind === 'list') return `${name}: ${member} && decisionText(${member}, redactor)`;
  if (kind === 'moment') return `${name}: shifted(${member}, shiftMs)`;
  if (kind !== 'text') return `${name}: ${member}`;
  if (!isFree) return `${name}: short(${member})`;
  if (longest > LONGEST_TEXT) return `${name}: ${member} && copied(redactor.excerpt(${member}, ${longest}))`;
  return `${name}: ${member} && short(redactor.excerpt(${member}, ${longest === LONGEST_TEXT ? 'LONGEST_TEXT' : longest}))`;
}

const STORED: Readonly<Record<Exclude<Kind, 'text' | 'json' | 'list'>, string>> = {
  integer: 'whole',
  real: 'amount',
  boolean: 'flag',
  moment: 'moment',
};

/** A member of a row as it is kept. */
function stored([name, { kind, isRequired, absent, longest = LONGEST_TEXT }]: NamedColumn): string {
  const member = `row.${name}`;
  if (kind === 'json' || kind === 'list') return `${name}: ${member} === undefined ? null : storable(${member})`;
  if (kind === 'text' && isRequired) return `${name}: storable(${member})`;
  const cut = longest === LONGEST_TEXT ? '' : `, ${longest}`;
  const value = kind === 'text' ? `text(${member}${cut})` : `${STORED[kind]}(${member})`;
  return `${name}: ${value}${absent === undefined ? '' : ` ?? ${absent === '' ? "''" : absent}`}`;
}

const bound = ([name, { kind }]: NamedColumn): string => (kind === 'moment' ? 'moment' : `row.${name}`);
const lines = (columns: readonly NamedColumn[], of: (column: NamedColumn) => string): string =>
  columns.map((column) => `    ${of(column)},`).join('\n');

const HEAD = `// Made of host/contract/log-columns.ts by "npm run log-rows".
import type { RequestLogRow } from '../../contract/index.ts';
import type { Redactor } from '../../log/redact.ts';
import type { LogRow } from './log-repository.ts';
import {
  amount,
  copied,
  decisionText,
  flag,
  type GivenRow,
  LONGEST_TEXT,
  moment,
  shifted,
  short,
  storable,
  text,
  whole,
} from './row-values.ts';

`;

/** The file of what is made for every row: literals, because members that are read by a name that changes cost several times as much. */
export function logRowFile(columns: readonly NamedColumn[] = LOG_COLUMN_LIST): string {
  return `${HEAD}/** A row as it waits. \`shiftMs\` is from the clock that it was given by to that of the store. Free texts are redacted as they come: of a batch of rows at once it would be one long turn. */
export function givenRow(row: RequestLogRow, redactor: Redactor, shiftMs = 0): GivenRow {
  return {
${lines(columns, given)}
  };
}

/** A row as databases take it: no NUL and no half surrogate pair, and whole numbers that are whole. */
export function storedRow(row: GivenRow): LogRow {
  return {
${lines(columns, stored)}
  };
}

/** What is bound for a row, in the order of the columns; \`moment\` as the database takes it. */
export function valuesOf(row: LogRow, moment: string): (string | number | null)[] {
  return [
${lines(columns, bound)}
  ];
}
`;
}

if (import.meta.main) writeFileSync(FILE, logRowFile());
