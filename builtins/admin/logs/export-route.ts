import type { Clock } from '../../../host/common/clock.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { GatewayError, type Log, quoted } from '../../../host/contract/index.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import type { LogExport } from '../../../host/stores/log/log-export.ts';
import type { LogFilters } from '../../../host/stores/log/log-repository.ts';
import type { LogReader } from '../../../host/stores/log/request-log-store.ts';
import type { Auditor } from '../auditor.ts';
import { Query } from '../query.ts';
import { reading } from '../store-calls.ts';
import { EXPORT_COLUMNS, EXPORT_FORMATS, type ExportFormat, exportLines } from './export-lines.ts';

const ROWS = { usual: 100_000, most: 1_000_000 } as const;
const UNFIT = ['limit', 'offset', 'cursor', 'sort', 'include'];
const RETRY_MS = 5000;

const TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/x-ndjson',
};

export interface ExportDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly auditor: Auditor;
}

/** What a listing with the same parameters finds, and how it says so. */
export interface ExportedRows {
  readonly filters: LogFilters;
  readonly shown: Readonly<Record<string, unknown>>;
}

interface AskedExport extends ExportedRows {
  readonly format: ExportFormat;
  readonly columns: readonly string[];
  readonly most: number;
}

/** Exports of the request log as files, one at a time in this process. See docs/admin.md#exports. */
export class Exports {
  readonly #deps: ExportDeps;
  #isRunning = false;

  constructor(deps: ExportDeps) {
    this.#deps = deps;
  }

  async answer(logs: LogReader, call: JsonCall, rowsOf: (query: Query) => ExportedRows): Promise<JsonAnswer> {
    const asked = readExport(new Query(call.request), rowsOf);
    if (this.#isRunning)
      throw new GatewayError('rate_limit_exceeded', 'this gateway writes another export; try again when it is done', {
        retryAfterMs: RETRY_MS,
      });
    this.#isRunning = true;
    const isHead = call.request.method === 'HEAD';
    const end = this.#ending(call, asked, isHead);
    try {
      const found = await reading(logs.export(asked.filters, asked.most, call.signal), this.#deps.log);
      if (isHead) end();
      return this.#answerOf(asked, found, isHead ? undefined : end);
    } catch (error) {
      end(error);
      throw error;
    }
  }

  /** Called once, whichever way the export ends: its place is free again, and the trail has its row. A client that leaves ends it as well. */
  #ending(call: JsonCall, { format, shown }: AskedExport, isHead: boolean): Ending {
    const { auditor } = this.#deps;
    let rows = 0;
    let isOver = false;
    const end = (error?: unknown): void => {
      if (isOver) return;
      isOver = true;
      this.#isRunning = false;
      if (isHead) return;
      const about = { format, rows, filters: shown };
      const event = { action: 'logs.export', target: '*' };
      if (error === undefined) auditor.record(call, { ...event, outcome: 'ok', detail: about });
      else auditor.failed(call, { ...event, about, error });
    };
    const left = new GatewayError('client_canceled', 'the client closed the connection');
    call.signal.addEventListener('abort', () => end(left), { once: true });
    return Object.assign(end, {
      wrote: (more: number) => {
        rows += more;
      },
    });
  }

  #answerOf({ format, columns }: AskedExport, { isTruncated, pages }: LogExport, end: Ending | undefined): JsonAnswer {
    const day = new Date(this.#deps.clock.now()).toISOString().slice(0, 10);
    return {
      status: 200,
      headers: [
        'Content-Disposition',
        `attachment; filename="requests-${day}.${format}"`,
        'X-Gateway-Export-Truncated',
        String(isTruncated),
      ],
      piecesType: TYPES[format],
      pieces: this.#pieces(exportLines(pages, format, columns, end?.wrote ?? (() => {})), end),
    };
  }

  async *#pieces(lines: AsyncGenerator<string>, end: Ending | undefined): AsyncGenerator<string> {
    try {
      for (;;) {
        const next = await reading(lines.next(), this.#deps.log);
        if (next.done === true) break;
        yield next.value;
      }
      end?.();
    } catch (error) {
      end?.(error);
      throw error;
    }
  }
}

type Ending = ((error?: unknown) => void) & { readonly wrote: (rows: number) => void };

function readExport(query: Query, rowsOf: (query: Query) => ExportedRows): AskedExport {
  const format = query.oneOf('format', EXPORT_FORMATS);
  if (format === undefined) throw invalidRequest('format is missing; use csv or jsonl');
  const unfit = UNFIT.find((name) => query.text(name) !== '');
  if (unfit !== undefined) throw invalidRequest(`${unfit} does not go with an export`);
  const most = Math.min(query.integer('max_rows', 1) ?? ROWS.usual, ROWS.most);
  return { format, most, columns: columnsOf(query), ...rowsOf(query) };
}

function columnsOf(query: Query): readonly string[] {
  const asked = query.list('columns', EXPORT_COLUMNS.length) ?? [];
  for (const name of asked)
    if (!EXPORT_COLUMNS.includes(name))
      throw invalidRequest(`columns has ${quoted(name)}, which is none of ${EXPORT_COLUMNS.join(', ')}`);
  return asked.length === 0 ? EXPORT_COLUMNS : asked;
}
