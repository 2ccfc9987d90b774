import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { fakeClock, MASTER_KEY, runGw, temporaryFolder } from '../kit/index.ts';
import { BAD_KEY, chat, providerOf, RATE, startPool, variablesOf, vendorOf } from './vendor.ts';

const explained = async (t: Awaited<ReturnType<typeof startPool>>, model = 'm'): Promise<any> =>
  (await t.post('/admin/explain', { request: chat(model) })).json();

describe('what operators see of credentials', () => {
  it('agrees while all are benched: readiness, health, explanation and figures', async () => {
    const clock = fakeClock();
    const vendor = await vendorOf(() => BAD_KEY);
    const t = await startPool(vendor, ['a', 'b'], { clock });
    expect((await t.get('/readyz')).status).to.equal(200);
    await t.post('/v1/chat/completions', chat());
    clock.advance(1001); // readiness is kept for a second
    const ready = await t.get('/readyz');
    expect([ready.status, ready.json().reason]).to.deep.equal([503, 'no routable targets']);
    expect(ready.json().targets).to.deep.equal([{ name: 'acme', routable: false, circuit: 'closed' }]);
    const health = (await t.get('/admin/health')).json();
    expect(health.status).to.equal('degraded');
    expect(health.providers).to.deep.include({
      name: 'acme',
      status: 'unavailable',
      models: health.providers[0].models,
      message: 'no usable credential',
    });
    expect(health.targets[0]).to.deep.include({
      routable: false,
      credentials: { ready: 0, resting: 0, benched: 2, unresolved: 0 },
    });
    expect((await t.get('/health')).json().providers[0].status).to.equal('available');
    const { order } = await explained(t);
    expect(order[0].credentials.map(({ state, class: why, first }: any) => [state, why, first])).to.deep.equal([
      ['benched', 'invalid_key', false],
      ['benched', 'invalid_key', false],
    ]);
    const text = (await t.get('/metrics')).text;
    expect(text).to.include('gateway_credential_state{provider="acme",credential="a"} 2');
    expect(text).to.include('gateway_credential_in_flight{provider="acme",credential="a"} 0');
    expect(text).to.include('gateway_credential_calls_total{provider="acme",credential="b",result="invalid_key"} 1');
  });

  it('counts those that rest as routable, and they are called', async () => {
    const clock = fakeClock();
    const vendor = await vendorOf(() => RATE);
    const t = await startPool(vendor, ['a', 'b'], { clock });
    await t.post('/v1/chat/completions', chat());
    clock.advance(1001);
    expect((await t.get('/readyz')).status).to.equal(200);
    const { order } = await explained(t);
    expect(order[0].credentials.map(({ state, first }: any) => [state, first])).to.deep.equal([
      ['resting', true],
      ['resting', false],
    ]);
    expect((await t.get('/metrics')).text).to.include('gateway_credential_state{provider="acme",credential="a"} 1');
    vendor.keys.length = 0;
    await t.post('/v1/chat/completions', chat());
    expect(vendor.keys).to.have.lengthOf(1);
    await t.post('/v1/chat/completions', chat('n'));
    expect(vendor.keys.length, 'another model does not rest').to.be.greaterThan(1);
  });

  it('explains credentials in the order of their weights, drained and unresolved ones last, and takes no try', async () => {
    const clock = fakeClock();
    const vendor = await vendorOf(() => BAD_KEY);
    const t = await startPool(vendor, ['a', 'b', 'c', 'd', 'e'], {
      clock,
      variables: { KEY_E: '' },
      credentials: { b: { weight: 3 }, c: { weight: 0 }, d: { models: ['n'] } },
    });
    const { order } = await explained(t);
    expect(order[0].credentials.map(({ name, state, first }: any) => [name, state, first])).to.deep.equal([
      ['b', 'ready', true],
      ['a', 'ready', false],
      ['e', 'unresolved', false],
      ['c', 'drained', false],
    ]);
    await t.post('/v1/chat/completions', chat());
    clock.advance(601_000);
    for (let at = 0; at < 3; at += 1) await explained(t);
    vendor.answers = () => undefined;
    expect((await t.post('/v1/chat/completions', chat())).status).to.equal(200);
    expect(t.lines.find(({ msg }) => msg === 'credential recovered')).to.include({ provider: 'acme' });
  });

  it('drops a target without a usable credential while another serves, and says so', async () => {
    const [bad, good] = [await vendorOf(() => BAD_KEY), await vendorOf()];
    const t = await startPool(bad, ['a', 'b'], {
      config: {
        providers: {
          acme: { kind: 'openai', base_url: `${bad.url}/v1`, api_key: '${KEY_A}' },
          other: { kind: 'openai', base_url: `${good.url}/v1`, api_key: '${KEY_B}' },
        },
        targets: [
          { virtual_key: 'acme', models: ['m'] },
          { virtual_key: 'other', models: ['m'] },
        ],
      },
    });
    await t.post('/v1/chat/completions', chat());
    const { order, dropped } = await explained(t);
    expect(order.map(({ target }: any) => target)).to.deep.equal(['other']);
    expect(dropped).to.deep.include({
      target: 'acme',
      reason: 'it has no usable credential',
      figures: dropped[0].figures,
    });
  });

  it('does not serve a model that no credential may be used for', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b'], { credentials: { a: { models: ['n*'] }, b: { weight: 0 } } });
    expect((await t.post('/v1/chat/completions', chat('m'))).status).to.equal(404);
    expect((await t.post('/v1/chat/completions', chat('n'))).status).to.equal(200);
    const listed = (await t.get('/v1/models')).json().data.map(({ id }: any) => id);
    expect(listed).to.include('n').and.not.include('m');
    const { dropped } = await explained(t);
    expect(dropped[0].reason).to.equal('no credential of it may be used for the model');
  });

  it('may reset a credential, which needs the scope admin and leaves a row', async () => {
    const vendor = await vendorOf(() => BAD_KEY);
    const t = await startPool(vendor, ['a']);
    await t.post('/v1/chat/completions', chat());
    expect((await t.post('/v1/chat/completions', chat())).status).to.equal(503);
    const path = '/admin/providers/acme/credentials/a/reset';
    const { key } = (await t.post('/admin/keys', { name: 'reader', scopes: ['read_only'] })).json();
    expect((await t.request('POST', path, undefined, { authorization: `Bearer ${key}` })).status).to.equal(403);
    expect((await t.request('POST', path)).status).to.equal(204);
    for (const other of ['acme/credentials/b', 'openai/credentials/a', 'unknown/credentials/a'])
      expect((await t.request('POST', `/admin/providers/${other}/reset`)).status, other).to.equal(404);
    vendor.answers = () => undefined;
    expect((await t.post('/v1/chat/completions', chat())).status).to.equal(200);
    const rows = (await t.get('/admin/audit?action=credential.reset')).json().data;
    expect(rows.map(({ outcome, target_id: id }: any) => [outcome, id])).to.deep.include(['ok', 'acme/a']);
  });

  it('are noted by the command line where another first entry changes where a vendor keeps things', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b'], { variables: { GW_CONFIG_ENV: 'KEY_C' } });
    const diff = async (names: readonly string[]): Promise<string> => {
      const file = join(await temporaryFolder(), 'config.json');
      const providers = { acme: providerOf(vendor, names) };
      const targets = [{ virtual_key: 'acme', models: ['m', 'n'] }];
      await writeFile(file, JSON.stringify({ strategy: { mode: 'fallback' }, providers, targets }));
      const { stdout } = await runGw(['admin', 'config', 'diff', '--file', file], {
        variables: { GW_URL: t.url, GW_API_KEY: MASTER_KEY, ...variablesOf(['a', 'b', 'c']) },
      });
      return stdout;
    };
    expect(await diff(['b', 'a'])).to.include(
      'note: files, batches and stored responses of providers.acme are looked for',
    );
    expect(await diff(['a', 'c']))
      .to.include('providers.acme.credentials[1]')
      .and.not.include('note:');
  });

  it('is reset by the command line', async () => {
    const vendor = await vendorOf(() => BAD_KEY);
    const t = await startPool(vendor, ['a']);
    await t.post('/v1/chat/completions', chat());
    const { code, stdout } = await runGw(['admin', 'providers', 'reset', 'acme', 'a'], {
      variables: { GW_URL: t.url, GW_API_KEY: MASTER_KEY },
    });
    expect([code, stdout]).to.deep.equal([0, '[OK] Credential reset.\n']);
    vendor.answers = () => undefined;
    expect((await t.post('/v1/chat/completions', chat())).status).to.equal(200);
  });

  it('forgets the series of a credential with the last configuration that has it', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b'], { random: () => 0 });
    await t.post('/v1/chat/completions', chat());
    expect((await t.get('/metrics')).text).to.include('gateway_credential_calls_total{provider="acme",credential="a"');
    await t.apply({
      strategy: { mode: 'fallback' },
      providers: {
        acme: { kind: 'openai', base_url: `${vendor.url}/v1`, credentials: [{ name: 'b', api_key: '${KEY_B}' }] },
      },
      targets: [{ virtual_key: 'acme', models: ['m'] }],
    });
    expect((await t.get('/metrics')).text).not.to.include('credential="a"');
  });
});
