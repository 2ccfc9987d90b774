import type { Clock } from '../../common/clock.ts';
import { GatewayError } from '../../contract/index.ts';
import { GivenUp } from '../store-link.ts';

export interface ReadingDeps {
  readonly clock: Clock;
  /** Ends with the client that asks. */
  readonly client: AbortSignal | undefined;
  readonly limitMs: number;
  /** Called where the limit ends it, with the milliseconds that it took. */
  readonly late: (ms: number) => void;
}

/** Runs a reading within its limit, and as long as its client is there. The signal that it gets ends with either; so does the wait for it. */
export async function reading<T>(
  { clock, client, limitMs, late }: ReadingDeps,
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
    end(new GivenUp('the request log store does not answer'));
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
export async function untilEnded<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
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
