import Joi from 'joi';
import { defineStrategy } from 'gw/contract';
import { MODULES } from '../../builtins/manifest.ts';
import { FACT_KEYS } from '../../host/common/fact-keys.ts';
import type { GatewayModule, ModuleKind } from '../../host/registry/registry.ts';
import { BAD_IDENTITY } from './bad-identity.ts';
import { BAD_INSTANCES } from './bad-instances.ts';
import { BAD_MODELS } from './bad-models.ts';

/** A document that breaks one rule and no other. */
export interface BadDocument {
  /** Text of a YAML file, or an object that is written as JSON. */
  readonly document: string | object;
  /** Name of the file; decides the format. */
  readonly file?: string;
  /** The file is not written at all. */
  readonly isMissing?: true;
  /** Paths the problems are reported at. */
  readonly at: readonly string[];
  /** What the messages must hold. */
  readonly says: readonly string[];
  /** What the fix must hold. */
  readonly fix?: string;
  readonly modules?: readonly GatewayModule[];
}

/** The smallest valid configuration, and more. */
export const minimal = (more: object = {}): object => ({ targets: [{ virtual_key: 'echo' }], ...more });

const target = (more: object): object => minimal({ targets: [{ virtual_key: 'echo', ...more }] });
const plugins = (...entries: object[]): object =>
  minimal({ plugins: entries.map((entry) => ({ enabled: true, ...entry })) });
const before = { name: 'word-filter', stage: 'before_request' };
const after = { name: 'word-filter', stage: 'after_request' };

/** Names of the shipped modules of a kind, as a fix lists them. */
const shipped = (kind: ModuleKind): string =>
  MODULES.filter((module) => module.kind === kind)
    .map(({ name }) => name)
    .toSorted()
    .join(', ');

/** A strategy of a third party with settings and a rule on the weights. */
const weighed = defineStrategy<{ limit: number }>({
  name: 'weighed',
  summary: 'For this test',
  settings: Joi.object<{ limit: number }, true>({ limit: Joi.number().integer().min(1).required() }),
  check: (_settings, targets) =>
    targets.flatMap(({ weight, virtualKey }, index) =>
      weight < 0
        ? [
            {
              path: `targets[${index}].weight`,
              rule: 'CV38',
              message: `weight of target "${virtualKey}" is ${weight}`,
              fix: 'write 0 or more',
            },
          ]
        : [],
    ),
  create: () => (targets) => targets,
});

const tiered = defineStrategy({
  name: 'tiered',
  summary: 's',
  settings: Joi.object({}),
  targetSettings: Joi.object({ tier: Joi.number().min(1) }),
  create: () => (targets) => targets,
});

const DECODE: Readonly<Record<string, readonly BadDocument[]>> = {
  DC01: [
    {
      document: 'targetz: []\ntargets: [{virtual_key: echo}]\n',
      at: ['targetz'],
      says: ['"targetz"'],
      fix: '"targets"',
    },
    { document: minimal({ strategy: { modee: 'single' } }), at: ['strategy.modee'], says: ['"modee"'], fix: '"mode"' },
    {
      document: target({ model: 'm', weightt: 1 }),
      at: ['targets[0].model', 'targets[0].weightt'],
      says: ['"model"', '"weightt"'],
    },
    { document: minimal({ aliasez: {} }), at: ['aliasez'], says: ['"aliasez"'], fix: '"aliases"' },
    {
      document: target({ target_key: 'echo' }),
      at: ['targets[0].target_key'],
      says: ['"target_key"'],
      fix: 'virtual_key',
    },
    { document: minimal({ _note: 'hello' }), at: ['_note'], says: ['"_note"'] },
    { document: minimal({ Targets: [] }), at: ['Targets'], says: ['"Targets"'], fix: '"targets"' },
  ],
  DC02: [
    { document: { targets: 'echo' }, at: ['targets'], says: ['type mismatch', 'a list', 'text'] },
    { document: minimal({ request_timeout: 30 }), at: ['request_timeout'], says: ['type mismatch', 'text', '30'] },
    {
      document: target({ retry: { attempts: '3' } }),
      at: ['targets[0].retry.attempts'],
      says: ['type mismatch', 'a number', 'text'],
    },
    {
      document: target({ retry: { attempts: 1.5 } }),
      at: ['targets[0].retry.attempts'],
      says: ['type mismatch', 'an integer', '1.5'],
    },
    {
      document: plugins({ ...before, enabled: 'yes' }),
      at: ['plugins[0].enabled'],
      says: ['type mismatch', 'true or false', 'text'],
    },
    { document: minimal({ aliases: { fast: 4 } }), at: ['aliases.fast'], says: ['type mismatch', 'text', '4'] },
    {
      document: plugins({ ...before, config: ['a'] }),
      at: ['plugins[0].config'],
      says: ['type mismatch', 'an object', 'a list'],
    },
    { document: [], file: 'config.json', at: ['(document)'], says: ['type mismatch', 'an object', 'a list'] },
    { document: 'just text\n', at: ['(document)'], says: ['type mismatch', 'an object', 'text'] },
  ],
  DC03: [
    { document: 'targets: [{virtual_key: echo}\n', at: ['(document)'], says: ['malformed'] },
    {
      document: '{"targets": [{"virtual_key": "echo"},]}',
      file: 'config.json',
      at: ['(document)'],
      says: ['malformed'],
    },
    {
      document: '// comment\n{"targets": [{"virtual_key": "echo"}]}',
      file: 'config.json',
      at: ['(document)'],
      says: ['malformed'],
    },
    { document: '', file: 'config.json', at: ['(document)'], says: ['malformed'] },
    {
      document: 'targets: [{virtual_key: echo, weight: 1, weight: 2}]\n',
      at: ['(document)'],
      says: ['weight', 'twice'],
    },
    {
      document: '{"targets": [], "targets": [{"virtual_key": "echo"}]}',
      file: 'config.json',
      at: ['(document)'],
      says: ['targets', 'twice'],
    },
  ],
  DC04: [
    { document: 'targets: [{virtual_key: echo}]\n---\ntargets: []\n', at: ['(document)'], says: ['after'] },
    { document: 'targets: [{virtual_key: echo}]\n---\n[: malformed\n', at: ['(document)'], says: ['after'] },
    { document: '{"targets": [{"virtual_key": "echo"}]} {}', file: 'config.json', at: ['(document)'], says: ['after'] },
  ],
  DC05: [
    { document: 'targets: []\n', file: 'config.toml', at: ['config.toml'], says: ['extension'], fix: '.yaml' },
    { document: 'targets: []\n', file: 'config', at: ['config'], says: ['extension'], fix: '.json' },
    { document: '', file: 'absent.yaml', isMissing: true, at: ['absent.yaml'], says: ['cannot be read'] },
  ],
};

const marked = (more: object): object => minimal({ mcp_servers: [{ name: 'a', command: 'b', ...more }] });

/** What an administrator copied out of `GET /admin/config` must not go back in as it is. */
const REDACTED: Readonly<Record<string, readonly BadDocument[]>> = {
  DC06: [
    { document: marked({ env: { TOKEN: '[REDACTED]' } }), at: ['mcp_servers[0].env'], says: ['redaction marker'] },
    { document: marked({ env: { '[REDACTED_KEY_0]': 'a' } }), at: ['mcp_servers[0].env'], says: ['redaction marker'] },
    { document: marked({ args: ['-y', '--key=[REDACTED]'] }), at: ['mcp_servers[0].args'], says: ['redaction marker'] },
    { document: minimal({ aliases: { fast: '[REDACTED]' } }), at: ['aliases'], says: ['redaction marker'] },
    {
      document: minimal({ observability: { tracing: { headers: { a: 'Bearer [REDACTED]' } } } }),
      at: ['observability.tracing.headers'],
      says: ['redaction marker'],
    },
    {
      document: minimal({ mcp_servers: [{ name: 'a', url: 'http://user:[REDACTED]@a' }] }),
      at: ['mcp_servers[0].url'],
      says: ['redaction marker'],
    },
    {
      document: plugins({ ...before, config: { blocked_words: ['a', '[REDACTED]'] } }),
      at: ['plugins[0].config'],
      says: ['redaction marker'],
    },
    {
      document: plugins({ ...before, enabled: false, config: { deep: [{ deeper: 'x [REDACTED] y' }] } }),
      at: ['plugins[0].config'],
      says: ['redaction marker'],
    },
  ],
};

const TARGETS: Readonly<Record<string, readonly BadDocument[]>> = {
  CV01: [
    { document: '', file: 'config.yaml', at: ['targets'], says: ['no target'] },
    { document: { targets: [] }, at: ['targets'], says: ['no target'] },
  ],
  CV02: [
    { document: target({ concurrency: {} }), at: ['targets[0].concurrency.max_concurrency'], says: ['"echo"'] },
    {
      document: target({ concurrency: { max_concurrency: -1 } }),
      at: ['targets[0].concurrency.max_concurrency'],
      says: ['"echo"', '-1'],
    },
  ],
  CV03: [
    {
      document: target({ concurrency: { max_concurrency: 10_001 } }),
      at: ['targets[0].concurrency.max_concurrency'],
      says: ['"echo"', '10000'],
    },
  ],
  CV04: [
    {
      document: target({ concurrency: { max_concurrency: 1, queue_size: -1 } }),
      at: ['targets[0].concurrency.queue_size'],
      says: ['"echo"'],
    },
  ],
  CV05: [
    {
      document: target({ concurrency: { max_concurrency: 1, queue_size: 10_001 } }),
      at: ['targets[0].concurrency.queue_size'],
      says: ['"echo"', '10000'],
    },
  ],
  CV06: [
    { document: target({ models: ['a', ''] }), at: ['targets[0].models[1]'], says: ['"echo"', 'models[1]'] },
    {
      document: target({ models: ['a\n', ' b'] }),
      at: ['targets[0].models[0]', 'targets[0].models[1]'],
      says: ['"echo"', 'models[0]', 'models[1]'],
    },
  ],
  CV07: [
    {
      document: target({ models: ['gpt-*', 'o?'] }),
      at: ['targets[0].models[0]', 'targets[0].models[1]'],
      says: ['"echo"', 'gpt-*', 'o?'],
    },
  ],
  CV08: [
    { document: target({ models: ['a', 'b', 'a'] }), at: ['targets[0].models[2]'], says: ['"echo"', 'models[2]'] },
  ],
  CV09: [{ document: target({ retry: { attempts: -1 } }), at: ['targets[0].retry.attempts'], says: ['"echo"'] }],
  CV10: [
    {
      document: target({ retry: { initial_backoff_ms: -1 } }),
      at: ['targets[0].retry.initial_backoff_ms'],
      says: ['"echo"'],
    },
  ],
  CV11: [
    {
      document: target({ circuit_breaker: { failure_threshold: -1, success_threshold: -2, max_half_threshold: -3 } }),
      at: ['failure_threshold', 'success_threshold', 'max_half_threshold'].map(
        (name) => `targets[0].circuit_breaker.${name}`,
      ),
      says: ['"echo"', 'failure_threshold', 'success_threshold', 'max_half_threshold'],
    },
  ],
  CV12: [
    {
      document: target({ circuit_breaker: { timeout: 'soon' } }),
      at: ['targets[0].circuit_breaker.timeout'],
      says: ['"echo"', 'soon'],
    },
    {
      document: target({ circuit_breaker: { timeout: '-5s' } }),
      at: ['targets[0].circuit_breaker.timeout'],
      says: ['"echo"', '-5s'],
    },
  ],
  CV33: [
    { document: { targets: [{}] }, at: ['targets[0].virtual_key'], says: ['targets[0]'] },
    {
      document: { targets: [{ virtual_key: 'echo' }, { virtual_key: 'echo' }] },
      at: ['targets[1].virtual_key'],
      says: ['targets[1]', '"echo"'],
    },
  ],
  CV36: [
    {
      document: target({ retry: { on_status_codes: [429] }, retry_on_status: [500] }),
      at: ['targets[0].retry_on_status'],
      says: ['"echo"', 'retry.on_status_codes'],
    },
  ],
  CV37: [
    {
      document: target({ model_map: { a: '', '': 'b' } }),
      at: ['targets[0].model_map', 'targets[0].model_map'],
      says: ['"echo"', '"a"', '"b"'],
    },
  ],
};

const ELSEWHERE: Readonly<Record<string, readonly BadDocument[]>> = {
  CV13: [
    {
      document: minimal({ strategy: { mode: 'Single' } }),
      at: ['strategy.mode'],
      says: ['"Single"'],
      fix: shipped('strategy'),
    },
  ],
  CV19: [
    { document: minimal({ request_timeout: '1d' }), at: ['request_timeout'], says: ['1d'] },
    { document: minimal({ request_timeout: '0s' }), at: ['request_timeout'], says: ['0s'] },
    { document: minimal({ request_timeout: '-1s' }), at: ['request_timeout'], says: ['-1s'] },
    { document: target({ request_timeout: '5 minutes' }), at: ['targets[0].request_timeout'], says: ['5 minutes'] },
  ],
  CV20: [{ document: minimal({ batch_target: 'openai' }), at: ['batch_target'], says: ['batch_target', 'openai'] }],
  CV21: [
    {
      document: minimal({ responses_target: 'openai' }),
      at: ['responses_target'],
      says: ['responses_target', 'openai'],
    },
  ],
  CV22: [
    {
      document: minimal({ observability: { tracing: { privacy_level: 'FULL' } } }),
      at: ['observability.tracing.privacy_level'],
      says: ['FULL'],
    },
  ],
  CV22c: [
    {
      document: minimal({ observability: { tracing: { protocol: 'thrift' } } }),
      at: ['observability.tracing.protocol'],
      says: ['thrift'],
      fix: 'grpc, http/protobuf',
    },
  ],
  CV22d: ['grpc://c:4317', 'http://', '127.0.0.1:4318/v1/traces', 'http://coll ector:4318'].map((endpoint) => ({
    document: minimal({ observability: { tracing: { endpoint } } }),
    at: ['observability.tracing.endpoint'],
    says: [endpoint],
    fix: 'host:port',
  })),
  CV90: [
    {
      document: minimal({ money: { tags: { metadata: ['project', '#x', 'a b'] } } }),
      at: ['money.tags.metadata[1]', 'money.tags.metadata[2]'],
      says: ['"#x" is not the name of a tag', '"a b"'],
      fix: 'letters',
    },
    {
      document: minimal({ money: { tags: { metadata: Array.from({ length: 11 }, (_each, at) => `m${at}`) } } }),
      at: ['money.tags.metadata'],
      says: ['11 entries', 'the limit is 10'],
      fix: 'fewer',
    },
  ],
  CV89: [
    {
      document: minimal({ money: { unpriced: 'never' } }),
      at: ['money.unpriced'],
      says: ['never'],
      fix: 'refuse, warn, allow',
    },
    {
      document: minimal({ money: { price_reports: 'maybe' } }),
      at: ['money.price_reports'],
      says: ['maybe'],
      fix: 'prefer, compare, ignore',
    },
  ],
  CV102: ['0.5s', '61s', '15', '-15s', 'never', 'OFF'].map((keepalive) => ({
    document: minimal({ streaming: { keepalive } }),
    at: ['streaming.keepalive'],
    says: [`"${keepalive}"`],
    fix: '1s to 60s, or off',
  })),
  CV103: ['999ms', '1m1s', '45', '-1s', 'on'].map((open_after) => ({
    document: minimal({ streaming: { open_after } }),
    at: ['streaming.open_after'],
    says: [`"${open_after}"`],
    fix: '1s to 60s, or off',
  })),
  CV80: [
    {
      document: minimal({ accounts: [{ path: 'acme' }] }),
      at: ['accounts[0].path'],
      says: ['"acme"'],
      fix: 'accounts.md',
    },
    {
      document: minimal({ accounts: [{ path: '#a', required_tags: ['b'] }] }),
      at: ['accounts[0].required_tags'],
      says: ['accounts alone'],
      fix: 'accounts.md',
    },
  ],
  CV81: [
    {
      document: minimal({ accounts: [{ path: '/a' }, { path: '/a' }] }),
      at: ['accounts[1].path'],
      says: ['accounts[0]', '"/a"'],
      fix: 'once',
    },
  ],
  CV82: ['{}', '{"usd": 1, "tokens": 1}', '{"usd": -1}', '{"usd": 0.0000001}'].map((budget) => ({
    document: minimal({ accounts: [{ path: '/a', budgets: [JSON.parse(budget)] }] }),
    at: [/"usd": (-1|0.0)/.test(budget) ? 'accounts[0].budgets[0].usd' : 'accounts[0].budgets[0]'],
    says: ['usd'],
    fix: 'six decimals',
  })),
  CV83: [
    {
      document: minimal({
        accounts: [
          {
            path: '/a',
            budgets: [
              { usd: 1, every: '5h' },
              { usd: 2, every: '300m' },
            ],
          },
        ],
      }),
      at: ['accounts[0].budgets[1]'],
      says: ['accounts[0].budgets[0]', 'same windows'],
      fix: 'one of them',
    },
  ],
  CV84: [
    {
      document: minimal({ accounts: [{ path: '/a', budgets: [{ usd: 1, every: '90s' }] }] }),
      at: ['accounts[0].budgets[0].every'],
      says: ['"90s"'],
      fix: 'budgets.md',
    },
    {
      document: minimal({ money: { timezone: 'Mars/North' } }),
      at: ['money.timezone'],
      says: ['"Mars/North"'],
      fix: 'Europe/Berlin',
    },
  ],
  CV85: [[0.8, 0.5], [0], [1.5], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]].map((warn) => ({
    document: minimal({ accounts: [{ path: '/a', budgets: [{ usd: 1, warn }] }] }),
    at: ['accounts[0].budgets[0].warn'],
    says: ['ascending'],
    fix: '[0.5, 0.8]',
  })),
  CV87: [{ use: 'm' }, { more: 1 }, { use: '', more: 1 }].map((over) => ({
    document: minimal({ accounts: [{ path: '/a', session: { budgets: [{ usd: 1, over }] } }] }),
    at: ['accounts[0].session.budgets[0].over'],
    says: ['a model and how much more'],
    fix: '{use: gpt-5-nano, more: 25}',
  })),
  CV86: [
    {
      document: minimal({ accounts: [{ path: '/a', budgets: Array.from({ length: 17 }, () => ({ usd: 1 })) }] }),
      at: ['accounts[0].budgets'],
      says: ['17', '16'],
      fix: 'fewer',
    },
  ],
  CV88: [
    {
      document: minimal({ accounts: [{ path: '/a', models: { allow: ['a*b'] } }] }),
      at: ['accounts[0].models.allow[0]'],
      says: ['"a*b"'],
      fix: '* at its end',
    },
  ],
  CV40: [
    {
      document: minimal({ responses: { translate: 'on' } }),
      at: ['responses.translate'],
      says: ['on'],
      fix: 'off, auto',
    },
  ],
  CV41: [
    {
      document: target({ responses: 'auto' }),
      at: ['targets[0].responses'],
      says: ['"echo"', 'auto'],
      fix: 'native or translate',
    },
  ],
  CV100: [
    {
      document: target({ chat_via: 'messages' }),
      at: ['targets[0].chat_via'],
      says: ['"messages" is not a way to send chats'],
      fix: 'use auto, chat or responses',
    },
  ],
  CV101: [
    ...(
      [
        [{ as: 'openai/gpt-4o' }, 'models', 'names no models', 'patterns'],
        [{ models: [], as: 'openai/gpt-4o' }, 'models', 'names no models', 'patterns'],
        [{ models: ['*a*b*c*d*'], set: { late_system: true } }, 'models[0]', '4 stars', 'a name'],
        [{ models: ['m', ''], set: { late_system: true } }, 'models[1]', 'must not be empty', 'a name'],
        [{ models: ['m'] }, '', 'says nothing', 'as, or set'],
        [{ models: ['m'], set: {} }, '', 'says nothing', 'as, or set'],
        [{ models: ['m'], as: 'gpt-4o' }, 'as', '"gpt-4o"', 'the provider and the model'],
        [{ models: ['m'], as: 'openai/' }, 'as', '"openai/"', 'the provider and the model'],
        [{ models: ['m'], set: { late_sytem: true } }, 'set.late_sytem', 'is not a fact', 'Rules of models'],
        [{ models: ['m'], set: { late_system: 'yes' } }, 'set.late_system', 'true or false', 'Rules of models'],
        [{ models: ['m'], set: { thoughts_back: 'always' } }, 'set.thoughts_back', 'every_turn', 'Rules of models'],
        [{ models: ['m'], set: { thoughts_field: 7 } }, 'set.thoughts_field', 'reasoning', 'Rules of models'],
        [{ models: ['m'], set: { efforts: ['low', 'some'] } }, 'set.efforts', 'a list of none', 'Rules of models'],
        [{ models: ['m'], set: { efforts: ['high', 'low'] } }, 'set.efforts', 'in this order', 'Rules of models'],
        [{ models: ['m'], set: { efforts: ['low', 'low'] } }, 'set.efforts', 'in this order', 'Rules of models'],
        [{ models: ['m'], set: { budget: [9, 1] } }, 'set.budget', '[least, most]', 'Rules of models'],
        [{ models: ['m'], set: { budget: [1, 2, 3] } }, 'set.budget', '[least, most]', 'Rules of models'],
        [{ models: ['m'], set: { refuses: [''] } }, 'set.refuses', 'a list of names', 'Rules of models'],
        [{ models: ['m'], set: { max_output: -1 } }, 'set.max_output', 'whole number', 'Rules of models'],
        [{ models: ['m'], set: { thinking_off: 'up_to:none' } }, 'set.thinking_off', 'up_to:low', 'Rules of models'],
        [{ models: ['m'], set: { image_sizes: { most: '9x9' } } }, 'set.image_sizes', 'sizes', 'Rules of models'],
        ...Object.keys(FACT_KEYS).map(
          (key) => [{ models: ['m'], set: { [key]: 7.5 } }, `set.${key}`, 'must be', 'Rules of models'] as const,
        ),
      ] as const
    ).map(([entry, member, says, fix]) => ({
      document: target({ model_facts: [entry] }),
      at: [`targets[0].model_facts[0]${member === '' ? '' : `.${member}`}`],
      says: ['"echo"', says],
      fix,
    })),
    {
      document: target({
        model_facts: Array.from({ length: 101 }, () => ({ models: ['m'], set: { late_system: true } })),
      }),
      at: ['targets[0].model_facts'],
      says: ['101', '100'],
      fix: 'several models in one entry',
    },
  ],
  CV22b: [
    {
      document: minimal({ compatibility: { on_unsupported_param: 'Warn' } }),
      at: ['compatibility.on_unsupported_param'],
      says: ['Warn'],
      fix: 'warn, drop, reject',
    },
  ],
  CV23: [{ document: minimal({ aliases: { '': 'echo' } }), at: ['aliases'], says: ['empty'] }],
  CV24: [{ document: minimal({ aliases: { fast: '' } }), at: ['aliases.fast'], says: ['"fast"'] }],
  CV25: [{ document: minimal({ aliases: { fast: 'fast' } }), at: ['aliases.fast'], says: ['"fast"'] }],
  CV26: [
    {
      document: minimal({ aliases: { fast: 'faster', faster: 'echo' } }),
      at: ['aliases.fast'],
      says: ['"fast"', '"faster"'],
    },
  ],
  ...BAD_IDENTITY,
  ...BAD_MODELS,
  ...BAD_INSTANCES,
  CV57: [...(BAD_MODELS['CV57'] ?? []), ...(BAD_INSTANCES['CV57'] ?? [])],
  CV27: [
    {
      document: minimal({ mcp_servers: [{ url: 'http://a' }, { name: ' ', url: 'http://b' }] }),
      at: ['mcp_servers[0].name', 'mcp_servers[1].name'],
      says: ['mcp_servers[0]', 'mcp_servers[1]'],
    },
  ],
  CV28: [
    {
      document: minimal({
        mcp_servers: [
          { name: 'a', url: 'http://a' },
          { name: 'a', command: 'b' },
        ],
      }),
      at: ['mcp_servers[1].name'],
      says: ['"a"'],
    },
  ],
  CV29: [
    {
      document: minimal({ mcp_servers: [{ name: 'a', url: 'http://a', command: 'b' }] }),
      at: ['mcp_servers[0]'],
      says: ['"a"'],
    },
  ],
  CV30: [{ document: minimal({ mcp_servers: [{ name: 'a' }] }), at: ['mcp_servers[0]'], says: ['"a"'] }],
  CV31: [
    {
      document: plugins(before, { ...before, config: null }),
      at: ['plugins[1]'],
      says: ['"word-filter"', 'before_request'],
    },
    {
      document: plugins(
        { ...before, config: { blocked_words: ['a'], observe: true } },
        { ...before, config: { observe: true, blocked_words: ['a'] } },
      ),
      at: ['plugins[1]'],
      says: ['"word-filter"', 'before_request'],
    },
  ],
  CV32: [
    {
      document: plugins(
        { ...before, config: { blocked_words: ['a'] } },
        { ...after, config: { blocked_words: ['b'] } },
      ),
      at: ['plugins[0]'],
      says: ['"word-filter"', '2 stages', '2'],
    },
    {
      document: plugins(before, { ...after, config: {} }),
      at: ['plugins[0]'],
      says: ['"word-filter"', '2 stages', '2'],
    },
  ],
  CV34: [{ document: minimal({ max_request_bytes: -1 }), at: ['max_request_bytes'], says: ['-1'] }],
  CV35: [
    {
      document: minimal({ strategy: { failover_on: ['context_length', 'cost'] } }),
      at: ['strategy.failover_on[1]'],
      says: ['"cost"'],
      fix: 'use context_length, content_policy, too_large or model_access',
    },
  ],
  CV38: [
    {
      document: minimal({ strategy: { mode: 'weighed', settings: { limit: 0, more: 1 } } }),
      at: ['strategy.settings.limit', 'strategy.settings.more'],
      says: ['limit', 'more'],
      modules: [weighed],
    },
    {
      document: {
        strategy: { mode: 'weighed', settings: { limit: 1 } },
        targets: [{ virtual_key: 'echo', weight: -1 }],
      },
      at: ['targets[0].weight'],
      says: ['"echo"', '-1'],
      modules: [weighed],
    },
  ],
  CV39: [
    {
      document: { targets: [{ virtual_key: 'echo', settings: { tier: 1 } }] },
      at: ['targets[0].settings'],
      says: ['"single" reads no settings'],
    },
    {
      document: { strategy: { mode: 'tiered' }, targets: [{ virtual_key: 'echo', settings: { tier: 0, teir: 1 } }] },
      modules: [tiered],
      at: ['targets[0].settings.tier', 'targets[0].settings.teir'],
      says: ['tier must be greater than or equal to 1', 'teir is not allowed'],
    },
  ],
  BV01: [
    {
      document: { targets: [{ virtual_key: 'opena' }] },
      at: ['targets[0].virtual_key'],
      says: ['"opena"'],
      fix: shipped('provider'),
    },
  ],
  BV20: [
    {
      document: target({ chat_via: 'responses' }),
      at: ['targets[0].chat_via'],
      says: ['echo has no Responses API to send chats by'],
      fix: 'use auto or chat',
    },
  ],
  BV02: [
    {
      document: plugins({ ...before, name: 'word-filters' }),
      at: ['plugins[0].name'],
      says: ['"word-filters"'],
      fix: shipped('plugin'),
    },
  ],
  BV03: [
    {
      document: plugins({ ...before, stage: 'before' }),
      at: ['plugins[0].stage'],
      says: ['"word-filter"', '"before"'],
      fix: 'before_request, after_request, on_error',
    },
    {
      document: plugins({ name: 'word-filter' }),
      at: ['plugins[0].stage'],
      says: ['"word-filter"'],
      fix: 'before_request, after_request, on_error',
    },
  ],
  BV06: [
    {
      document: plugins({ ...before, config: { words: [] } }),
      at: ['plugins[0].config.words'],
      says: ['"word-filter"', 'words'],
      fix: 'blocked_words',
    },
    {
      document: plugins({ ...before, config: { blocked_words: ['a', 5] } }),
      at: ['plugins[0].config.blocked_words[1]'],
      says: ['"word-filter"', 'blocked_words[1]'],
    },
    {
      document: plugins({ ...before, config: { stream: 'never', case_sensitive: 'yes' } }),
      at: ['plugins[0].config.case_sensitive', 'plugins[0].config.stream'],
      says: ['"word-filter"', 'stream', 'case_sensitive'],
    },
    ...[5, '', null, ['end']].map((stream) => ({
      document: plugins({ ...before, config: { stream } }),
      at: ['plugins[0].config.stream'],
      says: ['one of [end, window, record]'],
    })), // one fault, one line
    {
      document: plugins({
        name: 'max-token',
        stage: 'before_request',
        config: { max_tokens: -1, max_messages: '${MESSAGES}', max_input_length: 0.5 },
      }),
      at: ['max_tokens', 'max_messages', 'max_input_length'].map((name) => `plugins[0].config.${name}`),
      says: ['"max-token"', 'max_tokens', 'max_messages', 'max_input_length'],
    },
  ],
  BV07: [
    {
      document: plugins({ ...before, stage: 'on_error' }),
      at: ['plugins[0].stage'],
      says: ['"word-filter"', 'on_error'],
      fix: 'before_request',
    },
    {
      document: plugins({ name: 'max-token', stage: 'after_request' }),
      at: ['plugins[0].stage'],
      says: ['"max-token"', 'after_request'],
      fix: 'before_request',
    },
  ],
};

const weights = (...each: readonly number[]): object => ({
  strategy: { mode: 'loadbalance' },
  targets: each.map((weight, at) => ({ virtual_key: ['echo', 'openai', 'groq'][at], weight })),
});
const rule = (more: object): object => ({ value: 'x', target_key: 'echo', ...more });
const conditional = (...conditions: object[]): object => minimal({ strategy: { mode: 'conditional', conditions } });
const contentBased = (...content_conditions: object[]): object =>
  minimal({ strategy: { mode: 'content-based', content_conditions } });
const abTest = (...ab_variants: object[]): object => minimal({ strategy: { mode: 'ab-test', ab_variants } });

/** Rules of the strategies, which count only while their mode is active. */
const STRATEGIES: Readonly<Record<string, readonly BadDocument[]>> = {
  CV14: [{ document: weights(-1, 3), at: ['targets[0].weight'], says: ['"echo"', '-1'] }],
  CV15: [
    { document: weights(0, 0), at: ['targets'], says: ['zero', 'positive'] },
    {
      document: { strategy: { mode: 'loadbalance' }, targets: [{ virtual_key: 'echo' }] },
      at: ['targets'],
      says: ['zero', 'positive'],
    },
  ],
  CV16: [
    {
      document: minimal({ strategy: { mode: 'cost-optimized', unpriced_strategy: 'last' } }),
      at: ['strategy.unpriced_strategy'],
      says: ['"last"', 'fallback, skip, allow'],
    },
  ],
  CV17: [
    { document: minimal({ strategy: { mode: 'conditional' } }), at: ['strategy.conditions'], says: ['conditions'] },
    {
      document: conditional(rule({ key: 'model' }), rule({ key: 'header' })),
      at: ['strategy.conditions[1].key'],
      says: ['conditions[1]', '"header"'],
      fix: 'model, model_prefix, metadata',
    },
    {
      document: conditional(rule({ key: 'model', target_key: '' })),
      at: ['strategy.conditions[0].target_key'],
      says: ['conditions[0]'],
      fix: 'echo',
    },
    {
      document: conditional(rule({ key: 'model', target_key: 'openai' })),
      at: ['strategy.conditions[0].target_key'],
      says: ['conditions[0]', '"openai"'],
      fix: 'echo',
    },
    {
      document: conditional(rule({ key: 'metadata' })),
      at: ['strategy.conditions[0].field'],
      says: ['conditions[0]', 'field'],
    },
    {
      document: conditional(rule({ key: 'model', field: 'team' })),
      at: ['strategy.conditions[0].field'],
      says: ['conditions[0]', '"team"'],
    },
  ],
  CV18: [
    { document: contentBased(), at: ['strategy.content_conditions'], says: ['content_conditions'] },
    {
      document: contentBased(rule({ type: 'regex' })),
      at: ['strategy.content_conditions[0].type'],
      says: ['content_conditions[0]', '"regex"'],
      fix: 'prompt_contains, prompt_not_contains, prompt_regex',
    },
    {
      document: contentBased(rule({ type: 'prompt_regex', value: '(?=a)' })),
      at: ['strategy.content_conditions[0].value'],
      says: ['content_conditions[0]', '"(?=a)"'],
    },
    {
      document: contentBased(rule({ type: 'prompt_contains', target_key: 'openai' })),
      at: ['strategy.content_conditions[0].target_key'],
      says: ['content_conditions[0]', '"openai"'],
      fix: 'echo',
    },
  ],
  CV18b: [
    { document: abTest(), at: ['strategy.ab_variants'], says: ['ab_variants'] },
    {
      document: abTest({ target_key: 'openai', weight: 1 }),
      at: ['strategy.ab_variants[0].target_key'],
      says: ['ab_variants[0]', '"openai"'],
      fix: 'echo',
    },
    {
      document: abTest({ target_key: 'echo', weight: 1 }, { target_key: 'echo', weight: -0.5, label: 'odd' }),
      at: ['strategy.ab_variants[1].weight'],
      says: ['"odd"', '-0.5'],
    },
    { document: abTest({ target_key: 'echo' }), at: ['strategy.ab_variants'], says: ['zero'] },
  ],
};

/** Documents by the rule they break. */
export const BAD_DOCUMENTS: Readonly<Record<string, readonly BadDocument[]>> = {
  ...DECODE,
  ...REDACTED,
  ...TARGETS,
  ...ELSEWHERE,
  ...STRATEGIES,
};
