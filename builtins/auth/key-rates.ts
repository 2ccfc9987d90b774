import { GatewayError } from '../../host/contract/index.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import { type Buckets, createBuckets } from '../../host/state/buckets.ts';

const MAX_KEYS = 100_000;
/** A request is admitted while anything is left. */
const ANYTHING = Number.MIN_VALUE;

/**
 * What keys may do in a minute, in requests and in tokens: buckets that start full and refill all the time. Tokens are known only
 * when a request is over, so one may take more than was left, and those after it wait.
 */
export class KeyRates {
  readonly #requests: Buckets = createBuckets(MAX_KEYS);
  readonly #tokens: Buckets = createBuckets(MAX_KEYS);

  /** Takes one request. `now` in monotonic milliseconds. */
  refusal({ id, limits }: HostPrincipal, now: number): GatewayError | undefined {
    const { rpm, tpm } = limits ?? {};
    if (tpm !== undefined) {
      const { taken, retryAfterMs } = this.#tokens.take(id, perMinute(tpm), now, 0, ANYTHING);
      if (!taken) return limited(`the key has used its ${tpm} tokens per minute`, retryAfterMs);
    }
    if (rpm !== undefined) {
      const { taken, retryAfterMs } = this.#requests.take(id, perMinute(rpm), now);
      if (!taken) return limited(`the key has made its ${rpm} requests per minute`, retryAfterMs);
    }
    return undefined;
  }

  debit({ id, limits }: HostPrincipal, tokens: number, now: number): void {
    if (limits?.tpm !== undefined && tokens > 0)
      this.#tokens.take(id, perMinute(limits.tpm), now, tokens, Number.NEGATIVE_INFINITY);
  }
}

const perMinute = (limit: number): { readonly ratePerSecond: number; readonly burst: number } => ({
  ratePerSecond: limit / 60,
  burst: limit,
});

function limited(message: string, retryAfterMs: number): GatewayError {
  return new GatewayError('rate_limit_exceeded', message, { retryAfterMs: Math.max(1, retryAfterMs) });
}
