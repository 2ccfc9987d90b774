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
    offset: offsetIn(search),
    q: text('q'),
  };
}

/** The query of the gateway's route; what is empty is not sent. */
export function logQuery(filters: LogFilters, now: number): URLSearchParams {
  const { provider, model, stage, key, credential, group, affinity, window, offset } = filters;
  const asked = {
    limit: String(PAGE),
    offset: String(offset),
    since: sinceOf(window, now) ?? '',
    provider,
    model,
    stage,
    api_key_id: key,
    credential,
    group,
    affinity,
  };
  return new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ''));
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
