import type { Clock } from '../common/clock.ts';
import { GatewayError } from '../contract/index.ts';
import type { Host } from '../host.ts';

/** What is left after the deadline gets this long to write its last event. */
const LAST_WORDS_MS = 5000;

export interface Drain {
  /** How long requests are served as before, while readiness says that the gateway ends. */
  readonly delayMs: number;
  /** How long requests in flight may take from then on. */
  readonly timeoutMs: number;
  /** Ends other processes that serve for this one. */
  readonly drainFirst?: ((timeoutMs: number) => Promise<void>) | undefined;
}

/**
 * Readiness turns 503 at once; requests are served as before until load balancers have noticed. What is left at the deadline ends with an
 * error event. Resolves when nothing is in flight. See docs/reference/server.md#the-end-of-a-process.
 */
export async function drainHost(host: Host, { delayMs, timeoutMs, drainFirst }: Drain): Promise<void> {
  const {
    services: { clock, closing },
    log,
  } = host;
  host.isLeaving = true;
  log.info('draining', { requests: host.activity.count, delay_ms: delayMs, timeout_ms: timeoutMs });
  if (delayMs > 0 && !host.isDraining) await elapsed(clock, delayMs);
  host.isDraining = true;
  closing.endWithin(timeoutMs);
  await drainFirst?.(timeoutMs);
  await idleWithin(host, timeoutMs);
  if (host.activity.count === 0) return;
  log.warn('ending what did not drain', { requests: host.activity.count });
  host.slot.endAll(new GatewayError('upstream_unavailable', 'the gateway is shutting down'));
  await idleWithin(host, LAST_WORDS_MS);
}

const elapsed = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.timer(ms, resolve);
  });

async function idleWithin({ activity, services: { clock } }: Host, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.timer(ms, resolve);
  await Promise.race([activity.idle(), promise]);
  timer.cancel();
}
