import { expect } from 'chai';
import { startHost } from '../kit/index.ts';
import { chat, vendor } from './support.ts';

const KEYS = {
  KEY_A: 'sk-of-team-a-0123456789',
  KEY_B: 'sk-of-team-b-0123456789',
  OPENAI_API_KEY: 'sk-of-the-environment-01',
};

describe('GET /admin/providers', () => {
  it('shows entries of `providers` behind those of the environment, registered or not, without a value of a secret', async () => {
    const upstream = await vendor();
    const t = await startHost(
      {
        providers: {
          'team-z': { kind: 'openai', api_key: '${NOT_SET_KEY}', models: ['x'] },
          'team-a': {
            kind: 'openai',
            base_url: upstream.url,
            credentials: [
              { name: 'one', api_key: '${KEY_A}', weight: 3, vendor_account: 'acme' },
              { name: 'two', api_key: '${KEY_B}', max_concurrency: 5 },
            ],
            models: ['m'],
            data: { region: 'eu', retention_days: 0, trains: false },
          },
        },
        targets: [{ virtual_key: 'team-a' }, { virtual_key: 'team-z' }],
      },
      { variables: KEYS },
    );
    await t.post('/v1/chat/completions', chat('m'));
    const answer = await t.get('/admin/providers');
    const [openai, unregistered, registered] = answer.json();
    expect(Object.keys(openai)).to.deep.equal(['name', 'models']);
    expect(unregistered).to.deep.include({
      name: 'team-z',
      models: [],
      kind: 'openai',
      source: 'configuration',
      base_url: null,
      data: null,
    });
    expect(unregistered.credentials).to.have.lengthOf(1);
    expect(unregistered.credentials[0]).to.deep.include({
      name: 'default',
      state: 'unresolved',
      last_refreshed_at: null,
    });
    const { credentials, models, ...facts } = registered;
    expect(facts).to.deep.equal({
      name: 'team-a',
      kind: 'openai',
      source: 'configuration',
      base_url: upstream.url,
      data: { region: 'eu', retention_days: 0, trains: false },
    });
    expect(models.map(({ id, owned_by }: { id: string; owned_by: string }) => [id, owned_by])).to.deep.equal([
      ['m', 'team-a'],
    ]);
    const [one, two] = credentials;
    expect(one.last_refreshed_at).to.match(/^\d{4}-\d\d-\d\dT/);
    expect({ ...one, last_refreshed_at: null }).to.deep.equal({
      name: 'one',
      vendor_account: 'acme',
      state: 'ready',
      class: null,
      until: null,
      models_resting: 0,
      in_flight: 0,
      weight: 3,
      max_concurrency: null,
      last_refreshed_at: null,
    });
    expect(two).to.include({ name: 'two', vendor_account: 'team-a/two', weight: 1, max_concurrency: 5 });
    for (const key of Object.values(KEYS)) expect(answer.text).to.not.contain(key);
  });

  it('writes the same in parts where lists are long', async () => {
    const models = Array.from({ length: 1200 }, (_, at) => `m-${at}`);
    const t = await startHost({
      providers: { gpu: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9', models } },
      targets: [{ virtual_key: 'gpu' }, { virtual_key: 'echo' }],
    });
    const shown = (await t.get('/admin/providers')).json();
    expect(shown.map(({ name }: { name: string }) => name)).to.deep.equal(['echo', 'gpu']);
    expect(Object.keys(shown[0])).to.deep.equal(['name', 'models']);
    expect(shown[1].models).to.have.lengthOf(1200);
    expect(shown[1].credentials[0]).to.include({ name: 'default', state: 'ready' });
  });
});
