import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { kindKeys } from '../../host/common/kinds/kind-keys.ts';
import type { ProviderModule } from 'gw/contract';
import { defineBuiltin } from '../../host/builtin.ts';
import { failsOpen } from '../../host/pipeline/guards/plugin-policy.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { chatReply, fakeClock, MASTER_KEY, replyJson, startHost, stubUpstream } from '../kit/index.ts';
import { isHeld } from '../providers/places.ts';
import { as, ECHO, forBackends, NOBODY, refusal, startAdmin } from './kit.ts';

const ROUTES = [
  '/admin/dashboard',
  '/admin/health',
  '/admin/plugins',
  '/admin/plugins/catalog',
  '/admin/plugins/coverage',
  '/admin/providers',
  '/admin/providers/catalog',
];
const BUILT_IN = [
  'ai21',
  'anthropic',
  'azure-foundry',
  'azure-openai',
  'bedrock',
  'cerebras',
  'cloudflare',
  'cohere',
  'databricks',
  'deepinfra',
  'deepseek',
  'fireworks',
  'gemini',
  'groq',
  'hugging-face',
  'mistral',
  'moonshot',
  'novita',
  'nvidia-nim',
  'ollama',
  'ollama-cloud',
  'openai',
  'openrouter',
  'perplexity',
  'qwen',
  'replicate',
  'sambanova',
  'together',
  'vertex-ai',
  'xai',
];

describe('what the gateway is made of, under /admin', () => {
  it('is shown to either scope, and not without a credential', async () => {
    const t = await startAdmin();
    const { key } = await t.makeKey();
    for (const path of ROUTES) {
      expect((await t.get(path, NOBODY)).status, path).to.equal(401);
      for (const credential of [key, MASTER_KEY])
        expect(
          [
            (await t.get(path, as(credential))).status,
            (await t.request('HEAD', path, undefined, as(credential))).status,
          ],
          path,
        ).to.deep.equal([200, 200]);
      expect((await t.get(path)).headers.get('cache-control'), path).to.equal('no-store');
      expect(refusal(await t.post(path, {})), path).to.deep.equal([405, 'method_not_supported']);
    }
  });

  describe('GET /admin/plugins', () => {
    it('lists the entries of the running configuration as they are written, disabled ones too', async () => {
      const t = await startAdmin({}, ECHO);
      expect((await t.get('/admin/plugins')).json()).to.deep.equal([]);
      await t.apply({
        ...ECHO,
        plugins: [
          {
            name: 'word-filter',
            type: 'anything',
            stage: 'before_request',
            enabled: true,
            config: { blocked_words: ['x'] },
          },
          {
            name: 'word-filter',
            type: 'anything',
            stage: 'after_request',
            enabled: true,
            config: { blocked_words: ['x'] },
          },
          { name: 'max-token', stage: 'before_request' },
        ],
      });
      expect((await t.get('/admin/plugins')).text).to.equal(
        JSON.stringify([
          { name: 'word-filter', type: 'anything', enabled: true },
          { name: 'word-filter', type: 'anything', enabled: true },
          { name: 'max-token', type: '', enabled: false },
        ]),
      );
    });

    it('catalog tells type, settings and what a fault does, of every plugin there is', async () => {
      const t = await startAdmin();
      const { data } = (await t.get('/admin/plugins/catalog')).json();
      const plugins = MODULES.filter((module) => module.kind === 'plugin');
      expect(data.map(({ name, type, summary, fails_open }: any) => [name, type, summary, fails_open])).to.deep.equal(
        plugins.map((module) => [module.name, module.type, module.summary, failsOpen(module)]),
      );
      const filter = data.find(({ name }: { name: string }) => name === 'word-filter');
      expect(Object.keys(filter)).to.deep.equal(['name', 'type', 'summary', 'settings', 'fails_open']);
      expect(filter).to.deep.include({ type: 'guardrail', fails_open: false });
      expect(filter.settings).to.include.members(['blocked_words', 'case_sensitive']);
    });
  });

  describe('GET /admin/plugins/coverage', () => {
    const FILTER = { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['x'] } };

    it('tells of each surface and stage which plugins read it, as gw validate prints it', async () => {
      const t = await startAdmin({}, ECHO);
      expect((await t.get('/admin/plugins/coverage')).json().warnings).to.deep.equal([]);
      await t.apply({ ...ECHO, plugins: [FILTER, { ...FILTER, enabled: false, stage: 'after_request' }] });
      const { data, warnings } = (await t.get('/admin/plugins/coverage')).json();
      const at = (surface: string, stage: string): any =>
        data.find((row: any) => row.surface === surface && row.stage === stage);
      expect(JSON.stringify(at('chat', 'before_request'))).to.equal(
        '{"surface":"chat","stage":"before_request","plugins":["word-filter"],"refused":false,"recorded":false}',
      );
      expect(at('chat', 'after_request')).to.deep.include({ plugins: [], refused: false, recorded: false });
      expect(at('audio.transcriptions', 'before_request')).to.deep.include({ refused: true });
      expect(at('passthrough', 'after_request')).to.deep.include({ recorded: true });
      expect(warnings).to.include('chat after_request: no content guardrail reads this body');
      expect(new Set(data.map(({ surface, stage }: any) => `${surface} ${stage}`)).size).to.equal(data.length);
    });
  });

  describe('GET /admin/providers', () => {
    it('lists the registered ones in their order, with the models that each lists', async () => {
      const t = await startAdmin(
        { variables: { AWS_REGION: 'eu-west-1', OPENAI_API_KEY: 'x', MISTRAL_API_KEY: 'x' } },
        {
          targets: [
            { virtual_key: 'mistral', models: ['mine'], model_map: { theirs: 'x' } },
            { virtual_key: 'groq' },
            { virtual_key: 'echo' },
          ],
        },
      );
      const listed = (await t.get('/admin/providers')).json() as { name: string; models: { id: string }[] }[];
      expect(listed.map(({ name }) => name)).to.deep.equal(['mistral', 'openai', 'bedrock', 'echo']);
      const [mistral, openai] = listed;
      expect(mistral!.models.map(({ id }) => id)).to.include.members(['mine', 'theirs']);
      const models = (await t.get('/v1/models')).json().data as { id: string; owned_by: string }[];
      expect(mistral!.models.map(({ id }) => id)).to.deep.equal(
        models.filter(({ owned_by }) => owned_by === 'mistral').map(({ id }) => id),
      );
      expect(openai!.models.length).to.be.greaterThan(10);
      for (const model of openai!.models)
        expect(model).to.deep.equal({ id: model.id, object: 'model', created: 0, owned_by: 'openai' });
      expect(new Set(openai!.models.map(({ id }) => id)).size).to.equal(openai!.models.length);
    });

    it('is empty without any', async () => {
      const t = await startAdmin({}, { targets: [{ virtual_key: 'openai' }] });
      expect((await t.get('/admin/providers')).text).to.equal('[]');
    });

    it('catalog names every built-in one, with how many of its models are not on their way out', async () => {
      const t = await startAdmin({ variables: { OPENAI_API_KEY: 'x' } });
      const { providers } = (await t.get('/admin/providers/catalog')).json();
      const ids = providers.map(({ id }: { id: string }) => id);
      expect(ids).to.include.members(BUILT_IN.filter((name) => isHeld(name)));
      const shipped = MODULES.filter((module) => module.kind === 'provider') as readonly ProviderModule[];
      const [declared, fromEnvironment] = [true, false].map((isDeclared) =>
        shipped
          .filter(({ offline, connection }) => !offline && (connection.onlyDeclared ?? false) === isDeclared)
          .map(({ name }) => name)
          .toSorted(),
      );
      expect(ids, 'kinds that only the configuration registers stand behind the others').to.deep.equal([
        ...(fromEnvironment ?? []),
        ...(declared ?? []),
      ]);
      expect(
        providers.filter(({ registered }: { registered: boolean }) => registered).map(({ id }: { id: string }) => id),
      ).to.deep.equal(['openai']);
      const { catalog } = t.host.services;
      for (const { id, catalog_models } of providers) {
        const alive = catalog
          .modelsOf(id)
          .filter((model) => !/^(deprecated|legacy)$/.test(catalog.entry(id, model)!.lifecycle.status));
        expect(catalog_models, id).to.equal(alive.length);
      }
      expect(providers.find(({ id }: { id: string }) => id === 'openai').catalog_models).to.be.within(
        1,
        catalog.modelsOf('openai').length - 1,
      );
    });
  });

  describe('GET /admin/providers/catalog, for forms', () => {
    const entries = async (t: Awaited<ReturnType<typeof startAdmin>>, query = ''): Promise<any[]> =>
      (await t.get(`/admin/providers/catalog${query}`)).json().providers;

    it('says what an instance of each kind needs where it is asked for, and nothing of it otherwise', async () => {
      const t = await startAdmin();
      for (const entry of await entries(t))
        expect(Object.keys(entry)).to.deep.equal(['id', 'registered', 'catalog_models']);
      const asked = await entries(t, '?include=settings');
      for (const { id, settings, instances } of asked) {
        const keys = kindKeys(
          MODULES.find((module) => module.kind === 'provider' && module.name === id) as ProviderModule,
        );
        expect(instances, id).to.deep.equal([]);
        expect(
          settings.map(({ key }: any) => key),
          id,
        ).to.deep.equal(['base_url', ...keys.settings.keys(), ...keys.secrets.keys()]);
        expect(settings.filter(({ secret }: any) => secret).length, id).to.equal(keys.secrets.size);
      }
      const needed = (id: string): string[] =>
        asked
          .find((entry) => entry.id === id)
          .settings.filter(({ required }: any) => required)
          .map(({ key }: any) => key);
      expect(needed('openai')).to.deep.equal(['api_key']);
      expect(needed('azure-openai')).to.deep.equal(['base_url', 'api_key']);
      expect(needed('openai-compatible')).to.deep.equal(['base_url']);
      expect(needed('bedrock')).to.deep.equal(['region']);
      expect((await t.get('/admin/providers/catalog?include=prices')).status).to.equal(400);
    });

    it('says it, with the instances of each kind, where the configuration declares one', async () => {
      const instance = { kind: 'openai', api_key: '${KEY_A}' };
      const t = await startAdmin(
        { variables: { KEY_A: 'secret-value-a' } },
        {
          providers: { 'team-a': instance, 'team-b': { ...instance, api_key: '${KEY_B}' } },
          targets: [{ virtual_key: 'team-a' }],
        },
      );
      const openai = (await entries(t)).find(({ id }) => id === 'openai');
      expect(openai).to.deep.include({ registered: true, instances: ['team-a', 'team-b'] });
      expect(JSON.stringify(openai)).not.to.include('secret-value');
    });
  });

  describe('GET /admin/health', () => {
    const health = async (t: Awaited<ReturnType<typeof startAdmin>>, credential = MASTER_KEY): Promise<any> => {
      const answer = await t.get('/admin/health', as(credential));
      expect(answer.status).to.equal(200);
      return answer.json();
    };

    it('tells of providers, components and the caller', async () => {
      const t = await startAdmin({ variables: { OPENAI_API_KEY: 'x' } }, { targets: [{ virtual_key: 'openai' }] });
      const told = await health(t);
      expect(Object.keys(told)).to.deep.equal([
        'status',
        'providers',
        'components',
        'mcp_servers',
        'scopes',
        'targets',
      ]);
      expect(told.targets).to.deep.equal([
        { name: 'openai', registered: true, circuit: 'closed', in_flight: 0, waiting: 0 },
      ]);
      expect(told).to.deep.include({ status: 'healthy', mcp_servers: [], scopes: ['admin'] });
      expect(told.providers).to.deep.equal([{ name: 'openai', status: 'available', models: told.providers[0].models }]);
      expect(told.providers[0].models).to.be.greaterThan(10);
      expect(told.components.map(Object.values)).to.deep.equal([
        ['API', 'healthy'],
        ['Key store', 'healthy'],
        ['Config store', 'healthy'],
        ['Request logs', 'disabled'],
        ['Audit log', 'healthy'],
      ]);
    });

    it('shows a session the scopes that its key has by now', async () => {
      const t = await startAdmin();
      const key = await t.makeKey();
      const { token } = await t.signIn(key.key);
      expect((await health(t, token)).scopes).to.deep.equal(['read_only']);
      await t.request('PUT', `/admin/keys/${key.id}`, { scopes: ['admin', 'read_only'] });
      expect((await health(t, token)).scopes).to.deep.equal(['admin', 'read_only']);
    });

    it('is degraded when a target has no provider, and without any it says so', async () => {
      const t = await startAdmin({}, { targets: [{ virtual_key: 'echo' }, { virtual_key: 'openai' }] });
      expect(await health(t)).to.include({ status: 'degraded' });
      expect((await health(t)).providers[1]).to.deep.equal({
        name: 'openai',
        status: 'unavailable',
        models: 0,
        message: 'not registered: OPENAI_API_KEY is not set',
      });
      await t.apply({ targets: [{ virtual_key: 'openai' }] });
      expect(await health(t)).to.include({ status: 'no_providers' });
    });

    it('counts the calls of each target, with and without a bound, and shows its circuit', async () => {
      const held: (() => void)[] = [];
      const stub = await stubUpstream((_request, response) => {
        held.push(() => replyJson(response, 500, chatReply('no')));
      });
      const bounded = {
        ...stub.target('a', { models: ['a'] }),
        concurrency: { max_concurrency: 1 },
        circuit_breaker: { failure_threshold: 1 },
      };
      const t = await startHost({
        strategy: { mode: 'fallback' },
        targets: [bounded, stub.target('b', { models: ['b'] }), { virtual_key: 'openai' }],
      });
      const calls = ['a', 'a', 'a', 'b', 'b'].map((model) =>
        t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }),
      );
      const targets = async (): Promise<any[]> => (await t.get('/admin/health')).json().targets;
      for (let isIdle = true; isIdle;)
        isIdle = (await targets()).reduce((sum, { in_flight: now, waiting }) => sum + now + waiting, 0) < calls.length;
      expect(await targets()).to.deep.equal([
        { name: 'a', registered: true, circuit: 'closed', in_flight: 1, waiting: 2 },
        { name: 'b', registered: true, circuit: 'closed', in_flight: 2, waiting: 0 },
        { name: 'openai', registered: false, circuit: 'closed', in_flight: 0, waiting: 0 },
      ]);
      const over = new Set<number>();
      calls.forEach((call, at) => void call.then(() => over.add(at)));
      for (let ended = 0; ended < calls.length; ended = over.size) {
        held.shift()?.();
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      expect((await targets()).map(({ circuit, in_flight: now, waiting }) => [circuit, now, waiting])).to.deep.equal([
        ['open', 0, 0],
        ['closed', 0, 0],
        ['closed', 0, 0],
      ]);
    });

    it('does not go by circuits', async () => {
      const stub = await stubUpstream((_request, response) => replyJson(response, 500, chatReply('no')));
      const target = {
        ...stub.target('a'),
        circuit_breaker: { failure_threshold: 1, success_threshold: 1, timeout: '1m' },
      };
      const t = await startHost({ targets: [target] });
      await t.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }] });
      expect((await t.get('/health')).json().providers[0].circuit).to.equal('open');
      expect((await t.get('/admin/health')).json()).to.include({ status: 'healthy' });
    });
  });

  describe('POST /admin/explain', () => {
    const CONFIG = {
      strategy: { mode: 'fallback' },
      aliases: { fast: 'gpt-4o-mini' },
      targets: [{ virtual_key: 'openai', models: ['gpt-4o-mini'] }, { virtual_key: 'groq' }],
    };

    it('answers as gw explain prints, for either scope', async () => {
      const t = await startAdmin({ variables: { OPENAI_API_KEY: 'x' } }, CONFIG);
      const { key } = await t.makeKey();
      const answer = await t.post(
        '/admin/explain',
        { request: { model: 'fast', messages: [{ role: 'user', content: 'hi' }], stream: true } },
        as(key),
      );
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.json()).to.deep.include({
        model: 'gpt-4o-mini',
        requested_model: 'fast',
        surface: 'chat',
        streaming: true,
        strategy: 'fallback',
        rule: null,
        refusal: null,
      });
      expect(answer.json().order.map(({ target }: { target: string }) => target)).to.deep.equal(['openai']);
      expect(
        answer.json().dropped.map(({ target, reason }: { target: string; reason: string }) => [target, reason]),
      ).to.deep.equal([['groq', 'provider not registered']]);
      expect(t.samples.filter(({ name }) => name.startsWith('gateway_requests'))).to.deep.equal([]);
    });

    it('goes by the metadata that it is given', async () => {
      const conditions = [{ key: 'metadata', field: 'tier', value: 'gold', target_key: 'openai' }];
      const t = await startAdmin(
        { variables: { OPENAI_API_KEY: 'x' } },
        {
          strategy: { mode: 'conditional', conditions },
          targets: [{ virtual_key: 'echo' }, { virtual_key: 'openai', models: ['echo'] }],
        },
      );
      const first = async (metadata?: object): Promise<string> => {
        const answer = await t.post('/admin/explain', {
          surface: 'chat',
          request: { model: 'echo', messages: [{ role: 'user', content: 'hi' }] },
          ...(metadata && { metadata }),
        });
        return answer.json().order[0].target as string;
      };
      expect([await first({ tier: 'gold' }), await first({ tier: 'lead' }), await first()]).to.deep.equal([
        'openai',
        'echo',
        'echo',
      ]);
    });

    it('refuses what cannot be explained', async () => {
      const t = await startAdmin();
      const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
      for (const body of [
        '',
        '{',
        '[]',
        '{}',
        { request: 5 },
        { request: {} },
        { request, surface: 'files' },
        { request, surface: 5 },
        { request, metadata: 'x' },
        { request, metadata: { a: {} } },
        { request: { model: 'm' } },
        { request, surface: '__proto__' },
      ]) {
        expect(refusal(await t.post('/admin/explain', body)), JSON.stringify(body)).to.deep.equal([
          400,
          'invalid_request',
        ]);
      }
      expect((await t.post('/admin/explain', { request })).json().refusal).to.include({ code: 'model_not_found' });
    });
  });
});

describe('the request log, which this version does not keep', () => {
  it('is 501 for every credential with the scope, before any parameter is looked at', async () => {
    const t = await startAdmin();
    const { key } = await t.makeKey();
    for (const [method, path] of [
      ['GET', '/admin/logs?limit=0'],
      ['DELETE', '/admin/logs?before=x'],
      ['GET', '/admin/logs/stats?buckets=-1'],
      ['GET', '/admin/explain/x'],
    ] as const) {
      expect((await t.request(method, path, undefined, NOBODY)).status, path).to.equal(401);
      const answer = await t.request(method, path);
      expect(refusal(answer), path).to.deep.equal([501, 'not_implemented']);
      expect(answer.json().error.type).to.equal('invalid_request_error');
      expect((await t.request(method, path, undefined, as(key))).status, path).to.equal(
        method === 'DELETE' ? 403 : 501,
      );
    }
    expect(await t.trail()).to.have.length(1);
  });
});

describe('GET /admin/dashboard', () => {
  it('reads no key to count them all', async () => {
    class Unlisted extends MemoryKeys {
      override page(): ReturnType<MemoryKeys['page']> {
        return Promise.reject(new Error('a million keys'));
      }
    }
    const builtin = defineBuiltin({
      name: 'unlisted',
      apply: ({ hooks }) =>
        hooks.open.tapPromise('unlisted', async ({ stores }) => stores.keys.supply('sqlite', new Unlisted())),
    });
    const t = await startAdmin({ builtins: [builtin] });
    const { key } = await t.makeKey();
    await t.get('/v1/models', as(key));
    expect((await t.get('/admin/dashboard')).json().keys).to.deep.equal({
      total: 1,
      active: 1,
      expired: 0,
      total_usage: 1,
    });
  });
});

forBackends('GET /admin/dashboard', (start) => {
  it('counts providers and keys', async () => {
    const clock = fakeClock();
    const t = await start(
      { clock, variables: { OPENAI_API_KEY: 'x' } },
      { targets: [{ virtual_key: 'openai' }, { virtual_key: 'groq' }] },
    );
    const empty = (await t.get('/admin/dashboard')).json();
    expect(Object.entries(empty)).to.deep.equal([
      ['providers', { total: 2, available: 1 }],
      ['keys', { total: 0, active: 0, expired: 0, total_usage: 0 }],
      ['request_logs', { enabled: false, total: 0 }],
    ]);
    const used = await t.makeKey();
    const revoked = await t.makeKey({ expires_at: new Date(clock.now() + 1000).toISOString() });
    await t.makeKey({ expires_at: new Date(clock.now() + 1000).toISOString() });
    await t.makeKey({ expires_at: '2099-01-01T00:00:00Z' });
    for (const { key } of [used, used, revoked]) await t.get('/v1/models', as(key));
    await t.post(`/admin/keys/${revoked.id}/revoke`, undefined);
    clock.advance(1001);
    expect((await t.get('/admin/dashboard')).json().keys).to.deep.equal({
      total: 4,
      active: 3,
      expired: 2,
      total_usage: 3,
    });
  });
});
