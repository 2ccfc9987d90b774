import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { startHost, stubUpstream, temporaryFolder, replyJson, type TestHost } from '../kit/index.ts';
import { logged } from './catalogs.ts';

const CONFIG = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };

async function hostWith(name: string, text: string | undefined, more: Record<string, string> = {}): Promise<TestHost> {
  const path = join(await temporaryFolder(), name);
  if (text !== undefined) await writeFile(path, text);
  return startHost(CONFIG, { variables: { GW_MODEL_CATALOG_OVERLAY: ` ${path} `, ...more } });
}

const errors = ({ lines }: TestHost): Record<string, any>[] => lines.filter(({ level }) => level === 'ERROR');

describe('the catalog overlay', () => {
  it('lists lines that it holds in vain, and warns of two with one condition', async () => {
    const lines = [
      { when: { service_tier: 'flex' }, times: 0.5 },
      { when: { service_tier: 'flex' }, times: 0.4 },
      { when: { weather: 'fine' }, times: 0.1 },
    ];
    const gateway = await hostWith(
      'overlay.json',
      JSON.stringify({ 'echo/m': { pricing: { input_per_m_tokens: 1, lines } } }),
    );
    expect(await logged(gateway, 'the model catalog overlay has values that are not used')).to.include({
      values: 'echo/m: pricing.lines[2].when.weather',
    });
    const message = 'the model catalog has lines with the condition of an earlier one; the later ones count';
    expect(await logged(gateway, message)).to.include({ level: 'WARN', count: 1, values: 'echo/m: pricing.lines[1]' });
    expect(gateway.host.services.catalog.tokenPrice('echo', 'm', { input: 1, tier: 'flex' })?.input).to.equal(0.4);
  });

  it('changes what it writes of a shipped entry and keeps the rest', async () => {
    const { host } = await hostWith('overlay.json', '{"openai/gpt-6-luna": {"pricing": {"input_per_m_tokens": 0.05}}}');
    const { catalog } = host.services;
    expect(catalog.tokenPrice('openai', 'gpt-6-luna')).to.include({ input: 0.05 });
    expect(catalog.tokenPrice('openai', 'gpt-6-luna')?.output).to.be.greaterThan(0);
    expect(catalog.entry('openai', 'gpt-6-luna')?.context_window).to.be.greaterThan(0);
  });

  it('adds models, in YAML too, and they can be routed to', async () => {
    const { host } = await hostWith(
      'overlay.yaml',
      'echo/house-model:\n  mode: chat\n  context_window: 4096\n  pricing: { input_per_m_tokens: 0 }\n',
    );
    expect(host.services.catalog.entry('echo', 'house-model')).to.include({
      context_window: 4096,
      display_name: 'house-model',
    });
    expect(host.current?.models.isKnown('house-model')).to.equal(true);
  });

  it('is what the list of models tells of them, without what is empty, zero or false', async () => {
    const rich = {
      mode: 'chat',
      context_window: 4096,
      max_output_tokens: 512,
      lifecycle: { status: 'legacy' },
      capabilities: { vision: true, streaming: false, function_calling: true },
    };
    const gateway = await hostWith(
      'overlay.json',
      JSON.stringify({ 'echo/rich': rich, 'echo/poor': { mode: 'chat' } }),
    );
    const entry = async (id: string): Promise<object> => (await gateway.get(`/v1/models/${id}`)).json();
    const [{ capabilities, ...facts }, poor] = [
      (await entry('rich')) as { capabilities: string[] },
      await entry('poor'),
    ];
    expect(facts).to.deep.equal({
      id: 'rich',
      object: 'model',
      owned_by: 'echo',
      created: 0,
      mode: 'chat',
      context_window: 4096,
      max_output_tokens: 512,
      status: 'legacy',
      deprecated: true,
    });
    expect(capabilities.toSorted()).to.deep.equal(['function_calling', 'vision']);
    expect(poor).to.deep.equal({
      id: 'poor',
      object: 'model',
      owned_by: 'echo',
      created: 0,
      mode: 'chat',
      status: 'ga',
    });
  });

  it('makes another version of the catalog', async () => {
    const [plain, laid] = [await startHost(CONFIG), await hostWith('overlay.json', '{"echo/x": {}}')].map(
      ({ host }) => host.services.catalog.version,
    );
    expect(plain).to.not.equal(laid);
  });

  it('wins over a remote catalog as well', async () => {
    const remote = await stubUpstream((_request, response) =>
      replyJson(response, 200, { 'echo/m': { pricing: { input_per_m_tokens: 1, output_per_m_tokens: 2 } } }),
    );
    const gateway = await hostWith('overlay.json', '{"echo/m": {"pricing": {"input_per_m_tokens": 9}}}', {
      GW_MODEL_CATALOG_URL: remote.url,
    });
    await logged(gateway, 'model catalog loaded', 2);
    expect(gateway.host.services.catalog.tokenPrice('echo', 'm')).to.include({ input: 9, output: 2 });
  });

  for (const [what, name, text, reason] of [
    ['is not there', 'missing.json', undefined, /ENOENT/],
    ['is not JSON', 'broken.json', '{"a":', /JSON/],
    ['is not YAML', 'broken.yml', 'a: [', /./],
    ['is not an object of entries', 'list.yaml', '- a\n', /not an object/],
  ] as const) {
    it(`is an error that names the path and the reason when it ${what}, and the gateway starts with the shipped catalog`, async () => {
      const gateway = await hostWith(name, text);
      expect(errors(gateway)).to.have.lengthOf(1);
      expect(errors(gateway)[0]).to.include({ msg: 'the model catalog overlay is not used' });
      expect(errors(gateway)[0]?.['path']).to.match(new RegExp(`${name}$`));
      expect(JSON.stringify(errors(gateway)[0]?.['error'])).to.match(reason);
      expect(gateway.host.services.catalog.modelsOf('openai')).to.not.be.empty;
    });
  }

  it('tells what it holds in vain, and uses the rest', async () => {
    const gateway = await hostWith(
      'overlay.json',
      '{"no-slash": {}, "openai/gpt-6-luna": {"pricing": {"input_per_m_token": 1, "output_per_m_tokens": 7}}}',
    );
    expect(errors(gateway)).to.have.lengthOf(1);
    expect(errors(gateway)[0]).to.include({ count: 2 });
    expect(errors(gateway)[0]?.['values'])
      .to.contain('no-slash')
      .and.to.contain('openai/gpt-6-luna: pricing.input_per_m_token');
    expect(gateway.host.services.catalog.tokenPrice('openai', 'gpt-6-luna')).to.include({ output: 7 });
  });
});
