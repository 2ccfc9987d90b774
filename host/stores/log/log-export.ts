import type { Clock } from '../../common/clock.ts';
import { GivenUp } from '../store-link.ts';
import type { LogFilters, LogRepository, LogRow } from './log-repository.ts';
import type { LogPosition } from './log-search.ts';

/** Rows of one page. The next one is read when the client has taken this one. */
const PAGE = 500;
/** How long one export may take, and one look at the store, in milliseconds. */
const EXPORT_MS = 10 * 60_000;
const LOOK_MS = 1500;

/** All rows of some filters, as they are when it begins: the newest first. */
export interface LogExport {
  /** There are more rows than were asked for. */
  readonly isTruncated: boolean;
  readonly pages: AsyncGenerator<readonly LogRow[]>;
}

export interface LogExportDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly repository: Pick<LogRepository, 'newestId' | 'countFound' | 'search'>;
  /** One reading of the store, with a limit of its own. */
  readonly read: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

/** Looks first whether there are more rows than `most`, and gives them page by page. */
export async function exportRows(deps: LogExportDeps, filters: LogFilters, most: number): Promise<LogExport> {
  const { clock, repository, read } = deps;
  const deadline = clock.monotonic() + EXPORT_MS;
  const upTo = await read(() => repository.newestId());
  let count = 0;
  let from: LogPosition | undefined;
  do {
    const bounds = { most: most + 1 - count, from, upTo, mayGoOn: within(LOOK_MS, clock) };
    const part = await read((signal) => repository.countFound(filters, bounds, signal));
    count += part.count;
    from = part.next;
    keepTo(deadline, clock);
  } while (from && count <= most);
  return { isTruncated: count > most, pages: pagesOf(deps, filters, { most, upTo, deadline }) };
}

async function* pagesOf(
  { clock, repository, read }: LogExportDeps,
  filters: LogFilters,
  { most, upTo, deadline }: { readonly most: number; readonly upTo: number; readonly deadline: number },
): AsyncGenerator<readonly LogRow[]> {
  let left = most;
  let from: LogPosition | undefined;
  do {
    const bounds = { limit: Math.min(PAGE, left), from, upTo, mayGoOn: within(LOOK_MS, clock) };
    const page = await read((signal) => repository.search(filters, bounds, signal));
    if (page.rows.length > 0) yield page.rows;
    left -= page.rows.length;
    from = page.next;
    keepTo(deadline, clock);
  } while (from && left > 0);
}

function within(ms: number, { monotonic }: Pick<Clock, 'monotonic'>): () => boolean {
  const end = monotonic() + ms;
  return () => monotonic() < end;
}

function keepTo(deadline: number, { monotonic }: Pick<Clock, 'monotonic'>): void {
  if (monotonic() > deadline) throw new GivenUp('an export of the request log takes ten minutes at most');
}
