import type { LogEntry } from '../../api/wire.ts';
import { offsetIn } from '../../lib/query-string.ts';
import { sinceOf } from '../../lib/record-window.ts';

/** What the address says of the list. */
export interface LogFilters {
  readonly provider: string;
  readonly model: string;
  readonly stage: string;
  readonly key: string;
  readonly credential: string;
  readonly group: string;
  readonly affinity: string;
  readonly window: string;
  /** Whose doing the end of a request was: `failed`, or an outcome. */
  readonly outcome: string;
  /** Looked for in the whole log: the id of a request, or part of an error. */
  readonly find: string;
  /** Where the page of a search begins. */
  readonly cursor: string;
  readonly offset: number;
  /** Looks for a text in the rows that are loaded. */
  readonly q: string;
}

export const PAGE = 50;
export const STAGES: readonly (readonly [value: string, label: string])[] = [
  ['', 'Requests'],
  ['all', 'All stages'],
  ['before_request', 'Before request'],
  ['after_request', 'After request'],
  ['on_error', 'On error'],
];

export function readFilters(search: URLSearchParams): LogFilters {
  const text = (name: string): string => search.get(name) ?? '';
  return {
    provider: text('provider'),
    model: text('model'),
    stage: text('stage'),
    key: text('key'),
    credential: text('credential'),
    group: text('group'),
    affinity: text('affinity'),
    window: text('window'),
    outcome: text('outcome'),
    find: text('find').trim(),
    cursor: text('cursor'),
    offset: offsetIn(search),
    q: text('q'),
  };
}

const TRACE_ID = /^[\da-f]{32}$/i;
/** Characters of a text that the gateway looks for. */
const SHORTEST_TEXT = 3;

export const OUTCOMES: readonly (readonly [value: string, label: string])[] = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['ok', 'OK'],
  ['client', 'Client'],
  ['policy', 'Policy'],
  ['budget', 'Budget'],
  ['rate', 'Rate'],
  ['provider', 'Provider'],
  ['gateway', 'Gateway'],
];

/** Whether the gateway looks through its rows for them, and so answers without a total. */
export const isSearch = ({ outcome, find }: LogFilters): boolean =>
  outcome !== '' || (find.length >= SHORTEST_TEXT && !TRACE_ID.test(find));

/** The query of the gateway's route; what is empty is not sent. */
export function logQuery(filters: LogFilters, now: number): URLSearchParams {
  const { provider, model, stage, key, credential, group, affinity, window, outcome, find, cursor, offset } = filters;
  const isId = TRACE_ID.test(find);
  const isSearched = isSearch(filters);
  const asked = {
    limit: String(PAGE),
    offset: isSearched ? '' : String(offset),
    since: sinceOf(window, now) ?? '',
    provider,
    model,
    stage,
    api_key_id: key,
    credential,
    group,
    affinity,
    trace_id: isId ? find : '',
    text: isId || find.length < SHORTEST_TEXT ? '' : find,
    outcome,
    cursor: isSearched ? cursor : '',
  };
  return new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ''));
}

/** Asks for what the filters leave as a file, whatever page is shown. */
export function exportQuery(filters: LogFilters, format: 'csv' | 'jsonl', now: number): URLSearchParams {
  const query = logQuery(filters, now);
  for (const name of ['limit', 'offset', 'cursor']) query.delete(name);
  query.set('format', format);
  return query;
}

/** Rows in which the text stands anywhere. */
export function matching(rows: readonly LogEntry[], q: string, nameOf: (id: string) => string): readonly LogEntry[] {
  const wanted = q.trim().toLowerCase();
  if (wanted === '') return rows;
  return rows.filter((row) => {
    const { trace_id, model, provider, error_message, stage, api_key_id } = row;
    const { target = '', credential = '', model_group = '' } = row;
    return [trace_id, model, provider, error_message, stage, target, credential, model_group, nameOf(api_key_id)].some(
      (text) => text.toLowerCase().includes(wanted),
    );
  });
}

/** What rows say of instances, groups and sessions, and the filter for each: shown where a row has it, or where it is filtered by. */
export const PLACED = [
  { column: 'model_group', filter: 'group', label: 'Group' },
  { column: 'credential', filter: 'credential', label: 'Credential' },
  { column: 'affinity', filter: 'affinity', label: 'Affinity' },
] as const;

export type Placed = (typeof PLACED)[number];

export const hasPlaced = (rows: readonly LogEntry[], { column }: Placed): boolean =>
  rows.some((row) => row[column] !== undefined && row[column] !== null);
