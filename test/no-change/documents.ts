import { VENDORS } from '../replay/scenes/vendors.ts';
import { Chance } from './chance.ts';
import { spoiled } from './spoiled.ts';
import { pluginEntries } from './plugin-entries.ts';
import { makeTarget, MODELS } from './targets.ts';

/** One generated case: a configuration without the blocks of instances, groups and sessions, and where it is tried. */
export interface Case {
  readonly seed: number;
  readonly document: object;
  /** Vendors whose variables are set. */
  readonly registered: readonly string[];
  readonly questions: readonly Question[];
}

export interface Question {
  readonly surface: 'chat' | 'embeddings' | 'images';
  readonly request: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

const QUESTIONS = 8;
const SHARE_SPOILED = 0.25;
const MODES = [
  'single',
  'fallback',
  'loadbalance',
  'least-latency',
  'cost-optimized',
  'conditional',
  'content-based',
  'ab-test',
];

/** A case by its seed. A quarter of the documents have something wrong. */
export function makeCase(seed: number): Case {
  const chance = new Chance(seed);
  const vendors = chance.shuffled(VENDORS).slice(0, 1 + chance.below(12));
  const names = chance.isTrue(0.5) ? ['openai', ...vendors.filter((name) => name !== 'openai').slice(0, 11)] : vendors;
  const document = makeDocument(chance, names);
  return {
    seed,
    document: chance.isTrue(SHARE_SPOILED) ? spoiled(document, chance) : document,
    registered: [
      ...chance.some(names, 0.85),
      ...chance.some(
        VENDORS.filter((name) => !names.includes(name)),
        0.1,
      ),
    ],
    questions: Array.from({ length: QUESTIONS }, () => makeQuestion(chance)),
  };
}

function makeDocument(chance: Chance, names: readonly string[]): Record<string, unknown> {
  return {
    ...chance.maybe(0.3, () => ({ apiVersion: chance.of(['v1', 'v1', 'v2']) })),
    ...chance.maybe(0.9, () => ({ strategy: makeStrategy(chance, names) })),
    targets: names.map((name, at) => makeTarget(chance, { name, at })),
    ...chance.maybe(0.2, () => ({ max_request_bytes: chance.of([0, 1000, 100_000]) })),
    ...chance.maybe(0.2, () => ({ request_timeout: chance.of(['30s', '1m30s', '5000ms']) })),
    ...chance.maybe(0.6, () => ({ plugins: pluginEntries(chance) })),
    ...chance.maybe(0.7, () => ({ aliases: { short: chance.of(MODELS), quick: 'nowhere', former: 'mapped' } })),
    ...chance.maybe(0.03, () => ({ mcp_servers: wrongServers(chance) })),
    ...chance.maybe(0.1, () => ({ mcp: { stream: chance.isTrue(0.5) } })),
    ...chance.maybe(0.2, () => ({ observability: makeObservability(chance) })),
    ...chance.maybe(0.3, () => ({ compatibility: { on_unsupported_param: chance.of(['warn', 'drop', 'reject']) } })),
    ...chance.maybe(0.2, () => ({
      streaming: { keepalive: chance.of(['15s', 'off']), open_after: chance.of(['45s', '0']) },
    })),
    ...chance.maybe(0.2, () => ({ batch_target: chance.of(names) })),
    ...chance.maybe(0.2, () => ({ responses_target: chance.of(names) })),
    ...chance.maybe(0.3, () => ({
      responses: { translate: chance.of(['off', 'auto']), bind_owner: chance.isTrue(0.5) },
    })),
    ...chance.maybe(0.2, () => ({ files: { bind_owner: chance.isTrue(0.5) } })),
    ...chance.maybe(0.2, () => ({ money: { unpriced: chance.of(['refuse', 'warn', 'allow']) } })),
    ...chance.maybe(0.1, () => ({ modules: [] })),
  };
}

/** Servers that are refused: one that is reached makes its page depend on when it is asked for. */
function wrongServers(chance: Chance): readonly object[] {
  const more = chance.maybe(0.5, () => ({ allowed_tools: ['a'], timeout_seconds: 3, required: true }));
  return [{ name: chance.of(['', 'tools']), url: 'http://127.0.0.1:9/mcp', command: 'nothing', ...more }];
}

/** A strategy reads its own keys and tolerates those of others. */
function makeStrategy(chance: Chance, names: readonly string[]): object {
  const mode = chance.of(MODES);
  const isRead = (of: string): number => (mode === of ? 0.95 : 0.05);
  return {
    mode,
    ...chance.maybe(0.3, () => ({
      failover_on: chance.some(['context_length', 'content_policy', 'too_large', 'model_access'], 0.5),
    })),
    ...chance.maybe(0.3, () => ({ failover_on_status_codes: chance.some([400, 401, 403, 404, 422], 0.4) })),
    ...chance.maybe(isRead('cost-optimized'), () => ({ unpriced_strategy: chance.of(['fallback', 'skip', 'allow']) })),
    ...chance.maybe(isRead('conditional'), () => ({
      conditions: chance.list(1, 3, () => makeCondition(chance, names)),
    })),
    ...chance.maybe(isRead('content-based'), () => ({
      content_conditions: chance.list(1, 3, () => ({
        type: chance.of(['prompt_contains', 'prompt_not_contains', 'prompt_regex']),
        value: chance.of(['alpha', 'b.ta', '(?i)GAMMA']),
        target_key: chance.of(names),
      })),
    })),
    ...chance.maybe(isRead('ab-test'), () => ({
      ab_variants: chance.list(1, 4, (at) => ({
        target_key: chance.of(names),
        weight: 1 + chance.below(3),
        ...chance.maybe(0.7, () => ({ label: `v${at}` })),
      })),
    })),
  };
}

function makeCondition(chance: Chance, names: readonly string[]): object {
  const target_key = chance.of(names);
  const key = chance.of(['model', 'model_prefix', 'metadata']);
  if (key === 'metadata') return { key, field: chance.of(['team', 'tier']), value: chance.of(['x', '1']), target_key };
  return { key, value: chance.of(['gpt', 'm', 'mapped', 'gpt-4o']), target_key };
}

function makeObservability(chance: Chance): object {
  return {
    tracing: {
      enabled: false,
      ...chance.maybe(0.5, () => ({ service_name: 'house', sample_ratio: chance.of([0, 0.5, 1]) })),
      ...chance.maybe(0.5, () => ({ privacy_level: chance.of(['none', 'metadata', 'full']), protocol: 'http' })),
      ...chance.maybe(0.3, () => ({ headers: { 'x-tenant': 'secret-of-the-collector' } })),
    },
    ...chance.maybe(0.2, () => ({ exporters: [{ name: 'elsewhere', enabled: chance.isTrue(0.5), config: { a: 1 } }] })),
  };
}

function makeQuestion(chance: Chance): Question {
  const surface = chance.of(['chat', 'chat', 'chat', 'embeddings', 'images'] as const);
  const model = chance.of([...MODELS, 'short', 'quick', 'former', 'unknown-model', 'mapped', 'm']);
  const text = chance.some(['alpha', 'beta', 'Gamma', 'someone@example.com'], 0.5).join(' ') || 'hi';
  const metadata = chance.isTrue(0.4) ? { team: chance.of(['x', 'y']), tier: '1' } : undefined;
  if (surface === 'embeddings') return { surface, request: { model, input: text }, metadata };
  if (surface === 'images') return { surface, request: { model, prompt: text, n: 1 + chance.below(2) }, metadata };
  const more = {
    ...chance.maybe(0.4, () => ({ stream: chance.isTrue(0.8) })),
    ...chance.maybe(0.4, () => ({ max_tokens: 1 + chance.below(500) })),
    ...chance.maybe(0.3, () => ({ temperature: 0.5, seed: 7, logprobs: true })),
    ...chance.maybe(0.2, () => ({ user: 'one' })),
  };
  return { surface, request: { model, messages: [{ role: 'user', content: text }], ...more }, metadata };
}
