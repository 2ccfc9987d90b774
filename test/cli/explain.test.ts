import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, defineStrategy } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { parse } from 'yaml';
import type { Explanation } from '../../host/explain/explain.ts';
import { runGw, temporaryFolder } from '../kit/index.ts';
import { type CommandOptions, type CommandResult, runCommand } from './commands.ts';

const KEYS = { OPENAI_API_KEY: 'sk-test', GROQ_API_KEY: 'gsk-test' };
const chat = (more: object = {}): object => ({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more });
const targets = [
  { virtual_key: 'openai', models: ['m'] },
  { virtual_key: 'groq', models: ['m', 'other'] },
];

interface Asked extends CommandOptions {
  readonly args?: readonly string[];
}

/** Runs `gw explain` on a configuration and a request of its own. */
async function run(config: object, request: object, { args = [], ...options }: Asked = {}): Promise<CommandResult> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'gw.json'), JSON.stringify(config));
  await writeFile(join(cwd, 'request.json'), JSON.stringify(request));
  return runCommand(['explain', '--config', 'gw.json', '--request', 'request.json', ...args], {
    variables: KEYS,
    ...options,
    cwd,
  });
}

async function explained(config: object, request: object, { args = [], ...options }: Asked = {}): Promise<Explanation> {
  const { code, stdout, stderr, lines } = await run(config, request, {
    ...options,
    args: ['--format', 'json', ...args],
  });
  expect([code, stderr, lines], stderr).to.deep.equal([0, '', []]);
  return JSON.parse(stdout) as Explanation;
}

const orderOf = ({ order }: Explanation): string[] => order.map(({ target }) => target);
const reasonsOf = ({ dropped }: Explanation): Record<string, string> =>
  Object.fromEntries(dropped.map(({ target, reason }) => [target, reason]));

describe('gw explain', () => {
  it('tells model, rule, order and what was dropped', async () => {
    const conditions = [
      { key: 'model', value: 'other', target_key: 'openai' },
      { key: 'model_prefix', value: 'm', target_key: 'groq' },
    ];
    const explanation = await explained(
      { strategy: { mode: 'conditional', conditions }, targets, aliases: { short: 'm' } },
      chat({ model: 'short' }),
    );
    expect(explanation).to.deep.include({
      model: 'm',
      requested_model: 'short',
      surface: 'chat',
      streaming: false,
      strategy: 'conditional',
      on_failure: 'error',
      rule: 'conditions[1]',
      ab_label: null,
      refusal: null,
      plugins: [],
      notes: [],
    });
    expect(explanation.order).to.deep.equal([
      {
        target: 'groq',
        provider: 'groq',
        upstream_model: 'm',
        reason: 'conditions[1] matches',
        figures: {},
        circuit: null,
        attempt: { via: 'chat', via_reason: 'auto is chat at this provider' },
      },
    ]);
    expect(explanation.dropped).to.deep.equal([
      { target: 'openai', reason: 'the strategy tries one target only', figures: {} },
    ]);
  });

  it('shows what the rule that matched asks, beside its path', async () => {
    const by = async (
      strategy: object,
      more: object = {},
      options: Asked = {},
    ): Promise<[text: string | undefined, condition: unknown]> => {
      const config = { strategy, targets };
      const { stdout } = await run(config, chat(more), options);
      return [/^Rule: .*$/m.exec(stdout)?.[0], (await explained(config, chat(more), options)).condition];
    };
    const prefix = { key: 'model_prefix', value: 'm', target_key: 'groq' };
    expect(
      await by({ mode: 'conditional', conditions: [{ key: 'model', value: 'x', target_key: 'groq' }, prefix] }),
    ).to.deep.equal(['Rule: conditions[1] (key: "model_prefix", value: "m")', { key: 'model_prefix', value: 'm' }]);
    const metadata = { key: 'metadata', field: 'team', value: 'research', target_key: 'groq' };
    expect(
      await by({ mode: 'conditional', conditions: [metadata] }, {}, { args: ['--metadata', '{"team": "research"}'] }),
    ).to.deep.equal([
      'Rule: conditions[0] (key: "metadata", field: "team", value: "research")',
      { key: 'metadata', field: 'team', value: 'research' },
    ]);
    expect(
      await by({
        mode: 'content-based',
        content_conditions: [{ type: 'prompt_contains', value: 'HI', target_key: 'groq' }],
      }),
    ).to.deep.equal([
      'Rule: content_conditions[0] (type: "prompt_contains", value: "HI")',
      { type: 'prompt_contains', value: 'HI' },
    ]);
    expect(await by({ mode: 'fallback' })).to.deep.equal([undefined, null]);
    expect(
      await by({ mode: 'conditional', conditions: [{ key: 'model', value: 'x', target_key: 'groq' }] }),
    ).to.deep.equal([undefined, null]);
  });

  it('says which providers are not registered, and why nothing is left', async () => {
    const explanation = await explained(
      { strategy: { mode: 'fallback' }, targets: [...targets, { virtual_key: 'echo' }] },
      chat(),
      { variables: {} },
    );
    expect(explanation.order).to.deep.equal([]);
    expect(reasonsOf(explanation)).to.deep.equal({
      openai: 'provider not registered',
      groq: 'provider not registered',
      echo: 'does not serve the model',
    });
    expect(explanation.refusal).to.deep.equal({
      code: 'model_not_found',
      message: 'no configured provider serves the model "m"',
    });
  });

  it("says what the first target may cost, by which line, and whether the vendor's own word counts", async () => {
    const cwd = await temporaryFolder();
    const overlay = join(cwd, 'overlay.json');
    const pricing = {
      input_per_m_tokens: 0,
      output_per_m_tokens: 2,
      lines: [{ when: { service_tier: 'flex' }, times: 0.5 }],
    };
    const prices = {
      'openai/m': { pricing },
      'openrouter/m': { pricing },
      'openrouter/own': { pricing: { ...pricing, reported: 'ignore' } },
    };
    await writeFile(overlay, JSON.stringify(prices));
    const variables = { ...KEYS, OPENROUTER_API_KEY: 'k-0123456789', GW_MODEL_CATALOG_OVERLAY: overlay };
    for (const [target, model, more, price] of [
      ['openai', 'm', {}, { line: 'standard', expected_usd: 0.0002, reported: 'ignore' }],
      ['openai', 'm', { service_tier: 'flex' }, { line: 'flex', expected_usd: 0.0001, reported: 'ignore' }],
      ['openai', 'unheard-of', {}, { line: null, expected_usd: null, reported: 'ignore' }],
      ['openrouter', 'm', {}, { line: 'standard', expected_usd: 0.0002, reported: 'prefer' }],
      ['openrouter', 'own', {}, { line: 'standard', expected_usd: 0.0002, reported: 'ignore' }],
    ] as const) {
      const config = { targets: [{ virtual_key: target, models: [model] }] };
      const request = chat({ model, max_tokens: 100, ...more });
      expect((await explained(config, request, { variables })).price).to.deep.equal({ target, ...price });
      if (target === 'openrouter' && model === 'm')
        expect((await run(config, request, { variables })).stdout).to.include(
          'Price: up to $0.0002 by the line standard; what the vendor reports is booked',
        );
    }
  });

  it('knows the catalog: models, prices of the shipped one and of the operator', async () => {
    const cwd = await temporaryFolder();
    const overlay = join(cwd, 'overlay.json');
    await writeFile(
      overlay,
      JSON.stringify({ 'groq/gpt-4o': { mode: 'chat', pricing: { input_per_m_tokens: 0, output_per_m_tokens: 1 } } }),
    );
    const config = {
      strategy: { mode: 'cost-optimized' },
      targets: [{ virtual_key: 'openai' }, { virtual_key: 'groq' }],
    };
    const explanation = await explained(config, chat({ model: 'gpt-4o', max_tokens: 100 }), {
      variables: { ...KEYS, GW_MODEL_CATALOG_OVERLAY: overlay },
    });
    expect(orderOf(explanation)).to.deep.equal(['groq', 'openai']);
    expect(explanation.order[0]?.figures).to.deep.equal({
      cost_usd: 0.0001,
      input_usd_per_m: 0,
      output_usd_per_m: 1,
      prompt_tokens: 1,
      completion_tokens: 100,
    });
    expect(explanation.order[1]?.figures['input_usd_per_m']).to.be.above(0);
    const without = await explained(
      {
        ...config,
        strategy: { mode: 'cost-optimized', unpriced_strategy: 'skip' },
        targets: [{ virtual_key: 'groq', models: ['gpt-4o'] }],
      },
      chat({ model: 'gpt-4o' }),
    );
    expect(without.refusal?.message).to.equal('no priced provider supports model gpt-4o');
    expect(reasonsOf(without)).to.deep.equal({ groq: 'no price is known for this request' });
  });

  it('shows weights, shares and the draw', async () => {
    const weighed = [
      { virtual_key: 'openai', models: ['m'], weight: 3 },
      { virtual_key: 'groq', models: ['m'], weight: 1 },
      { virtual_key: 'echo', models: ['m'] },
    ];
    const explanation = await explained({ strategy: { mode: 'loadbalance' }, targets: weighed }, chat());
    expect(reasonsOf(explanation)).to.deep.equal({ echo: 'drained: its weight is 0' });
    const shares = Object.fromEntries(explanation.order.map(({ target, figures }) => [target, figures['share']]));
    expect(shares).to.deep.equal({ openai: 0.75, groq: 0.25 });
    expect(orderOf(explanation)[0]).to.equal((explanation.order[0]?.figures['draw'] ?? 1) < 0.75 ? 'openai' : 'groq');
  });

  it('names the variant of an A/B test and what is none', async () => {
    const explanation = await explained(
      { strategy: { mode: 'ab-test', ab_variants: [{ target_key: 'groq', weight: 1, label: 'fresh' }] }, targets },
      chat(),
    );
    expect([explanation.ab_label, orderOf(explanation), reasonsOf(explanation)]).to.deep.equal([
      'fresh',
      ['groq'],
      { openai: 'it is not a variant' },
    ]);
  });

  it('says that nothing has been measured, since nothing runs', async () => {
    const explanation = await explained({ strategy: { mode: 'least-latency' }, targets }, chat());
    expect(explanation.order.map(({ reason }) => reason)).to.deep.equal([
      'not measured yet, so it goes first',
      'not measured yet, so it goes first',
    ]);
  });

  it('reads metadata as the header has it', async () => {
    const conditions = [{ key: 'metadata', field: 'tier', value: '1.0', target_key: 'groq' }];
    const config = { strategy: { mode: 'conditional', conditions }, targets };
    expect(
      (await explained(config, chat(), { args: ['--metadata', '{"tier": 1.0, "where": "Zürich"}'] })).rule,
    ).to.equal('conditions[0]');
    expect((await explained(config, chat(), { args: ['--metadata', '{"tier": 1}'] })).rule).to.equal(null);
    const { code, stdout, stderr } = await run(config, chat(), { args: ['--metadata', '{"tier": null}'] });
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^Error: X-Gateway-Metadata entry "tier" /);
  });

  it('explains other surfaces, and streams', async () => {
    const config = {
      strategy: {
        mode: 'content-based',
        content_conditions: [{ type: 'prompt_contains', value: 'hi', target_key: 'groq' }],
      },
      targets,
    };
    expect((await explained(config, chat({ stream: true }))).streaming).to.equal(true);
    expect(
      (await explained(config, { model: 'm', prompt: 'say hi' }, { args: ['--surface', 'completions'] })).rule,
    ).to.equal('content_conditions[0]');
    const embeddings = await explained(config, { model: 'm', input: 'hi' }, { args: ['--surface', 'embeddings'] });
    expect([embeddings.rule, orderOf(embeddings), embeddings.order[0]?.reason]).to.deep.equal([
      null,
      ['openai'],
      'conditions do not apply to embeddings: the first target takes the request',
    ]);
    const rerank = await explained(
      { strategy: { mode: 'fallback' }, targets },
      { model: 'm' },
      { args: ['--surface', 'rerank'] },
    );
    expect(reasonsOf(rerank)).to.deep.equal({ openai: 'does not serve rerank', groq: 'does not serve rerank' });
  });

  describe('about plugins', () => {
    const entry = (name: string, stage = 'before_request', more: object = {}): object => ({
      name,
      stage,
      enabled: true,
      ...more,
    });
    const inert = (name: string, type: 'guardrail' | 'transform' | 'logging', more: object = {}) =>
      definePlugin<object>({
        name,
        type,
        summary: 'For this test',
        stages: ['before_request', 'after_request'],
        settings: Joi.object({}),
        create: () => {
          throw new Error('it must not be made');
        },
        ...more,
      });

    it('lists those that would run, and runs none', async () => {
      const modules = [inert('notes', 'logging'), inert('images-only', 'logging', { surfaces: ['images'] })];
      const plugins = [
        entry('notes'),
        entry('images-only'),
        entry('word-filter', 'after_request', { config: { blocked_words: ['${UNDEFINED}'] } }),
        entry('max-token', 'before_request', { enabled: false }),
      ];
      const explanation = await explained({ targets, plugins }, chat(), { modules });
      expect(explanation.plugins).to.deep.equal([
        { name: 'notes', stage: 'before_request' },
        { name: 'word-filter', stage: 'after_request' },
      ]);
    });

    it('says which one refuses the body because it cannot read it', async () => {
      const modules = [inert('chat-only', 'guardrail', { surfaces: ['chat'] })];
      const explanation = await explained(
        { targets, plugins: [entry('chat-only')] },
        { model: 'm', input: 'x' },
        { modules, args: ['--surface', 'embeddings'] },
      );
      expect(explanation.refusal?.code).to.equal('request_rejected');
    });

    it('says which one may change the model', async () => {
      const modules = [inert('renamer', 'transform'), inert('cache', 'transform', { keepsModel: true })];
      const explanation = await explained({ targets, plugins: [entry('renamer'), entry('cache')] }, chat(), {
        modules,
      });
      expect(explanation.notes).to.deep.equal(['renamer may change the model; this is the route without it']);
    });
  });

  it('takes the word of a third-party strategy', async () => {
    const odd = defineStrategy({
      name: 'odd',
      summary: 'For this test',
      advances: true,
      settings: Joi.object({}),
      create: () => (all, _query, notes) => {
        notes?.rule?.('settings');
        notes?.target?.('groq', 'because', { score: 7 });
        return all.filter(({ virtualKey }) => virtualKey === 'groq');
      },
    });
    const explanation = await explained({ strategy: { mode: 'odd' }, targets }, chat(), { modules: [odd] });
    expect([
      explanation.rule,
      explanation.order[0]?.reason,
      explanation.order[0]?.figures,
      reasonsOf(explanation),
    ]).to.deep.equal(['settings', 'because', { score: 7 }, { openai: 'left out by the strategy' }]);
  });

  it('prints a table for people, and YAML', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [...targets, { virtual_key: 'mistral', models: ['m'] }],
      aliases: { short: 'm' },
    };
    const table = await run(config, chat({ model: 'short' }));
    expect(table.stdout.split('\n')).to.deep.equal([
      'Model: m (asked for as short)',
      'Surface: chat',
      'Strategy: fallback (on failure: next target)',
      '',
      '    TARGET   UPSTREAM MODEL   WHY',
      '    ------   --------------   ---',
      '1   openai   m                in declared order',
      '2   groq     m                in declared order',
      '',
      'DROPPED   WHY',
      '-------   ---',
      'mistral   provider not registered',
      '',
    ]);
    expect(parse((await run(config, chat(), { args: ['--format', 'yaml'] })).stdout).order[0].target).to.equal(
      'openai',
    );
  });

  it('reports a configuration with problems as gw validate does', async () => {
    const { code, stdout, stderr } = await run({ strategy: { mode: 'loadbalance' }, targets }, chat());
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^Error: validation failed:\n {2}targets: CV15: /);
  });

  const mistakes: Readonly<Record<string, readonly [request: object, args: readonly string[], says: RegExp]>> = {
    'a request without a model': [{ messages: [] }, [], /^Error: the request needs a model\n$/],
    'a chat without messages': [{ model: 'm' }, [], /^Error: messages must be/],
    'messages that are none': [{ model: 'm', messages: [null] }, [], /^Error: messages must be/],
    'a request that is a list': [[], [], /^Error: the request must be a JSON object/],
    'a surface without a route': [
      chat(),
      ['--surface', 'passthrough'],
      /^Error: the surface "passthrough" .*chat, completions/,
    ],
    'metadata that is not JSON': [chat(), ['--metadata', 'team=a'], /^Error: X-Gateway-Metadata is not valid JSON\n$/],
    'a request file that is not there': [chat(), ['--request', 'absent.json'], /^Error: absent\.json cannot be read/],
    'a request file that is not JSON': [chat(), ['--request', import.meta.filename], /is not valid JSON/],
  };
  for (const [what, [request, args, says]] of Object.entries(mistakes)) {
    it(`refuses ${what}`, async () => {
      const { code, stdout, stderr } = await run({ targets }, request, { args });
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.match(says);
    });
  }

  it('refuses to go without a request, and without a configuration', async () => {
    const cwd = await temporaryFolder();
    expect((await runCommand(['explain'], { cwd })).stderr).to.match(
      /^Error: name the file with the request body: --request <file>\n$/,
    );
    await writeFile(join(cwd, 'request.json'), JSON.stringify(chat()));
    expect((await runCommand(['explain', '--request', 'request.json'], { cwd })).stderr).to.match(
      /^Error: there is no configuration here/,
    );
  });

  it('takes the configuration that a start would take, from a real process', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo, models: [m]}]\n');
    await writeFile(join(cwd, 'request.json'), JSON.stringify(chat()));
    const { code, stdout, stderr } = await runGw(['explain', '--request', 'request.json', '--format', 'json'], { cwd });
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(orderOf(JSON.parse(stdout) as Explanation)).to.deep.equal(['echo']);
  });
});
