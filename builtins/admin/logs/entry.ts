import { parseJson } from '../../../host/contract/index.ts';
import { LOG_COLUMN_LIST } from '../../../host/contract/log-columns.ts';
import type { LogRow } from '../../../host/stores/log/log-repository.ts';
import { timestamp } from '../../../host/common/timestamps.ts';

const SHOWN = LOG_COLUMN_LIST.filter(([, { shown }]) => shown !== 'never');

/** A row as it is shown, in the order of its columns. See docs/reference/admin.md#request-log-rows. */
export function entry(row: LogRow): object {
  return Object.fromEntries(SHOWN.map(([name, column]) => [column.shownAs ?? name, shownValue(row[name], column)]));
}

/** JSON leaves `undefined` out. */
function shownValue(value: string | number | null, { kind, shown }: (typeof SHOWN)[number][1]): unknown {
  if (value === null && shown === 'where known') return undefined;
  if (value === null) return kind === 'text' ? '' : null;
  if (kind === 'moment') return timestamp(Number(value));
  if (kind === 'json') return parseJson(String(value));
  return kind === 'boolean' ? value === 1 : value;
}
