import { expect } from 'chai';
import { chatReply, replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { chat } from './support.ts';

/** Members, series and attributes that only configurations with `providers`, `models` or affinity have. */
const NEW_FIGURES = /^gateway_(?:credential_|secret_|affinity_|group_|cache_)/;
const NEW_ATTRIBUTES = ['credential', 'group', 'affinity', 'instance', 'kind'];
const NEW_RULES = ['WN13', 'WN17', 'WN18', 'WN19', 'WN20', 'WN21', 'WN22', 'WN23', 'WN24', 'WN25', 'WN26', 'WN27'];

async function start(): Promise<TestHost> {
  const upstream = await stubUpstream((request, response) => {
    const isBroken = request.method === 'POST' && request.json()['model'] === 'broken';
    replyJson(response, isBroken ? 500 : 200, isBroken ? { error: { message: 'down' } } : chatReply('hi'));
  });
  return startHost(
    {
      strategy: { mode: 'fallback' },
      targets: [
        upstream.target('a', { models: ['m', 'broken'], retry: { attempts: 2 } }),
        { virtual_key: 'openai', models: ['x'] },
      ],
    },
    {
      variables: {
        PROMETHEUS_ENABLED: 'true',
        OPENAI_API_KEY: 'sk-of-the-environment-01',
        OPENAI_BASE_URL: upstream.url,
      },
    },
  );
}

describe('a configuration without the blocks of fleets', () => {
  it('has the members, headers, series and lines that it always had', async () => {
    const t = await start();
    const served = await t.post('/v1/chat/completions', chat('m'));
    expect([...served.headers.keys()].filter((name) => name.startsWith('x-gateway-'))).to.have.members([
      'x-gateway-provider',
      'x-gateway-target',
      'x-gateway-model',
      'x-gateway-attempts',
      'x-gateway-overhead-ms',
      'x-gateway-upstream-model',
    ]);
    await t.post('/v1/chat/completions', chat('broken'));
    await t.post('/v1/chat/completions', chat('nowhere'));
    const health = (await t.get('/health')).json();
    for (const entry of health.providers)
      expect(Object.keys(entry)).to.deep.equal(['name', 'status', 'circuit', 'models']);
    const ready = (await t.get('/readyz')).json();
    for (const entry of ready.targets) expect(Object.keys(entry)).to.deep.equal(['name', 'routable', 'circuit']);
    for (const entry of (await t.get('/admin/providers')).json())
      expect(Object.keys(entry)).to.deep.equal(['name', 'models']);
    for (const entry of (await t.get('/admin/providers/catalog')).json().providers)
      expect(Object.keys(entry)).to.deep.equal(['id', 'registered', 'catalog_models']);
    for (const entry of (await t.get('/admin/health')).json().targets)
      expect(Object.keys(entry)).to.deep.equal(['name', 'registered', 'circuit', 'in_flight', 'waiting']);
    const explained = (await t.post('/admin/explain', { request: chat('m') })).json();
    expect(explained).to.not.have.any.keys('group', 'affinity', 'bound');
    for (const entry of explained.order) expect(entry).to.not.have.any.keys('route', 'kind', 'via', 'credentials');
    expect(t.samples.map(({ name }) => name).filter((name) => NEW_FIGURES.test(name))).to.deep.equal([]);
    const series = (await t.get('/metrics')).text.split('\n').filter((line) => !line.startsWith('#'));
    expect(series.filter((line) => NEW_FIGURES.test(line))).to.deep.equal([]);
    for (const line of t.lines) {
      expect(
        NEW_ATTRIBUTES.filter((name) => name in line),
        JSON.stringify(line),
      ).to.deep.equal([]);
      expect(NEW_RULES, JSON.stringify(line)).to.not.include(line['rule'] ?? '');
    }
  });

  it('opens, keeps and asks nothing of instances', async () => {
    const t = await start();
    const { current, carryover } = t.host;
    expect(current?.instances.size).to.equal(0);
    expect(current?.warnings).to.deep.equal([]);
    expect(current?.environment).to.equal(t.host.providers);
    expect(current?.hooks.credentials.call()).to.equal(undefined);
    const before = carryover.size;
    await t.apply({ strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'openai', models: ['x'] }] });
    expect(carryover.size).to.be.at.most(before);
  });
});
