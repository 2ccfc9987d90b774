import { MODELS, VENDORS } from './vendors.ts';

export type HouseName = 'plain' | 'masks' | 'guards' | 'money' | 'strict' | 'failover';

/** Models that two targets own, in the order of the targets. */
export const CHAINS: Readonly<Record<string, readonly string[]>> = {
  'chain-common': ['deepseek-chat', 'openai-chat'],
  'chain-anthropic': ['anthropic-chat', 'openai-chat'],
  'chain-gemini': ['cohere-chat', 'gemini-chat'],
  'chain-bedrock': ['bedrock-converse', 'mistral-chat'],
};

type Target = Readonly<Record<string, unknown>>;

/** All vendors, each with every model of its own by the name that clients use. */
function targets(more: object = {}): readonly Target[] {
  return VENDORS.map((vendor) => {
    const own = MODELS.filter((model) => model.vendor === vendor);
    const chains = Object.entries(CHAINS).flatMap(([chain, ids]) =>
      own.filter(({ id }) => ids.includes(id)).map(({ upstream }) => [chain, upstream] as const),
    );
    return {
      virtual_key: vendor,
      model_map: Object.fromEntries([...own.map(({ id, upstream }) => [id, upstream] as const), ...chains]),
      ...more,
    };
  });
}

const plugin = (name: string, stages: readonly string[], config: object): readonly object[] =>
  stages.map((stage) => ({ name, stage, enabled: true, config }));

const BEFORE = ['before_request'];
const BOTH = ['before_request', 'after_request'];
const ALL = [...BOTH, 'on_error'];

const PLACES = {
  aliases: { fast: 'openai-chat', smart: 'anthropic-chat' },
  batch_target: 'openai',
  responses_target: 'openai',
  strategy: { mode: 'fallback' },
} as const;

/** A configuration each; one gateway runs with it at a time. */
export const HOUSES: Readonly<Record<HouseName, object>> = {
  plain: { ...PLACES, targets: targets() },
  masks: {
    ...PLACES,
    targets: targets(),
    responses: { translate: 'auto' },
    plugins: [
      ...plugin('pii-redact', BOTH, { action: 'mask', restore: true, stream: 'window' }),
      ...plugin('secret-scan', BOTH, { action: 'mask' }),
      ...plugin('request-logger', ALL, { level: 'info' }),
    ],
  },
  guards: {
    ...PLACES,
    targets: targets(),
    responses: { translate: 'auto' },
    plugins: [
      ...plugin('word-filter', BOTH, { blocked_words: ['nightfall'], stream: 'end' }),
      ...plugin('regex-guard', BOTH, { patterns: ['(?i)\\bproject[ -]aurora\\b'], stream: 'window' }),
      ...plugin('prompt-shield', BEFORE, { threshold: 0.5 }),
      ...plugin('max-token', BEFORE, { max_tokens: 4096, max_messages: 6 }),
      ...plugin('request-logger', ALL, { level: 'info' }),
    ],
  },
  money: {
    ...PLACES,
    targets: targets(),
    responses: { translate: 'auto' },
    plugins: [
      ...plugin('rate-limit', BOTH, { requests_per_second: 100_000, tokens_per_minute: 1_000_000_000 }),
      ...plugin('response-cache', BOTH, { max_age: 3600 }),
      ...plugin('budget', BOTH, { spend_limit_usd: 1_000_000, unpriced: 'allow' }),
    ],
  },
  strict: {
    ...PLACES,
    targets: targets(),
    responses: { translate: 'auto' },
    compatibility: { on_unsupported_param: 'reject' },
    plugins: plugin('word-filter', ['after_request'], { blocked_words: ['nightfall'], observe: true }),
  },
  failover: {
    ...PLACES,
    responses: { translate: 'auto' },
    targets: targets({ retry: { attempts: 2, initial_backoff_ms: 1, on_status_codes: [500] } }),
    strategy: { mode: 'fallback', failover_on: ['context_length', 'content_policy'], failover_on_status_codes: [404] },
    compatibility: { on_unsupported_param: 'drop' },
  },
};
