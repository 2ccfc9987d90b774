import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import type { JsonAnswer } from '../../../host/http/json-route.ts';
import type { LogFilters } from '../../../host/stores/log/log-repository.ts';
import { LOG_SORTS } from '../../../host/stores/log/log-search.ts';
import type { LogReader } from '../../../host/stores/log/request-log-store.ts';
import type { Query } from '../query.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { entry } from './entry.ts';

/** What is searched for, and how the answer says so. */
interface Asked {
  readonly filters: LogFilters;
  readonly limit: number;
  readonly shown: object;
}

/** A page of a search: without a total, which would cost a look at every row, and with where the next one begins. */
export async function searchAnswer(
  logs: LogReader,
  query: Query,
  { filters, limit, shown }: Asked,
  signal: AbortSignal,
): Promise<JsonAnswer> {
  if (query.text('offset') !== '') throw invalidRequest('offset does not go with a search; use cursor');
  const sort = query.oneOf('sort', LOG_SORTS);
  const cursor = query.text('cursor');
  if (sort !== undefined && cursor !== '')
    throw invalidRequest('cursor does not go with sort, whose answer has one page');
  const from = readCursor(cursor, filters);
  const page = await logs.search(filters, { limit, from, sort }, signal);
  return {
    status: 200,
    body: {
      data: page.rows.map(entry),
      summary: {
        total_entries: null,
        returned_entries: page.rows.length,
        searched_entries: page.searched,
        searched_to: page.searchedTo === undefined ? null : timestamp(page.searchedTo),
      },
      filters: shown,
      next: page.next ? writeCursor(page.next, filters) : null,
    },
  };
}
