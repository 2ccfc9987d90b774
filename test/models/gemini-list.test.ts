import { expect } from 'chai';
import { replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

type Json = Record<string, any>;

const entry = (id: string, more: object = {}): object => ({
  name: `models/${id}`,
  version: '',
  displayName: id,
  description: '',
  inputTokenLimit: 0,
  outputTokenLimit: 0,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
  ...more,
});

async function gateway(more: object = {}): Promise<TestHost> {
  const upstream = await stubUpstream((_request, response) => replyJson(response, 200, {}));
  return startHost(
    {
      strategy: { mode: 'fallback' },
      targets: [
        upstream.target('a', { models: ['x', 'y'] }),
        { virtual_key: 'openai', models: ['text-embedding-3-small', 'gpt-4o'] },
      ],
      ...more,
    },
    { variables: { OPENAI_API_KEY: 'k' } },
  );
}

const names = (body: Json): string[] => body['models'].map(({ name }: Json) => name);

describe('GET /v1beta/models', () => {
  it('lists what clients of the Gemini API can use, then aliases', async () => {
    const host = await gateway({ aliases: { short: 'x', 'a/b:c': 'text-embedding-3-small', lost: 'nowhere' } });
    const all = (await host.get('/v1beta/models?pageSize=1000')).json() as Json;
    expect(all).to.not.have.property('nextPageToken');
    expect(all['models'].filter(({ name }: Json) => /\/(x|y|short)$/.test(name))).to.deep.equal([
      entry('x'),
      entry('y'),
      entry('short'),
    ]);
    expect(names(all)).to.include.members(['models/gpt-4o', 'models/a/b:c']).and.not.include('models/lost');
    const others = ((await host.get('/v1/models')).json().data as Json[]).filter(
      ({ mode }) => mode !== undefined && mode !== 'chat' && mode !== 'embedding',
    );
    expect(others).to.not.be.empty;
    for (const { id } of others) expect(names(all)).to.not.include(`models/${id}`);
    const [known, vector] = ['models/gpt-4o', 'models/a/b:c'].map((name) =>
      all['models'].find((each: Json) => each['name'] === name),
    );
    expect([known.inputTokenLimit > 0, known.outputTokenLimit > 0, known.displayName]).to.deep.equal([
      true,
      true,
      'GPT-4o',
    ]);
    expect(vector.supportedGenerationMethods).to.deep.equal(['embedContent', 'batchEmbedContents']);
  });

  it('comes in pages', async () => {
    const host = await gateway();
    const all = names((await host.get('/v1beta/models?pageSize=1000')).json());
    const found: string[] = [];
    let token = '';
    do {
      const page = (await host.get(`/v1beta/models?pageSize=7&pageToken=${token}`)).json() as Json;
      found.push(...names(page));
      token = page['nextPageToken'] ?? '';
    } while (token !== '');
    expect(found).to.deep.equal(all);
    expect(names((await host.get('/v1beta/models')).json())).to.deep.equal(all.slice(0, 50));
  });

  for (const query of ['pageSize=0', 'pageSize=1001', 'pageSize=x', 'pageToken=foreign']) {
    it(`refuses ${query}`, async () => {
      const answer = await (await gateway()).get(`/v1beta/models?${query}`);
      expect([answer.status, answer.json().error.status]).to.deep.equal([400, 'INVALID_ARGUMENT']);
    });
  }

  it('shows one model, by its name or id', async () => {
    const host = await gateway({ aliases: { 'a/b:c': 'x' } });
    for (const [path, id] of [
      ['x', 'x'],
      ['models/x', 'x'],
      ['a%2Fb:c', 'a/b:c'],
      ['a/b%3Ac', 'a/b:c'],
    ]) {
      const answer = await host.get(`/v1beta/models/${path}`);
      expect([answer.status, answer.json()], path).to.deep.equal([200, entry(id!)]);
    }
    const missing = await host.get('/v1beta/models/nope');
    expect([missing.status, missing.json().error.status, missing.json().error.details[0].reason]).to.deep.equal([
      404,
      'NOT_FOUND',
      'MODEL_NOT_FOUND',
    ]);
    const head = await host.request('HEAD', '/v1beta/models/x');
    expect([head.status, head.text]).to.deep.equal([200, '']);
  });

  it('needs a key', async () => {
    const answer = await (await gateway()).get('/v1beta/models', { authorization: '' });
    expect([answer.status, answer.json().error.status]).to.deep.equal([401, 'UNAUTHENTICATED']);
  });

  it('lists only what routes', async () => {
    const host = await gateway({ aliases: { short: 'x' } });
    for (const name of ['models/x', 'models/y', 'models/short'])
      expect(
        (await host.post(`/v1beta/${name}:countTokens`, { contents: [{ parts: [{ text: 'a' }] }] })).status,
        name,
      ).to.equal(200);
  });
});
