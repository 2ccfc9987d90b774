import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { kindKeys } from '../../host/common/kinds/kind-keys.ts';
import { ask, replyJson, type SeenRequest, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

const KEY = 'key-of-an-instance-0123456789';

interface Run {
  readonly t: TestHost;
  readonly seen: readonly SeenRequest[];
}

/** A gateway whose one target is an instance at a lab server. */
async function run(block: object, variables: Record<string, string> = {}, more: object = {}): Promise<Run> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 400, { error: { message: 'no' } }));
  const t = await startHost(
    {
      providers: { own: { base_url: `${stub.url}/v1`, ...block } },
      targets: [{ virtual_key: 'own', models: ['m'], ...more }],
    },
    { variables: { INSTANCE_KEY: KEY, ...variables }, isLenient: true },
  );
  return { t, seen: stub.seen };
}

const chat = async ({ t, seen }: Run, body: object = {}): Promise<SeenRequest> => {
  await t.post('/v1/chat/completions', { ...ask('hi'), model: 'm', ...body });
  return seen.at(-1)!;
};

const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];

describe('settings without a variable', () => {
  it('of anthropic say that the key is a bearer token, for chats and for clients of Messages on the same wire', async () => {
    const own = await run({ kind: 'anthropic', api_key: '${INSTANCE_KEY}', settings: { auth: 'bearer' } });
    const translated = await chat(own);
    await own.t.post('/v1/messages', { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
    const passed = own.seen.at(-1)!;
    expect(own.seen).to.have.lengthOf(2);
    for (const { url, headers } of [translated, passed]) {
      expect(url).to.equal('/v1/messages');
      expect(headers).to.include({ authorization: `Bearer ${KEY}`, 'anthropic-version': '2023-06-01' });
      expect(headers).not.to.have.property('x-api-key');
    }
  });

  it('of openai name an organization and a project; those of a credential win', async () => {
    const settings = { organization: 'org-1', project: 'proj-1' };
    const plain = await chat(await run({ kind: 'openai', api_key: '${INSTANCE_KEY}', settings }));
    expect(plain.headers).to.include({ 'openai-organization': 'org-1', 'openai-project': 'proj-1' });
    const credentials = [{ name: 'a', api_key: '${INSTANCE_KEY}', organization: 'org-2' }];
    const own = await chat(await run({ kind: 'openai', settings, credentials }));
    expect(own.headers).to.include({ 'openai-organization': 'org-2', 'openai-project': 'proj-1' });
  });

  it('are never read from the environment', async () => {
    const variables = { organization: 'org-of-env', project: 'p', auth: 'bearer', OPENAI_API_KEY: KEY };
    const own = await chat(await run({ kind: 'openai', api_key: '${INSTANCE_KEY}' }, variables));
    expect(own.headers).not.to.have.any.keys('openai-organization', 'openai-project');
    const stub = await stubUpstream((_request, response) => replyJson(response, 400, {}));
    const t = await startHost(
      { targets: [{ virtual_key: 'openai', models: ['m'] }] },
      { variables: { ...variables, OPENAI_BASE_URL: `${stub.url}/v1` } },
    );
    await t.post('/v1/chat/completions', { ...ask('hi'), model: 'm' });
    expect(stub.seen[0]?.headers).not.to.have.any.keys('openai-organization', 'openai-project');
  });

  it('of azure-openai may leave the deployment to the model, which model_map names', async () => {
    const block = { kind: 'azure-openai', api_key: '${INSTANCE_KEY}' };
    const path = (deployment: string): RegExp => new RegExp(`/openai/deployments/${deployment}/chat/completions`);
    expect((await chat(await run(block))).url).to.match(path('m'));
    expect((await chat(await run(block, {}, { model_map: { m: 'house-4' } }))).url).to.match(path('house-4'));
    const pinned = { ...block, settings: { deployment: 'pinned' } };
    expect((await chat(await run(pinned, {}, { model_map: { m: 'house-4' } }))).url).to.match(path('pinned'));
  });
});

describe('an instance without a key at another address than its vendor', () => {
  const kinds = MODULES.filter((module) => module.kind === 'provider').filter((module) => {
    const { sets, needsAddress } = kindKeys(module);
    return !module.offline && !needsAddress && !sets.some(({ needs }) => needs.length === 0);
  });

  for (const { name } of kinds)
    it(`of kind ${name} sends no header of a credential`, async () => {
      const settings = name === 'cloudflare' ? { account_id: 'a' } : undefined;
      const models = { ai21: 'jamba-large', replicate: 'acme/chat' } as Readonly<Record<string, string>>;
      const own = await run(
        { kind: name, ...(settings && { settings }) },
        { OPENAI_API_KEY: KEY },
        models[name] === undefined ? {} : { model_map: { m: models[name] } },
      );
      const { headers } = await chat(own);
      expect(CREDENTIAL_HEADERS.filter((header) => header in headers)).to.deep.equal([]);
      expect(JSON.stringify(headers)).not.to.include('Bearer');
    });
});
