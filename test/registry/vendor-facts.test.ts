import { expect } from 'chai';
import { wellKnown } from '../../builtins/cli/banner.ts';
import { importDocument } from '../../builtins/cli/import/formats.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { conventionalName } from '../../builtins/telemetry/tracing/provider-name.ts';
import { bearer, type ChatTraits, defineProvider, type ProviderModule } from '../../host/contract/index.ts';
import { MODULE_RULES } from '../../host/registry/check-module.ts';
import { commonTranslators } from '../../providers/_common/index.ts';
import { chatReply, startHost, stubUpstream } from '../kit/index.ts';

const TRAITS: ChatTraits = {
  wire: 'common',
  history: { marks: ['tools', 'parts', 'messages', 'calls'], late_system: true },
  mediaInResults: true,
  longToolNames: true,
  fields: ['service_tier', 'verbosity', 'prompt_cache_key'],
};
/** A provider of others that states every fact there is. */
const acme = defineProvider({
  name: 'acme',
  wire: 'common',
  connection: {
    env: ['ACME_API_KEY'],
    optionalEnv: ['ACME_DEPLOYMENT', 'ACME_SECRET'],
    baseUrl: 'https://api.acme.example/v1',
    authorize: bearer('ACME_API_KEY'),
    chatModelEnv: 'ACME_DEPLOYMENT',
    keyShapes: [{ shape: 'ak_[a-z0-9]{16,}', shownAs: 'ACME_KEY' }],
  },
  params: {},
  chatTraits: TRAITS,
  names: { catalog: ['groq'], telemetry: 'acme.inference' },
  elsewhere: {
    litellm: {
      names: ['acme_ai'],
      models: ['acme-'],
      settings: [
        { variable: 'ACME_BASE_URL', from: ['acme_resource'], as: 'https://{}.acme.example/v1' },
        { variable: 'ACME_SECRET', from: ['acme_secret'], isSecret: true },
      ],
    },
  },
  bannerPlace: 6,
  translators: commonTranslators(['chat'], {}),
});
const { chatTraits: _traits, ...plain } = acme;
const ofMessage: ProviderModule = { ...plain, chatTraitsFor: (model) => (model === 'old' ? {} : TRAITS) };

const KEY = 'ak_0123456789abcdefgh';
const LONG = 'n'.repeat(80);
const BODY = {
  max_tokens: 9,
  system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: 'b' },
    { role: 'system', content: 'c' },
  ],
  tools: [{ name: LONG, input_schema: { type: 'object' } }],
  service_tier: 'standard_only',
};

/** What its service gets of a request in the Messages wire. */
async function sentTo(module: ProviderModule, model: string): Promise<string> {
  let sent = '';
  const upstream = await stubUpstream((request, response) => {
    sent = request.text;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(chatReply('hi')));
  });
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [{ virtual_key: 'acme', models: [model] }] },
    { modules: [module], variables: { ACME_API_KEY: 'x', ACME_BASE_URL: upstream.url } },
  );
  expect((await host.post('/v1/messages', { ...BODY, model })).status).to.equal(200);
  return sent;
}

describe('facts of a provider that is not shipped', () => {
  it('keep the rules about modules', () => {
    const problems: string[] = [];
    for (const value of [acme, ofMessage])
      for (const rule of MODULE_RULES)
        rule.check({
          value: { ...value },
          kind: 'provider',
          expectedName: 'acme',
          origin: 'providers/acme/index.ts',
          report: (id, message) => problems.push(`${id} ${message}`),
        });
    expect(problems).to.deep.equal([]);
  });

  it('decide what clients of another wire can say to it, for all models or one', async () => {
    for (const [module, model] of [
      [acme, 'm'],
      [ofMessage, 'm'],
    ] as const) {
      const sent = await sentTo(module, model);
      expect(sent).to.include('"cache_control"').and.to.include(LONG).and.to.include('"service_tier":"default"');
      expect((JSON.parse(sent) as { messages: { role: string }[] }).messages.map(({ role }) => role)).to.deep.equal([
        'system',
        'user',
        'system',
      ]);
    }
    const old = await sentTo(ofMessage, 'old');
    expect(old).to.not.include('"cache_control"').and.to.not.include(LONG).and.to.not.include('service_tier');
    expect((JSON.parse(old) as { messages: { role: string }[] }).messages.map(({ role }) => role)).to.deep.equal([
      'system',
      'user',
      'user',
    ]);
  });

  it('find its models in the catalog, under the prefixes that it names', async () => {
    const host = await startHost(
      { strategy: { mode: 'single' }, targets: [{ virtual_key: 'acme' }] },
      { modules: [acme], variables: { ACME_API_KEY: 'x' } },
    );
    const { data } = (await host.get('/v1/models')).json() as { data: { id: string; owned_by: string }[] };
    const { catalog } = host.host.services;
    expect(data.map(({ id }) => id))
      .to.have.members(catalog.modelsOf('groq'))
      .and.to.not.deep.equal([]);
    expect(new Set(data.map(({ owned_by: owner }) => owner))).to.have.keys('acme');
    const [model = ''] = catalog.modelsOf('groq');
    expect(catalog.tokenPrice('acme', model)).to.deep.equal(catalog.tokenPrice('groq', model));
  });

  it('name it for telemetry', () => {
    expect([conventionalName(acme), conventionalName({ ...acme, names: {} })]).to.deep.equal([
      'acme.inference',
      'acme',
    ]);
  });

  it('hide its keys in logs, without a credential of its own', async () => {
    const { host, texts } = await startHost(
      { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] },
      { modules: [acme] },
    );
    host.log.info(`a key: ${KEY}`);
    expect(texts.at(-1)).to.include('a key: [REDACTED_ACME_KEY]');
    expect(host.redactor.redactName(KEY)).to.equal('[REDACTED_ACME_KEY]');
  });

  it('hide its keys once it is registered, after a start has begun', async () => {
    const { host } = await startHost({ strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] });
    expect(host.redactor.redact(`${KEY} `)).to.equal(`${KEY} `);
    host.hooks.registered.call({ module: acme, origin: 'providers/acme/index.ts' });
    expect(host.redactor.redact(`${KEY} `)).to.equal('[REDACTED_ACME_KEY] ');
  });

  it('show it at a start behind the shipped ones', () => {
    const shipped = MODULES.filter((module) => module.kind === 'provider');
    expect(wellKnown([acme, ...shipped])).to.deep.equal(['openai', 'anthropic', 'gemini', 'groq', 'mistral', 'acme']);
  });

  it('read it in configurations of other gateways: names, models, settings, and the one model of its chats', () => {
    const deployment = (name: string, model: string, more: object = {}): object => ({
      model_name: name,
      litellm_params: { model, ...more },
    });
    const read = (...models: readonly object[]): ReturnType<typeof importDocument> =>
      importDocument(
        'litellm',
        { model_list: models },
        { providers: new Map([['acme', acme]]), lookUp: () => undefined },
      );
    const one = deployment('one', 'acme_ai/acme-1', { acme_resource: 'mine', acme_secret: 'hush' });
    const two = deployment('two', 'acme_ai/acme-1', { acme_resource: 'mine', acme_secret: 'hush' });
    const { document, variables } = read(one, two);
    expect(document['targets']).to.deep.equal([{ virtual_key: 'acme', model_map: { one: 'acme-1', two: 'acme-1' } }]);
    expect(Object.fromEntries(variables.map(({ name, value }) => [name, value]))).to.include({
      ACME_BASE_URL: 'https://mine.acme.example/v1',
      ACME_SECRET: '${ACME_SECRET}',
      ACME_DEPLOYMENT: 'acme-1',
    });
    const three = deployment('three', 'acme-2', { acme_resource: 'mine', acme_secret: 'hush' });
    const { document: several } = read(one, three);
    expect(several['providers']).to.deep.equal({
      acme: {
        kind: 'acme',
        base_url: 'https://mine.acme.example/v1',
        api_key: '${ACME_API_KEY}',
        secret: '${ACME_SECRET_1}',
        models: [],
      },
    });
    expect(several['models']).to.deep.equal([
      { name: 'one', routes: [{ target: 'acme', model: 'acme-1' }] },
      { name: 'three', routes: [{ target: 'acme', model: 'acme-2' }] },
    ]);
  });
});
