import type { KeyLimits } from '../../host/common/host-principal.ts';
import type { Ask } from '../../host/state/shared-limits.ts';
import type { BoundedLimits } from '../../host/stores/bounded-limits.ts';
import {
  ANYTHING,
  type Limited,
  limitedKey,
  limitedLevel,
  outOfRequests,
  outOfTokens,
  perMinute,
  type TooSoon,
} from './key-rates.ts';

/** The groups of buckets that replicas share. */
const REQUESTS = 'requests per minute';
const TOKENS = 'tokens per minute';

type Limits = Pick<BoundedLimits, 'takeAll'>;

/** A bucket, and whose it is. */
interface Bucket {
  readonly limited: Limited;
  readonly ask: Ask;
}

/** What `KeyRates` does in memory, where replicas hold limits together. */
export const SHARED_KEY_RATES = {
  /** Takes one request of a key, or of none, from all that binds it or from nothing. A promise only where a limit does. */
  refusal(
    limits: Limits,
    id: string | undefined,
    { rpm, tpm, levels }: KeyLimits,
  ): Promise<TooSoon | undefined> | undefined {
    if (rpm === undefined && tpm === undefined && !levels) return undefined;
    const buckets = [limitedKey(id, { rpm, tpm }), ...(levels ?? []).map(limitedLevel)].flatMap(bucketsOf);
    return buckets.length === 0 ? undefined : ask(limits, buckets);
  },

  /** Behind the answer: nothing waits for it. */
  debit(limits: Limits, id: string | undefined, { tpm, levels }: KeyLimits, tokens: number): void {
    if (tokens <= 0) return;
    const all = [limitedKey(id, { rpm: undefined, tpm }), ...(levels ?? []).map(limitedLevel)];
    const asks = all.flatMap((limited) =>
      limited.tpm === undefined ? [] : [tokensOf(limited.id, limited.tpm, tokens, Number.NEGATIVE_INFINITY)],
    );
    if (asks.length > 0) void limits.takeAll(asks);
  },
};

async function ask(limits: Limits, buckets: readonly Bucket[]): Promise<TooSoon | undefined> {
  const { refusedAt, retryAfterMs } = await limits.takeAll(buckets.map((bucket) => bucket.ask));
  const refused = refusedAt === undefined ? undefined : buckets[refusedAt];
  if (!refused) return undefined;
  return (refused.ask.spec.group === TOKENS ? outOfTokens : outOfRequests)(refused.limited, retryAfterMs);
}

/** Tokens before requests, as in memory. */
function bucketsOf(limited: Limited): readonly Bucket[] {
  const { id, rpm, tpm } = limited;
  return [
    ...(tpm === undefined ? [] : [{ limited, ask: tokensOf(id, tpm, 0, ANYTHING) }]),
    ...(rpm === undefined
      ? []
      : [{ limited, ask: { key: id, spec: { ...perMinute(rpm), group: REQUESTS }, cost: 1, floor: 1 } }]),
  ];
}

const tokensOf = (key: string, tpm: number, cost: number, floor: number): Ask => ({
  key,
  spec: { ...perMinute(tpm), group: TOKENS },
  cost,
  floor,
});
