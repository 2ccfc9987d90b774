import { expect } from 'chai';
import type { ProviderModule } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import {
  chatReply,
  eventually,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { chat, keyOf, rules, statusOf, vendor } from './support.ts';

const KEYS = { KEY_A: 'sk-of-team-a-0123456789', OWN_KEY: 'sk-of-the-other-0123456' };

/** A kind that may be asked for any model, on every surface of the common wire, and what it was sent. */
const takesAll = (upstream: StubUpstream, more: Partial<ProviderModule> = {}): ProviderModule =>
  upstream.provider('takes-all', {
    anyModel: true,
    passthrough: true,
    responses: true,
    translators: commonTranslators(['chat', 'embeddings', 'images', 'rerank', 'moderations', 'audio.speech'], {}),
    ...more,
  });

const FORM = 'form-of-this-test';

/** A form with a file. */
const form = (model: string, file: string): string =>
  [
    `--${FORM}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}`,
    `--${FORM}\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nhi`,
    `--${FORM}\r\nContent-Disposition: form-data; name="${file}"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nbytes`,
    `--${FORM}--\r\n`,
  ].join('\r\n');

/** Requests of clients that name a model, one for each way in. */
const asking = (model: string): readonly (readonly [path: string, body: object | string])[] => [
  ['/v1/chat/completions', chat(model)],
  ['/v1/chat/completions', chat(model, { stream: true })],
  ['/v1/completions', { model, prompt: 'hi' }],
  ['/v1/embeddings', { model, input: 'hi' }],
  ['/v1/images/generations', { model, prompt: 'hi' }],
  ['/v1/rerank', { model, query: 'hi', documents: ['a'] }],
  ['/v1/moderations', { model, input: 'hi' }],
  ['/v1/audio/speech', { model, input: 'hi', voice: 'alloy' }],
  ['/v1/audio/transcriptions', form(model, 'file')],
  ['/v1/audio/translations', form(model, 'file')],
  ['/v1/images/edits', form(model, 'image')],
  ['/v1/messages', { model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }],
  ['/v1/messages/count_tokens', { model, messages: [{ role: 'user', content: 'hi' }] }],
  [`/v1beta/models/${model}:generateContent`, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
  ['/v1/responses', { model, input: 'hi' }],
  ['/v1/responses', { model, input: 'hi', stream: true }],
  ['/v1/anything/else', { model }],
];

describe('an instance that is not registered', () => {
  const withheld = async (block: object, target: object = {}): Promise<{ t: TestHost; upstream: StubUpstream }> => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: { 'team-a': block },
        targets: [
          { virtual_key: 'team-a', ...target },
          { virtual_key: 'takes-all', model_map: { known: 'known' } },
        ],
      },
      { variables: { STUB_API_KEY: 'stub-key-0123456789' }, modules: [takesAll(upstream)] },
    );
    return { t, upstream };
  };

  const blocks = {
    'a variable is not set': [{ kind: 'openai', api_key: '${NOT_SET_KEY}', models: ['mine'] }, {}],
    'a target declares it': [{ kind: 'openai', api_key: '${NOT_SET_KEY}', models: [] }, { models: ['mine'] }],
    'a target maps it': [{ kind: 'openai', api_key: '${NOT_SET_KEY}', models: [] }, { model_map: { mine: 'x' } }],
    'half of a credential is set': [
      {
        kind: 'bedrock',
        settings: { region: 'eu-central-1' },
        access_key_id: '${NOT_SET_KEY}',
        secret_access_key: '${STUB_API_KEY}',
        models: ['mine'],
      },
      {},
    ],
    'its opening fails': [
      { kind: 'vertex-ai', settings: { project_id: 'p' }, service_account_json: '${STUB_API_KEY}', models: ['mine'] },
      {},
    ],
    'a header is not set': [
      { kind: 'openai', api_key: '${STUB_API_KEY}', headers: { 'x-team-key': '${NOT_SET_KEY}' }, models: ['mine'] },
      {},
    ],
  } as const;

  for (const [why, [block, target]] of Object.entries(blocks)) {
    it(`has none of its prompts sent elsewhere, on any surface: ${why}`, async () => {
      const { t, upstream } = await withheld(block, target);
      for (const [path, body] of asking('mine')) {
        const type: Record<string, string> =
          typeof body === 'string' ? { 'content-type': `multipart/form-data; boundary=${FORM}` } : {};
        const { status, text } = await t.post(path, body, type);
        expect(status, `${path}: ${text}`).to.equal(404);
      }
      expect(upstream.seen, 'what was sent to the other').to.deep.equal([]);
    });
  }

  it('leaves every other name to those that may be asked for any', async () => {
    const { t, upstream } = await withheld({ kind: 'openai', api_key: '${NOT_SET_KEY}', models: ['mine'] });
    for (const model of ['known', 'never-heard-of']) expect(await statusOf(t, model), model).to.equal(200);
    expect((await t.post('/v1/anything/else', { model: 'never-heard-of' })).status).to.equal(200);
    expect(upstream.seen).to.have.lengthOf(3);
  });

  it('keeps the ids of its catalog from others, where it has no list of its own', async () => {
    const { t, upstream } = await withheld({ kind: 'openai', api_key: '${NOT_SET_KEY}' });
    expect(await statusOf(t, 'gpt-4o')).to.equal(404);
    expect(upstream.seen).to.deep.equal([]);
  });

  it('leaves its models to another that owns them', async () => {
    const other = await vendor();
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: {
          'team-a': { kind: 'openai', api_key: '${NOT_SET_KEY}', models: ['mine'] },
          'team-b': { kind: 'openai', base_url: other.url, api_key: '${KEY_A}', models: ['mine'] },
        },
        targets: [{ virtual_key: 'team-a' }, { virtual_key: 'team-b' }],
      },
      { variables: KEYS },
    );
    expect(await keyOf(t, 'mine')).to.equal(`Bearer ${KEYS.KEY_A}`);
  });

  it('is found in no list, and said to be absent where operators look', async () => {
    const { t } = await withheld({ kind: 'openai', api_key: '${NOT_SET_KEY}', models: ['mine'] });
    expect(rules(t, 'WN17')).to.have.lengthOf(1);
    expect(rules(t, 'WN17')[0]).to.include({
      level: 'WARN',
      msg: 'credential not resolved',
      provider: 'team-a',
      credential: 'default',
      reference: '${NOT_SET_KEY}',
      reason: 'not set',
    });
    expect(rules(t, 'WN02')).to.deep.equal([]);
    expect((await t.get('/health')).json().providers.map(({ name }: { name: string }) => name)).to.not.include(
      'team-a',
    );
    expect((await t.get('/admin/health')).json().providers).to.deep.include({
      name: 'team-a',
      status: 'unavailable',
      models: 0,
      message:
        'not registered: the credential "default" of the provider "team-a" is not resolved: ${NOT_SET_KEY}: not set',
    });
    expect((await t.get('/readyz')).json().targets[0]).to.include({ name: 'team-a', routable: false });
    expect(t.host.current?.warnings.map(({ rule, path }) => ({ rule, path }))).to.deep.equal([
      { rule: 'WN17', path: 'providers.team-a.api_key' },
    ]);
  });
});

describe('a provider of the environment whose key instances use', () => {
  const start = async (
    targets: readonly object[],
    more: Record<string, string> = {},
  ): Promise<{ t: TestHost; asked: () => number }> => {
    const [here, there, witness] = await Promise.all([vendor(), vendor(), vendor()]);
    const discovery: ProviderModule['discovery'] = {
      path: '/models',
      read: (body) => (body as { data: { id: string }[] }).data,
    };
    const kind = there.provider('acme', {
      connection: { env: ['ACME_KEY'], optionalEnv: ['ACME_TOKEN'], baseUrl: there.url },
      discovery,
    });
    const t = await startHost(
      {
        providers: { mine: { kind: 'acme', base_url: here.url, api_key: '${ACME_KEY}', models: ['m'] } },
        targets: [{ virtual_key: 'mine' }, ...targets],
      },
      {
        variables: { ACME_KEY: KEYS.OWN_KEY, GW_MODEL_DISCOVERY_INTERVAL: '1m', ...more },
        modules: [kind, witness.provider('witness', { discovery })],
      },
    );
    await eventually(() => witness.seen.length === 1 && there.seen.length <= 1);
    return { t, asked: () => there.seen.length };
  };

  it('is not asked for its models, and a line says so', async () => {
    const { t, asked } = await start([]);
    expect(asked()).to.equal(0);
    expect(rules(t, 'WN27')).to.have.lengthOf(1);
    expect(rules(t, 'WN27')[0]).to.include({ level: 'WARN', provider: 'acme', variables: 'ACME_KEY' });
    expect(t.host.current?.warnings.map(({ rule }) => rule)).to.deep.equal(['WN27']);
  });

  it('is asked where a target names it', async () => {
    const { t, asked } = await start([{ virtual_key: 'acme' }]);
    expect(asked()).to.equal(1);
    expect(rules(t, 'WN27')).to.deep.equal([]);
  });

  it('is asked where another secret of it is its own', async () => {
    const { t, asked } = await start([], { ACME_TOKEN: 'token-of-its-own-01234' });
    expect(asked()).to.equal(1);
    expect(rules(t, 'WN27')).to.deep.equal([]);
  });
});
