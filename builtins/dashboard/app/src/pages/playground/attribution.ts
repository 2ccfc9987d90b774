import type { ApiClient } from '../../api/client.ts';
import { isAbort, isNotConfigured } from '../../api/api-error.ts';
import type { LogPage } from '../../api/wire.ts';
import { withQuery } from '../../lib/query-string.ts';

/** Who served an answer, as its headers say. */
export interface Attribution {
  readonly provider: string | undefined;
  readonly target: string | undefined;
  readonly model: string | undefined;
  readonly attempts: number | undefined;
  /** Names of parameters that the provider did not get. */
  readonly ignored: string | undefined;
  readonly requestId: string | undefined;
  /** Milliseconds that the gateway itself took; unary answers only. */
  readonly overheadMs: number | undefined;
}

export function attributionOf(headers: Headers): Attribution {
  const text = (name: string): string | undefined => headers.get(name) ?? undefined;
  const figure = (name: string): number | undefined => (headers.has(name) ? Number(headers.get(name)) : undefined);
  return {
    provider: text('X-Gateway-Provider'),
    target: text('X-Gateway-Target'),
    model: text('X-Gateway-Upstream-Model') ?? text('X-Gateway-Model'),
    attempts: figure('X-Gateway-Attempts'),
    ignored: text('X-Gateway-Ignored-Params'),
    requestId: text('X-Request-ID'),
    overheadMs: figure('X-Gateway-Overhead-Ms'),
  };
}

/** Tokens of one answer, as the wire names them. */
export interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
}

/** What a request cost, as its log row says: nothing yet known, no price for its model, or no rows kept at all. */
export type Cost = { readonly usd: number } | 'unpriced' | 'unrecorded';

/** Milliseconds before each look at the log: rows are durable within 250 ms of the answer's end. */
const LOOKS_MS = [350, 900, 2500];
const ROWS = 50;

/** Waits for the row of a request that has just ended. Throws when the signal ends. */
export async function readCost(
  api: ApiClient,
  requestId: string,
  startedAt: number,
  signal: AbortSignal,
): Promise<Cost> {
  const since = new Date(startedAt - 60_000).toISOString(); // the gateway's clock is not this one's
  for (const wait of LOOKS_MS) {
    await pause(wait, signal);
    try {
      const { data } = await api.json<LogPage>(withQuery('/admin/logs', { limit: ROWS, since }), { signal });
      const row = data.find(({ trace_id }) => trace_id === requestId);
      if (row) return row.cost_usd === null ? 'unpriced' : { usd: row.cost_usd };
    } catch (error) {
      if (isAbort(error)) throw error;
      if (isNotConfigured(error)) return 'unrecorded';
    }
  }
  return 'unrecorded';
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(new DOMException('The wait was given up.', 'AbortError'));
      },
      { once: true },
    );
  });
}
