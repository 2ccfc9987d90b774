import { expect } from 'chai';
import { validateJson } from '../cli/commands.ts';
import { minimal } from './bad-documents.ts';

const target = (more: object): object => minimal({ targets: [{ virtual_key: 'echo', ...more }] });
const filter = { name: 'word-filter', stage: 'before_request', enabled: true };

/** Configurations that look doubtful and are not. See docs/configuration.md#the-document-by-itself. */
const LEGAL: Readonly<Record<string, object>> = {
  'one weight of 0 beside a positive one': {
    targets: [
      { virtual_key: 'echo', weight: 0 },
      { virtual_key: 'openai', weight: 1 },
    ],
  },
  'a weight of 0 under loadbalance': {
    strategy: { mode: 'loadbalance' },
    targets: [
      { virtual_key: 'echo', weight: 0.5 },
      { virtual_key: 'openai', weight: 0 },
    ],
  },
  'prices without a word on what has none': minimal({ strategy: { mode: 'cost-optimized', unpriced_strategy: '' } }),
  'a rule on metadata': minimal({
    strategy: { mode: 'conditional', conditions: [{ key: 'metadata', field: 'team', value: 'x', target_key: 'echo' }] },
  }),
  'a pattern with leading flags': minimal({
    strategy: {
      mode: 'content-based',
      content_conditions: [{ type: 'prompt_regex', value: '(?i)x', target_key: 'echo' }],
    },
  }),
  'variants that share a target, one drained, without labels': minimal({
    strategy: {
      mode: 'ab-test',
      ab_variants: [
        { target_key: 'echo', weight: 1 },
        { target_key: 'echo', weight: 0 },
      ],
    },
  }),
  'no weights': { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'echo' }, { virtual_key: 'openai' }] },
  'an empty retry block': target({ retry: {} }),
  'zero in every count': target({
    retry: { attempts: 0, initial_backoff_ms: 0, on_status_codes: [] },
    circuit_breaker: { failure_threshold: 0, success_threshold: 0, max_half_threshold: 0, timeout: '0' },
    concurrency: { max_concurrency: 1, queue_size: 0 },
    retry_on_status: [],
  }),
  'a max_request_bytes of 0': minimal({ max_request_bytes: 0 }),
  'an empty circuit_breaker.timeout': target({ circuit_breaker: { timeout: '' } }),
  'no concurrency block': target({}),
  'the largest concurrency': target({ concurrency: { max_concurrency: 10_000, queue_size: 10_000 } }),
  'an empty list of models': target({ models: [] }),
  'model ids with /, . and :': target({ models: ['meta/llama-3.1-8b:free', 'a.b', 'c:d'] }),
  'one model on two targets': {
    targets: [
      { virtual_key: 'echo', models: ['m'] },
      { virtual_key: 'openai', models: ['m'] },
    ],
  },
  'two entries of one plugin at one stage with different settings': minimal({
    plugins: [
      { ...filter, config: { blocked_words: ['a'] } },
      { ...filter, config: { blocked_words: ['b'] } },
    ],
  }),
  'one plugin at two stages with one config, whatever the order of its keys': minimal({
    plugins: [
      { ...filter, config: { blocked_words: ['a'], observe: true } },
      { ...filter, stage: 'after_request', config: { observe: true, blocked_words: ['a'] } },
    ],
  }),
  'a disabled duplicate': minimal({ plugins: [filter, { ...filter, enabled: false }] }),
  'a disabled plugin that is not known': minimal({
    plugins: [{ name: 'nosuch', enabled: false, stage: 'never', config: { any: 1 } }],
  }),
  'a plugin entry without enabled, which is disabled': minimal({ plugins: [{ name: 'nosuch' }] }),
  'an empty text among blocked words, as a variable may leave it': minimal({
    plugins: [{ ...filter, config: { blocked_words: ['', 'a'] } }],
  }),
  'undefined variables': {
    targets: [{ virtual_key: 'echo', models: ['${NO_SUCH}'] }],
    aliases: { fast: '${NO_SUCH}' },
    plugins: [{ ...filter, config: { blocked_words: ['${NO_SUCH}'] } }],
    mcp_servers: [
      { name: 'a', url: '${NO_SUCH}', headers: { authorization: 'Bearer ${NO_SUCH}' } },
      { name: 'b', command: '${NO_SUCH}', args: ['${NO_SUCH}'], env: { TOKEN: '${NO_SUCH}' } },
    ],
    observability: {
      tracing: { endpoint: '${NO_SUCH}', headers: { key: '${NO_SUCH}' } },
      exporters: [{ name: 'x', enabled: true, config: { key: '${NO_SUCH}' } }],
    },
  },
  'a known provider without a credential': { targets: [{ virtual_key: 'openai' }] },
  'lists of a mode that is not active': minimal({
    strategy: {
      mode: 'single',
      conditions: [{ key: 'nonsense' }],
      content_conditions: [{}],
      ab_variants: [{ weight: -1 }],
      unpriced_strategy: 'nonsense',
    },
  }),
  'an apiVersion of another time': minimal({ apiVersion: 'v2' }),
  'an empty mode, which is single': minimal({ strategy: { mode: '' } }),
  'an empty request_timeout, which is none': minimal({ request_timeout: '' }),
  'empty values where a default stands': minimal({
    compatibility: { on_unsupported_param: '' },
    observability: { tracing: { privacy_level: '' } },
    batch_target: '',
    responses_target: '',
    responses: { translate: '' },
  }),
  'an empty responses of a target, which is that of the document': target({ responses: '' }),
  'an alias that shadows a model id': { targets: [{ virtual_key: 'echo', models: ['a'] }], aliases: { a: 'b' } },
  'retry statuses under both names, when they agree': target({
    retry: { on_status_codes: [429, 500] },
    retry_on_status: [429, 500],
  }),
  'facts of models': target({
    model_facts: [
      { models: ['*'], as: 'acme/unheard-of' },
      { models: ['a*b*c*d*', 'x/y'], set: { late_system: true, thoughts_back: null, thoughts_field: 'reasoning' } },
      { models: ['m'], as: 'openai/gpt-4o', set: {} },
    ],
  }),
  'a target for batches and responses': {
    targets: [{ virtual_key: 'openai' }],
    batch_target: 'openai',
    responses_target: 'openai',
  },
};

describe('a configuration is valid with', () => {
  for (const [what, config] of Object.entries(LEGAL)) {
    it(what, async () => {
      const { code, stderr } = await validateJson(config);
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
    });
  }

  it('any null in place of a key that could be left out', async () => {
    const config = minimal({
      apiVersion: null,
      strategy: null,
      max_request_bytes: null,
      request_timeout: null,
      plugins: null,
      aliases: null,
      mcp_servers: null,
      observability: null,
      compatibility: null,
      batch_target: null,
      responses_target: null,
      responses: null,
      files: null,
      modules: null,
    });
    const written = await validateJson(config, { args: ['--format', 'json'] });
    const bare = await validateJson(minimal(), { args: ['--format', 'json'] });
    expect(written.stderr).to.equal('');
    expect(written.stdout).to.equal(bare.stdout);
  });

  it('any null inside its blocks', async () => {
    const nulls = (...names: string[]): object => Object.fromEntries(names.map((name) => [name, null]));
    const config = {
      strategy: nulls(
        'mode',
        'settings',
        'failover_on',
        'failover_on_status_codes',
        'unpriced_strategy',
        'conditions',
        'content_conditions',
        'ab_variants',
      ),
      targets: [
        {
          virtual_key: 'echo',
          ...nulls('weight', 'models', 'model_map', 'model_facts', 'retry_on_status', 'request_timeout', 'concurrency'),
          retry: nulls('attempts', 'on_status_codes', 'initial_backoff_ms'),
          circuit_breaker: nulls('failure_threshold', 'success_threshold', 'max_half_threshold', 'timeout'),
        },
      ],
      plugins: [{ name: 'word-filter', stage: 'before_request', ...nulls('type', 'enabled', 'config') }],
      mcp_servers: [
        {
          name: 'a',
          url: 'http://a',
          ...nulls(
            'command',
            'headers',
            'args',
            'env',
            'allowed_tools',
            'max_call_depth',
            'timeout_seconds',
            'max_result_bytes',
            'required',
          ),
        },
      ],
      observability: {
        tracing: nulls(
          'enabled',
          'endpoint',
          'protocol',
          'service_name',
          'sample_ratio',
          'privacy_level',
          'shutdown_grace',
          'headers',
        ),
        exporters: null,
      },
      mcp: nulls('stream'),
      compatibility: nulls('on_unsupported_param'),
      responses: nulls('bind_owner'),
      files: nulls('bind_owner'),
    };
    const { code, stderr } = await validateJson(config);
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
  });

  it('null where a key is required counts as the key left out', async () => {
    const { code, stderr } = await validateJson({ targets: null });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Error: validation failed:\n {2}targets: CV01: /);
  });
});
