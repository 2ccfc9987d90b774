import type { Chance } from './chance.ts';

/** Models that targets declare or the catalog knows. */
export const MODELS = [
  'm',
  'n',
  'gpt-4o',
  'gpt-4o-mini',
  'text-embedding-3-small',
  'gpt-image-1',
  'mistral-small-latest',
  'claude-sonnet-4-5',
  'deepseek-chat',
];

/** One entry of `targets`; any key may be there. */
export function makeTarget(chance: Chance, { name, at }: { readonly name: string; readonly at: number }): object {
  return {
    virtual_key: name,
    ...chance.maybe(0.9, () => ({ weight: at === 0 ? 1 : chance.below(4) })),
    ...chance.maybe(0.75, () => ({ models: chance.some(MODELS, 0.5) })),
    ...chance.maybe(0.4, () => ({ model_map: { mapped: chance.of(MODELS), [`of-${name}`]: 'gpt-4o' } })),
    ...chance.maybe(0.3, () => ({ retry: makeRetry(chance) })),
    ...chance.maybe(0.05, () => ({ retry_on_status: [500] })),
    ...chance.maybe(0.15, () => ({ model_facts: [makeFacts(chance)] })),
    ...chance.maybe(0.2, () => ({ request_timeout: chance.of(['20s', '2m']) })),
    ...chance.maybe(0.2, () => ({ responses: chance.of(['native', 'translate']) })),
    ...chance.maybe(name === 'openai' ? 0.3 : 0.03, () => ({ chat_via: chance.of(['auto', 'chat', 'responses']) })),
    ...chance.maybe(0.3, () => ({
      circuit_breaker: {
        failure_threshold: chance.below(3),
        success_threshold: 1,
        max_half_threshold: 1,
        timeout: '10s',
      },
    })),
    ...chance.maybe(0.3, () => ({
      concurrency: {
        max_concurrency: 1 + chance.below(4),
        ...chance.maybe(0.5, () => ({ queue_size: chance.below(4) })),
      },
    })),
  };
}

/** Waits are of the test's clock, which stands still: none are made. */
function makeRetry(chance: Chance): object {
  return {
    attempts: chance.below(3),
    initial_backoff_ms: 0,
    ...chance.maybe(0.5, () => ({ on_status_codes: chance.some([429, 500, 503], 0.6) })),
  };
}

function makeFacts(chance: Chance): object {
  return {
    models: [chance.of(['m', 'gpt-*', '*'])],
    ...(chance.isTrue(0.5) ? { as: 'openai/gpt-4o' } : { set: { max_output: 1000 } }),
  };
}
