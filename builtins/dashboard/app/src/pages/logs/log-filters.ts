import type { LogEntry } from '../../api/wire.ts';
import { offsetIn } from '../../lib/query-string.ts';
import { sinceOf } from '../../lib/record-window.ts';

/** What the address says of the list. */
export interface LogFilters {
  readonly provider: string;
  readonly model: string;
  readonly stage: string;
  readonly key: string;
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
    window: text('window'),
    offset: offsetIn(search),
    q: text('q'),
  };
}

/** The query of the gateway's route; what is empty is not sent. */
export function logQuery({ provider, model, stage, key, window, offset }: LogFilters, now: number): URLSearchParams {
  const asked = {
    limit: String(PAGE),
    offset: String(offset),
    since: sinceOf(window, now) ?? '',
    provider,
    model,
    stage,
    api_key_id: key,
  };
  return new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ''));
}

/** Rows in which the text stands anywhere. */
export function matching(rows: readonly LogEntry[], q: string, nameOf: (id: string) => string): readonly LogEntry[] {
  const wanted = q.trim().toLowerCase();
  if (wanted === '') return rows;
  return rows.filter(({ trace_id, model, provider, error_message, stage, api_key_id, target = '' }) =>
    [trace_id, model, provider, error_message, stage, target, nameOf(api_key_id)].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
}
