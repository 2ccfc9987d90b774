import { type BucketSpec, type Counters, GatewayError } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import type { Eventual } from '../pipeline/eventual.ts';
import { type Buckets, createBuckets, type Taken } from '../state/buckets.ts';
import type { BoundedLimits } from '../stores/bounded-limits.ts';
import { limiterKey } from './client-address.ts';
import type { RequestContext } from './context.ts';

const MAX_ADDRESSES = 100_000;
/** The bucket of an address, as the store of what replicas share names it. */
const GROUP = 'requests by address';
/** Milliseconds between two words to that store, and addresses that one of them has. */
export const SENT_EVERY_MS = 100;
const SENT_AT_ONCE = 100;

export interface AddressLimitDeps {
  readonly limit: BucketSpec;
  readonly counters: Counters;
  readonly clock: Clock;
  /** Limits that replicas hold together; absent where each holds its own. */
  readonly limits?: Pick<BoundedLimits, 'isShared' | 'takeAll'> | undefined;
  /** What is left to each address; its own unless given. */
  readonly addresses?: Buckets | undefined;
  /** Takes one request from what all processes of this gateway hold together. */
  readonly takeAddress?: ((key: string) => Promise<Taken>) | undefined;
}

/**
 * The limit of requests by address, which memory decides: no request waits. Where replicas hold limits together, each tells the store ten times a second what it
 * let through, and takes from its answer what is left of each address.
 */
export class AddressLimit {
  readonly #deps: AddressLimitDeps;
  readonly #buckets: Buckets;
  /** Requests that the store does not know of, by address. */
  #unsent = new Map<string, number>();
  #isDue = false;

  constructor(deps: AddressLimitDeps) {
    this.#deps = deps;
    this.#buckets = deps.addresses ?? createBuckets(MAX_ADDRESSES);
  }

  /** Why a request is refused. Probes do not meet the limit. */
  take({
    address,
    arrivedAt,
    isProbe,
  }: Pick<RequestContext, 'address' | 'arrivedAt' | 'isProbe'>): Eventual<GatewayError | undefined> {
    if (isProbe) return undefined;
    const { limit, limits, takeAddress } = this.#deps;
    const key = limiterKey(address);
    if (takeAddress) return takeAddress(key).then((answer) => this.#refusal(answer));
    const answer = this.#buckets.take(key, limit, arrivedAt);
    if (answer.taken && limits?.isShared === true) this.#note(key);
    return this.#refusal(answer);
  }

  #refusal({ taken, retryAfterMs }: Taken): GatewayError | undefined {
    if (taken) return undefined;
    this.#deps.counters.add('gateway_rate_limit_rejections_total', { key_type: 'ip' });
    return new GatewayError('rate_limit_exceeded', 'too many requests from this address', { retryAfterMs });
  }

  #note(key: string): void {
    this.#unsent.set(key, (this.#unsent.get(key) ?? 0) + 1);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#deps.clock.timer(SENT_EVERY_MS, () => {
      this.#isDue = false;
      const all = [...this.#unsent];
      this.#unsent = new Map();
      for (let from = 0; from < all.length; from += SENT_AT_ONCE) void this.#send(all.slice(from, from + SENT_AT_ONCE));
    });
  }

  /** What was let through since then comes off again: it is sent with the next words. */
  async #send(counts: readonly (readonly [key: string, requests: number])[]): Promise<void> {
    const { limit, limits, clock } = this.#deps;
    const spec = { ...limit, group: GROUP };
    const answer = await limits?.takeAll(
      counts.map(([key, cost]) => ({ key, spec, cost, floor: Number.NEGATIVE_INFINITY })),
    );
    const now = clock.monotonic();
    for (const [at, [key]] of counts.entries()) {
      const level = answer?.levels[at];
      if (level !== undefined) this.#buckets.put(key, level - (this.#unsent.get(key) ?? 0), now);
    }
  }
}
