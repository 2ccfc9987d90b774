import { createHash } from 'node:crypto';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { LogFilters } from '../../../host/stores/log/log-repository.ts';
import type { LogPosition } from '../../../host/stores/log/log-search.ts';

/** The word for the first page. */
const FIRST = 'first';
const FORM = /^(\d{1,15})\.(\d{1,15})\.([\da-f]{8})$/;

/** Where a page of a search begins; `undefined` for the newest row. A cursor belongs to the filters that it came with. */
export function readCursor(text: string, filters: LogFilters): LogPosition | undefined {
  if (text === '' || text === FIRST) return undefined;
  const [, at, id, mark] = FORM.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (at === undefined || id === undefined)
    throw invalidRequest('cursor is not one that a search has answered with; use first, or leave it out');
  if (mark !== markOf(filters))
    throw invalidRequest('cursor belongs to a search with other filters; send those that it came with');
  return { at: Number(at), id: Number(id) };
}

export function writeCursor({ at, id }: LogPosition, filters: LogFilters): string {
  return Buffer.from(`${at}.${id}.${markOf(filters)}`, 'latin1').toString('base64url');
}

/** JSON leaves out what is `undefined`. */
function markOf(filters: LogFilters): string {
  return createHash('sha256').update(JSON.stringify(filters)).digest('hex').slice(0, 8);
}
