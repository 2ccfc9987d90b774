import type { Clock } from '../common/clock.ts';
import { GatewayError, type Log } from '../contract/index.ts';
import { GivenUp, type StoreLink } from './store-link.ts';

/** Milliseconds of one reading in all, with the writing of what waits. See docs/stores.md#while-the-store-is-away. */
const READ_MS = 10_000;

/** A store of which pages and statistics are read. */
export interface ReadStore {
  /** What is read, as the log names it: `the request log`. */
  readonly of: string;
  readonly link: StoreLink;
  readonly clock: Clock;
  readonly log: Log;
  /** Writes what waits. It never throws. */
  readonly flush: () => Promise<void>;
}

/**
 * Reads `what`, a list for example, with all that was written before. It ends after 10 s and with its client, in the store too, by the signal that `read` gets. A reading that takes too
 * long says nothing of the store: rows are written all the same.
 */
export function readFrom<T>(
  { of, link, clock, log, flush }: ReadStore,
  { what, client }: { readonly what: string; readonly client: AbortSignal | undefined },
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = (ms: number): void => log.warn(`a reading of ${of} was given up`, { what, ms });
  return reading({ clock, client, limitMs: READ_MS, store: link.what, late }, async (signal) => {
    await flush();
    signal.throwIfAborted();
    return link.ask(() => untilEnded(read(signal), signal), 2 * READ_MS); // the signal ends it first
  });
}

export interface ReadingDeps {
  readonly clock: Clock;
  /** Ends with the client that asks. */
  readonly client: AbortSignal | undefined;
  readonly limitMs: number;
  /** As messages name it. */
  readonly store: string;
  /** Called where the limit ends it, with the milliseconds that it took. */
  readonly late: (ms: number) => void;
}

/** Runs a reading within its limit, and as long as its client is there. The signal that it gets ends with either; so does the wait for it. */
export async function reading<T>(
  { clock, client, limitMs, store, late }: ReadingDeps,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (error: Error): void => {
    over.abort(new GivenUp('the reading was given up', { cause: error }));
    ended.reject(error);
  };
  const leave = (): void => end(new GatewayError('client_canceled', 'the client closed the connection'));
  const startedAt = clock.monotonic();
  const limit = clock.timer(limitMs, () => {
    late(Math.round(clock.monotonic() - startedAt));
    end(new GivenUp(`${store} does not answer`));
  });
  client?.addEventListener('abort', leave, { once: true });
  if (client?.aborted) leave();
  try {
    return await Promise.race([ended.promise, read(over.signal)]);
  } finally {
    limit.cancel();
    client?.removeEventListener('abort', leave);
  }
}

/** The call's answer, or, once the signal has ended, its reason: whatever the call makes of the signal. */
async function untilEnded<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(signal.reason as Error);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([ended.promise, call]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
