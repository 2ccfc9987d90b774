import Joi from 'joi';
import {
  type BucketSpec,
  definePlugin,
  type Exchange,
  ExchangeNote,
  type PluginDeps,
  reject,
  type SharedState,
  type Verdict,
} from 'gw/contract';

interface Settings {
  requests_per_second: number;
  burst: number;
  key_rpm: number;
  user_rpm: number;
  tokens_per_minute: number;
  key_tpm: number;
  user_tpm: number;
}

/** Optional settings have no default: a rate that is not there limits nothing. */
type GivenSettings = Pick<Settings, 'requests_per_second'> & Partial<Settings>;

const rate = (meaning: string): Joi.NumberSchema =>
  Joi.number()
    .unsafe()
    .greater(0)
    .meta({ rule: 'BV04' })
    .description(meaning)
    .error((errors) =>
      errors.map((error) =>
        Object.assign(error, {
          message: `"${error.local.label}" must be a finite number above 0; to switch the plugin off use enabled: false`,
        }),
      ),
    );

/** Limits requests and tokens: of everybody together, by credential, and by credential and `user`. */
export default definePlugin<GivenSettings>({
  name: 'rate-limit',
  type: 'ratelimit',
  summary: 'Limits requests and tokens over time: overall, per key and per user',
  stages: ['before_request', 'after_request'],
  needsBody: ({ user_rpm, user_tpm }) => user_rpm !== undefined || user_tpm !== undefined,
  settings: Joi.object<GivenSettings>({
    requests_per_second: rate('requests a second of everybody together').default(100),
    burst: rate('requests that may come at once; unset, as many as `requests_per_second`, and at least 1'),
    key_rpm: rate('requests a minute of one credential; unset, no limit'),
    user_rpm: rate('requests a minute of one `user` of one credential; unset, no limit'),
    tokens_per_minute: rate('tokens a minute of everybody together; unset, no limit'),
    key_tpm: rate('tokens a minute of one credential; unset, no limit'),
    user_tpm: rate('tokens a minute of one `user` of one credential; unset, no limit'),
  }),
  readsUsage: ({ tokens_per_minute: all, key_tpm: ofKey, user_tpm: ofUser }) => (all ?? ofKey ?? ofUser) !== undefined,
  checkStages: (stages) =>
    stages.includes('before_request')
      ? undefined
      : { message: 'limits nothing unless it is listed at before_request', fix: 'list it at before_request too' },
  create: (settings, deps) => {
    const limits = limitsOf(settings, deps);
    const debits = limits.filter(({ countsTokens }) => countsTokens);
    const debited = new ExchangeNote<true>();
    const debit = async (exchange: Exchange): Promise<void> => {
      const tokens = tokensOf(exchange);
      if (tokens === 0 || debited.get(exchange)) return;
      debited.put(exchange, true);
      await Promise.all(debits.map((limit) => spend(limit, exchange, tokens, deps.state)));
    };
    return {
      before_request: (exchange) => refuse(exchange, limits, deps.state),
      after_request: (exchange) => (debits.length > 0 ? debit(exchange) : undefined),
      // What failed after it was answered, and what is not listed at after_request, used its tokens all the same.
      finished: (exchange) => {
        if (debits.length > 0) void debit(exchange);
      },
    };
  },
});

interface Limit {
  readonly reason: string;
  readonly spec: BucketSpec;
  /** Whether it counts the tokens of answers, rather than requests. */
  readonly countsTokens: boolean;
  /** The bucket of a request; `undefined` when this limit does not concern it. */
  readonly bucketOf: (exchange: Exchange) => string | undefined;
}

/** What is counted, and for whom. */
interface Kind extends Pick<Limit, 'reason' | 'countsTokens'> {
  readonly name: keyof Settings;
  readonly keyOf: (exchange: Exchange) => string | undefined;
}

const everybody = (): string => '';
const keyOfCredential = ({ principal }: Exchange): string | undefined => principal?.id;

/** Holds the credential too: the same user name under another credential has a bucket of its own. */
function keyOfUser({ principal, user }: Exchange): string | undefined {
  return user === undefined ? undefined : JSON.stringify([principal?.id ?? '', user]);
}

const [OF_ALL, OF_KEY, OF_USER] = [
  'rate limit exceeded',
  'per-key rate limit exceeded',
  'per-user rate limit exceeded',
] as const;

const PER_SECOND: Kind = { name: 'requests_per_second', reason: OF_ALL, countsTokens: false, keyOf: everybody };

/** In the order in which they are asked: the first that refuses ends it. What was taken from the ones before stays taken. */
const PER_MINUTE: readonly Kind[] = [
  { name: 'tokens_per_minute', reason: OF_ALL, countsTokens: true, keyOf: everybody },
  { name: 'key_rpm', reason: OF_KEY, countsTokens: false, keyOf: keyOfCredential },
  { name: 'key_tpm', reason: OF_KEY, countsTokens: true, keyOf: keyOfCredential },
  { name: 'user_rpm', reason: OF_USER, countsTokens: false, keyOf: keyOfUser },
  { name: 'user_tpm', reason: OF_USER, countsTokens: true, keyOf: keyOfUser },
];

function limitsOf(settings: GivenSettings, { identity }: PluginDeps): Limit[] {
  const { requests_per_second: perSecond, burst = perSecond } = settings;
  return [
    limitOf(PER_SECOND, { identity, size: burst, ratePerSecond: perSecond }),
    ...PER_MINUTE.flatMap((kind) => {
      const amount = settings[kind.name];
      return amount === undefined ? [] : [limitOf(kind, { identity, size: amount, ratePerSecond: amount / 60 })];
    }),
  ];
}

interface Bucket {
  /** That of the plugin's settings: other settings have other buckets. */
  readonly identity: string;
  readonly size: number;
  readonly ratePerSecond: number;
}

function limitOf({ name, reason, countsTokens, keyOf }: Kind, { identity, size, ratePerSecond }: Bucket): Limit {
  const group = `${identity} ${name}`;
  const spec = { ratePerSecond, burst: countsTokens ? size : Math.max(size, 1), group }; // a request takes a whole token
  return {
    reason,
    spec,
    countsTokens,
    bucketOf: (exchange) => {
      const key = keyOf(exchange);
      return key === undefined ? undefined : `${group} ${key}`;
    },
  };
}

/** A request takes one token; tokens of answers are not known yet, so that their bucket only has to be above zero. */
async function refuse(exchange: Exchange, limits: readonly Limit[], state: SharedState): Promise<Verdict | undefined> {
  for (const { reason, spec, countsTokens, bucketOf } of limits) {
    const bucket = bucketOf(exchange);
    if (bucket === undefined) continue;
    const { taken, retryAfterMs } = countsTokens
      ? await state.take(bucket, spec, 0, Number.MIN_VALUE)
      : await state.take(bucket, spec, 1);
    if (!taken) return reject(reason, { retryAfterMs });
  }
  return undefined;
}

/** May leave the bucket below zero. */
async function spend({ spec, bucketOf }: Limit, exchange: Exchange, tokens: number, state: SharedState): Promise<void> {
  const bucket = bucketOf(exchange);
  if (bucket !== undefined) await state.take(bucket, spec, tokens, Number.NEGATIVE_INFINITY);
}

/** What an answer used; a plugin's answer used nothing. */
function tokensOf({ answeredBy, charged }: Exchange): number {
  return answeredBy === undefined ? (charged?.total_tokens ?? 0) : 0;
}
