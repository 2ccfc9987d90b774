import type { Chance } from './chance.ts';

interface Kind {
  readonly name: string;
  readonly stages: readonly string[];
  readonly config: object;
}

const BEFORE = ['before_request'];
const BOTH = ['before_request', 'after_request'];

const KINDS: readonly Kind[] = [
  { name: 'request-logger', stages: [...BOTH, 'on_error'], config: { persist: true } },
  { name: 'word-filter', stages: BOTH, config: { blocked_words: ['beta'] } },
  { name: 'word-filter', stages: BEFORE, config: { blocked_words: ['delta'], case_sensitive: true, observe: true } },
  { name: 'regex-guard', stages: BOTH, config: { patterns: ['(?i)gam+a'] } },
  { name: 'max-token', stages: BEFORE, config: { max_tokens: 250 } },
  { name: 'pii-redact', stages: BOTH, config: { action: 'mask' } },
  { name: 'secret-scan', stages: BOTH, config: { action: 'mask' } },
  { name: 'prompt-shield', stages: BEFORE, config: {} },
  { name: 'rate-limit', stages: BEFORE, config: { requests_per_second: 5, key_rpm: 100 } },
  { name: 'budget', stages: BOTH, config: { spend_limit_usd: 5 } },
  { name: 'response-cache', stages: BOTH, config: {} },
  { name: 'schema-guard', stages: ['after_request'], config: { schema: { type: 'object' } } },
  { name: 'no-such-plugin', stages: BEFORE, config: {} },
];

/** Entries of `plugins`. What is logged of requests is in most, so that rows are compared. */
export function pluginEntries(chance: Chance): readonly object[] {
  const chosen = KINDS.filter(({ name }) => chance.isTrue(name === 'request-logger' ? 0.7 : 0.12));
  return chance.shuffled(chosen).flatMap(({ name, stages, config }) =>
    stages.map((stage) => ({
      name,
      stage,
      enabled: name === 'no-such-plugin' ? chance.isTrue(0.2) : chance.isTrue(0.9),
      ...chance.maybe(0.95, () => ({ config })),
      ...chance.maybe(0.2, () => ({ type: 'of mine' })),
    })),
  );
}
