import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { startHost, temporaryFolder, type TestHost } from '../kit/index.ts';
import { chat, keyOf, listed, vendor } from './support.ts';

const KEYS = { KEY_A: 'sk-of-team-a-0123456789' };

const OVERLAY = {
  'team-a/gpt-4o': { pricing: { input_per_m_tokens: 1000, output_per_m_tokens: 2000 } },
  'openai/gpt-4.1': { pricing: { input_per_m_tokens: 500 } },
  'team-a/house': { mode: 'chat', context_window: 4096, pricing: { input_per_m_tokens: 3, output_per_m_tokens: 4 } },
  'anthropic/of-another': { pricing: { input_per_m_tokens: 7 } },
};

async function hostWith(block: object, more: object = {}): Promise<TestHost> {
  const upstream = await vendor();
  const path = join(await temporaryFolder(), 'overlay.json');
  await writeFile(path, JSON.stringify(OVERLAY));
  return startHost(
    {
      strategy: { mode: 'fallback' },
      providers: { 'team-a': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}', ...block } },
      targets: [{ virtual_key: 'team-a' }],
      ...more,
    },
    { variables: { ...KEYS, GW_MODEL_CATALOG_OVERLAY: path } },
  );
}

const priceOf = ({ host }: TestHost, model: string): { input?: number | undefined; output?: number | undefined } => {
  const target = host.current?.targets.get('team-a');
  const { input, output } = host.services.catalog.tokenPrice(target?.catalogProvider ?? '', model) ?? {};
  return { input, output };
};

describe('the catalog of an instance', () => {
  it('is that of its kind, over which the entries of its own name are laid, field by field', async () => {
    const t = await hostWith({});
    const plain = (model: string): ReturnType<typeof priceOf> => {
      const { input, output } = t.host.services.catalog.tokenPrice('openai', model) ?? {};
      return { input, output };
    };
    expect(priceOf(t, 'gpt-4o')).to.deep.equal({ input: 1000, output: 2000 });
    expect(plain('gpt-4o').input).to.be.within(1, 10);
    expect(priceOf(t, 'gpt-4.1'), 'an entry of the file for the kind').to.deep.equal(plain('gpt-4.1'));
    expect(priceOf(t, 'gpt-4.1').input).to.equal(500);
    expect(priceOf(t, 'gpt-4o-mini')).to.deep.equal(plain('gpt-4o-mini'));
    const { catalog } = t.host.services;
    const name = t.host.current?.targets.get('team-a')?.catalogProvider ?? '';
    expect(catalog.entry(name, 'gpt-4o')?.context_window).to.equal(catalog.entry('openai', 'gpt-4o')?.context_window);
    expect(catalog.entry(name, 'house')).to.include({ provider: 'team-a', model_id: 'house', context_window: 4096 });
    expect(await listed(t)).to.include.members(['house', 'gpt-4o', 'gpt-4o-mini']);
    expect((await t.get('/v1/models/house')).json()).to.include({
      owned_by: 'team-a',
      context_window: 4096,
      mode: 'chat',
    });
  });

  it('prices requests, and says so in figures and answers of the log', async () => {
    const t = await hostWith({}, {});
    await keyOf(t, 'gpt-4o');
    const cost = t.samples.find(({ name }) => name === 'gateway_request_cost_usd_total');
    const { prompt_tokens, completion_tokens } = (await t.post('/v1/chat/completions', chat('gpt-4o'))).json().usage;
    expect(cost?.labels).to.deep.equal({ provider: 'team-a', model: 'gpt-4o' });
    expect(cost?.value).to.be.closeTo((prompt_tokens * 1000 + completion_tokens * 2000) / 1e6, 1e-9);
  });

  it('can be another provider of the catalog', async () => {
    const t = await hostWith({ catalog: 'anthropic' });
    const { catalog } = t.host.services;
    const [model = ''] = catalog.modelsOf('anthropic');
    expect(priceOf(t, 'of-another').input).to.equal(7);
    expect(await listed(t)).to.include(model);
    expect(await listed(t)).to.not.include('gpt-4o-mini');
    expect(priceOf(t, 'gpt-4o').input, 'its own entry').to.equal(1000);
  });

  it('is with `none` its own entries alone', async () => {
    const t = await hostWith({ catalog: 'none' });
    expect(await listed(t)).to.deep.equal(['gpt-4o', 'house']);
    expect(priceOf(t, 'gpt-4.1')).to.deep.equal({ input: undefined, output: undefined });
    const entry = t.host.services.catalog.entry('team-a>', 'gpt-4o');
    expect(entry).to.include({ context_window: 0, mode: 'chat' });
    await keyOf(t, 'house');
    const cost = t.samples.find(({ name }) => name === 'gateway_request_cost_usd_total');
    expect(cost?.labels).to.deep.equal({ provider: 'team-a', model: 'house' });
  });

  it('leaves what has no price to `unpriced_strategy`, and costs nothing there', async () => {
    const strategy = (unpriced_strategy: string): object => ({
      mode: 'cost-optimized',
      unpriced_strategy,
    });
    for (const [word, wanted] of [
      ['skip', ['priced']],
      ['fallback', ['priced', 'team-a']],
      ['allow', ['priced', 'team-a']],
    ] as const) {
      const upstream = await vendor();
      const t = await startHost(
        {
          strategy: strategy(word),
          providers: {
            'team-a': {
              kind: 'openai',
              base_url: upstream.url,
              api_key: '${KEY_A}',
              catalog: 'none',
              models: ['gpt-4o'],
            },
            priced: { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}' },
          },
          targets: [{ virtual_key: 'team-a' }, { virtual_key: 'priced' }],
        },
        { variables: KEYS },
      );
      const explained = (await t.post('/admin/explain', { request: chat('gpt-4o') })).json();
      expect(
        explained.order?.map(({ target }: { target: string }) => target),
        word,
      ).to.deep.equal(wanted);
    }
  });
});
