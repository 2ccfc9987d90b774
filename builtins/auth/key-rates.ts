import { GatewayError } from '../../host/contract/index.ts';
import { type Level, levelName } from '../../host/common/accounts/level.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import { type Buckets, createBuckets } from '../../host/state/buckets.ts';

const MAX_KEYS = 100_000;
/** A request is admitted while anything is left. */
export const ANYTHING = Number.MIN_VALUE;

/** A request that came too soon, and whose limit says so: there is no label of its own for limits of keys. */
export interface TooSoon {
  readonly of: 'plugin' | 'account';
  readonly error: GatewayError;
}

/** Who has a limit: a key, or an account or a tag that binds it. */
export interface Limited {
  readonly id: string;
  readonly name: string;
  readonly of: TooSoon['of'];
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
}

/**
 * What keys, accounts and tags may do in a minute, in requests and in tokens: buckets that start full and refill all the time. All of them let
 * a request through, or it takes from none. Tokens are known only when a request is over, so one may take more than was left, and those after it wait.
 */
export class KeyRates {
  readonly #requests: Buckets = createBuckets(MAX_KEYS);
  readonly #tokens: Buckets = createBuckets(MAX_KEYS);
  /** Kept with an account or a tag, which lives as long as the accounts stay as they are. */
  readonly #levels = new WeakMap<Level, Limited>();

  /** Takes one request of a key, or of none. `now` in monotonic milliseconds. */
  refusal(id: string | undefined, { rpm, tpm, levels }: KeyLimits, now: number): TooSoon | undefined {
    if (rpm === undefined && tpm === undefined && !levels) return undefined;
    const key = limitedKey(id, { rpm, tpm });
    if (!levels) return this.#looked(key, now, 1);
    const all = [key, ...levels.map((level) => this.#limited(level))];
    for (const each of all) {
      const refusal = this.#looked(each, now, 0);
      if (refusal) return refusal;
    }
    for (const { id: limited, rpm: most } of all)
      if (most !== undefined) this.#requests.take(limited, perMinute(most), now);
    return undefined;
  }

  debit(id: string | undefined, { tpm, levels }: KeyLimits, tokens: number, now: number): void {
    if (tokens <= 0) return;
    this.#debit(id ?? '', tpm, tokens, now);
    for (const level of levels ?? []) this.#debit(level.budgetId, level.tpm, tokens, now);
  }

  #debit(id: string, tpm: number | undefined, tokens: number, now: number): void {
    if (tpm !== undefined) this.#tokens.take(id, perMinute(tpm), now, tokens, Number.NEGATIVE_INFINITY);
  }

  /** Why a limit does not let a request through; else it takes so many requests. */
  #looked(limited: Limited, now: number, requests: number): TooSoon | undefined {
    const { id, rpm, tpm } = limited;
    if (tpm !== undefined) {
      const { taken, retryAfterMs } = this.#tokens.take(id, perMinute(tpm), now, 0, ANYTHING);
      if (!taken) return outOfTokens(limited, retryAfterMs);
    }
    if (rpm === undefined) return undefined;
    const { taken, retryAfterMs } = this.#requests.take(id, perMinute(rpm), now, requests, 1);
    return taken ? undefined : outOfRequests(limited, retryAfterMs);
  }

  #limited(level: Level): Limited {
    const known = this.#levels.get(level);
    if (known) return known;
    const made = limitedLevel(level);
    this.#levels.set(level, made);
    return made;
  }
}

export const limitedKey = (id = '', { rpm, tpm }: Pick<KeyLimits, 'rpm' | 'tpm'>): Limited => ({
  id,
  name: 'the key',
  of: 'plugin',
  rpm,
  tpm,
});

export function limitedLevel(level: Level): Limited {
  const { budgetId: id, rpm, tpm } = level;
  return { id, name: levelName(level), of: 'account', rpm, tpm };
}

export const perMinute = (limit: number): { readonly ratePerSecond: number; readonly burst: number } => ({
  ratePerSecond: limit / 60,
  burst: limit,
});

export const outOfTokens = ({ of, name, tpm }: Limited, retryAfterMs: number): TooSoon => ({
  of,
  error: tooSoon(`${name} has used its ${tpm} tokens per minute`, retryAfterMs, 'key_tpm'),
});

export const outOfRequests = ({ of, name, rpm }: Limited, retryAfterMs: number): TooSoon => ({
  of,
  error: tooSoon(`${name} has made its ${rpm} requests per minute`, retryAfterMs, 'key_rpm'),
});

function tooSoon(message: string, retryAfterMs: number, reason: string): GatewayError {
  return new GatewayError('rate_limit_exceeded', message, { retryAfterMs: Math.max(1, retryAfterMs), reason });
}
