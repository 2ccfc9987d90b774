import { expect } from 'chai';
import { replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';
import { CLAUDE, OPENAI_MODEL, withVendors } from './vendors.ts';

const silent = (): Promise<StubUpstream> => stubUpstream((_request, response) => replyJson(response, 200, {}));

const entriesOf = async (host: TestHost, headers: Record<string, string> = {}): Promise<Record<string, any>[]> =>
  (await host.get('/v1/models', headers)).json().data;
const owned = async (host: TestHost, headers?: Record<string, string>): Promise<string[]> =>
  (await entriesOf(host, headers)).map(({ id, owned_by }) => `${id} ${owned_by}`);

const keyOf = async (host: TestHost, limits: object): Promise<Record<string, string>> => {
  const made = await host.post('/admin/keys', { name: 'k', scopes: [], ...limits });
  expect(made.status, made.text).to.equal(201);
  return { authorization: `Bearer ${made.json().key}` };
};

/** Two targets that own models, and groups over them. */
async function withGroups(models: readonly object[], more: object = {}): Promise<TestHost> {
  const upstream = await silent();
  return startHost({
    strategy: { mode: 'fallback' },
    targets: [
      upstream.target('a', { models: ['x', 'oss/x', 'qwen/one', 'qwen/two'] }),
      upstream.target('b', { models: ['y', 'qwen/one'] }),
    ],
    models,
    ...more,
  });
}

const route = (target: string, model?: string): object => ({ target, ...(model !== undefined && { model }) });

describe('GET /v1/models with groups', () => {
  it('has exact groups first, in the order of the file, then names of groups with a star, then what targets own, each once', async () => {
    const host = await withGroups([
      { name: 'zeta', routes: [route('b', 'y'), route('a', 'x')] },
      { name: 'oss/*', routes: [route('a', 'qwen/*'), route('b', 'qwen/*')] },
      { name: 'alpha', routes: [route('a', 'anything')] },
      { name: 'hidden', listed: false, routes: [route('a', 'x')] },
      { name: 'y', routes: [route('a', 'x')] },
    ]);
    expect(await owned(host)).to.deep.equal([
      'zeta b',
      'alpha a',
      'y a',
      'oss/one a',
      'oss/two a',
      'x a',
      'oss/x a',
      'qwen/one a',
      'qwen/two a',
    ]);
  });

  it('lists what a group without models on its routes takes by the names of its targets', async () => {
    const host = await withGroups([{ name: 'qwen/*', routes: [route('b'), route('a')] }]);
    expect(await owned(host)).to.deep.equal(['qwen/one b', 'qwen/two b', 'x a', 'oss/x a', 'y b']);
  });

  it('lists an owned id as that of the group that takes it, or not at all where that is hidden', async () => {
    const groups = (listed: boolean): object[] => [{ name: 'oss/*', listed, routes: [route('b', 'y')] }];
    expect(await owned(await withGroups(groups(true))))
      .to.include('oss/x b')
      .and.not.include('oss/x a');
    expect((await owned(await withGroups(groups(false)))).filter((entry) => entry.startsWith('oss/'))).to.deep.equal(
      [],
    );
  });

  it('leaves out a group that nothing serves, unless a fallback does', async () => {
    const upstream = await silent();
    const known = await startHost({
      strategy: { mode: 'fallback' },
      targets: [upstream.target('b', { models: ['y'] }), { virtual_key: 'groq' }],
      models: [
        { name: 'none', routes: [route('groq', 'x')] },
        { name: 'behind', routes: [route('groq', 'x')], fallbacks: ['none', 'y'] },
      ],
    });
    expect(await owned(known)).to.deep.equal(['behind b', 'y b']);
  });

  it('shows a key what it may ask for and some route that it may use serves', async () => {
    const host = await withGroups(
      [
        { name: 'both', routes: [route('a', 'x'), route('b', 'y')] },
        { name: 'only-a', routes: [route('a', 'x')] },
        { name: 'oss/*', routes: [route('a', 'qwen/*'), route('b', 'qwen/*')] },
      ],
      { aliases: { short: 'both' } },
    );
    expect(await owned(host, await keyOf(host, { models: ['only-a', 'oss/two', 'oss/never', 'x'] }))).to.deep.equal([
      'only-a a',
      'oss/two a',
      'x a',
    ]);
    expect(await owned(host, await keyOf(host, { models: ['short'] }))).to.deep.equal(['both a']);
    expect(await owned(host, await keyOf(host, { providers: ['b'] }))).to.deep.equal([
      'both b',
      'oss/one b',
      'oss/two b',
      'oss/x b',
      'y b',
      'qwen/one b',
    ]);
  });

  it('leaves names that are aliases to what they stand for', async () => {
    const hidden = { name: 'qwen/*', listed: false, routes: [route('a')] };
    const host = await withGroups([hidden], { aliases: { 'qwen/two': 'x' } });
    expect(await owned(host))
      .to.include('qwen/two a')
      .and.not.include('qwen/one a');
  });

  it('lists at most 10,000 names of groups with a star, and knows the others', async () => {
    const upstream = await silent();
    const ids = Array.from({ length: 6_000 }, (_, at) => `m${at}`);
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [upstream.target('a', { models: ids })],
      models: [
        { name: 'one/*', routes: [route('a', 'm*')] },
        { name: 'two/*', routes: [route('a', 'm*')] },
      ],
    });
    const entries = await owned(host);
    expect(entries.filter((entry) => entry.startsWith('one/'))).to.have.length(6_000);
    expect(entries.filter((entry) => entry.startsWith('two/'))).to.have.length(4_000);
    expect(entries.filter((entry) => entry.startsWith('m'))).to.have.length(6_000);
    expect((await host.get('/v1/models/two/5999')).json()).to.include({ id: 'two/5999', owned_by: 'a' });
    expect((await host.get('/v1/models/two/6000')).status).to.equal(404);
  });
});

describe('GET /v1/models/{id} with groups', () => {
  it('knows names that are listed, and no hidden ones and no invented ones', async () => {
    const host = await withGroups([
      { name: 'smart', routes: [route('a', 'x')] },
      { name: 'secret', listed: false, routes: [route('a', 'x')] },
      { name: 'oss/*', routes: [route('a', 'qwen/*')] },
      { name: 'private/*', listed: false, routes: [route('a', 'qwen/*')] },
    ]);
    const statusOf = async (id: string): Promise<number> => (await host.get(`/v1/models/${id}`)).status;
    for (const id of ['smart', 'oss/one']) expect(await statusOf(id), id).to.equal(200);
    for (const id of ['secret', 'oss/three', 'private/one', 'oss/', 'oss/*'])
      expect(await statusOf(id), id).to.equal(404);
  });
});

describe('what lists say of a group', () => {
  const models = [
    {
      name: 'smart',
      routes: [route('openai', OPENAI_MODEL), route('anthropic', CLAUDE)],
      context: { max_input_tokens: 32_768 },
    },
    { name: 'gpt/*', routes: [route('openai', 'gpt-4o*')] },
  ];

  it("is the catalog's, of the upstream model of the first route, with limits that the group states", async () => {
    const { host } = await withVendors({ models, aliases: { nick: 'smart' } });
    const [smart] = await entriesOf(host);
    const plain = (await host.get(`/v1/models/${OPENAI_MODEL}`)).json();
    expect(smart).to.deep.equal({ ...plain, id: 'smart', created: 0, context_window: 32_768 });
    expect(plain).to.include.keys('mode', 'context_window', 'max_output_tokens', 'capabilities');
    expect((await host.get('/v1/models/gpt/-mini')).json()).to.deep.include({
      id: 'gpt/-mini',
      owned_by: 'openai',
      mode: 'chat',
    });
  });

  it('is shown by its own name in the lists of other formats, by its alias too', async () => {
    const { host } = await withVendors({ models, aliases: { nick: 'smart' } });
    const version = { 'anthropic-version': '2023-06-01' };
    const [first] = (await host.get('/v1/models?limit=1', version)).json().data;
    expect(first).to.include({ id: 'smart', display_name: 'smart', max_input_tokens: 32_768 });
    expect((await host.get('/v1/models/nick', version)).json()).to.include({ id: 'nick', display_name: 'nick' });
    const [gemini] = (await host.get('/v1beta/models?pageSize=1')).json().models;
    expect(gemini).to.include({ name: 'models/smart', displayName: 'smart', inputTokenLimit: 32_768 });
    expect((await host.get('/v1beta/models/gpt/-mini')).json()).to.include({ name: 'models/gpt/-mini' });
  });

  it('counts among the capabilities of its owner', async () => {
    const { host } = await withVendors({ models: [{ name: '*', routes: [route('anthropic', CLAUDE)] }] });
    expect(Object.keys((await host.get('/v1/capabilities')).json().providers)).to.deep.equal(['anthropic']);
  });
});
