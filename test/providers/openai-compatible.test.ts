import { expect } from 'chai';
import openaiCompatible from '../../providers/openai-compatible/index.ts';
import { connectProvider } from '../../host/upstream/connect.ts';
import { golden, type SeenRequest, sentBy, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { CHAT, FILE, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

const KEY = 'key-of-a-server-0123456789';
const file = (name: string): string => golden(`openai-compatible/${name}`);

interface Run {
  readonly t: TestHost;
  readonly seen: readonly SeenRequest[];
}

type Answer = readonly [status: number, body: string];

/** A gateway in front of one server, at a path of it. */
async function run(path: string, block: object = {}, answer: Answer = [200, file('chat/reply.json')]): Promise<Run> {
  const stub = await stubUpstream((_request, response) => {
    response.writeHead(answer[0], { 'content-type': 'application/json' }).end(answer[1]);
  });
  const t = await startHost(
    {
      providers: { gpu: { kind: 'openai-compatible', base_url: `${stub.url}${path}`, ...block } },
      targets: [{ virtual_key: 'gpu', models: ['m', 'org/model:8b'] }],
    },
    { variables: { SERVER_KEY: KEY, OPENAI_COMPATIBLE_API_KEY: 'of-the-environment-012345' } },
  );
  return { t, seen: stub.seen };
}

const SURFACES: readonly (readonly [route: string, body: object, upstream: string])[] = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }, '/chat/completions'],
  ['/v1/completions', { prompt: 'hi' }, '/chat/completions'],
  ['/v1/embeddings', { input: 'a' }, '/embeddings'],
  ['/v1/images/generations', { prompt: 'p' }, '/images/generations'],
  ['/v1/rerank', { query: 'q', documents: ['a'] }, '/rerank'],
  ['/v1/moderations', { input: 'a' }, '/moderations'],
  ['/v1/audio/speech', { input: 'a', voice: 'v' }, '/audio/speech'],
  ['/v1/anything/else', { a: 1 }, '/anything/else'],
  ['/v1/responses', { input: 'hi' }, '/responses'],
];

describe('openai-compatible', () => {
  itServes(
    openaiCompatible,
    'http://localhost:8000/v1',
    [
      'chat',
      'embeddings',
      'images',
      'rerank',
      'moderations',
      'audio.transcriptions',
      'audio.translations',
      'audio.speech',
    ],
    { passthrough: true, responses: true, discovery: true },
  );
  itForwardsChat(openaiCompatible);
  itForwardsEmbeddings(openaiCompatible);

  it('sends every parameter and every field that it does not know', async () => {
    const request = { ...CHAT, web_search_options: {}, guided_json: {}, logit_bias: { 1: 2 }, n: 2, top_k: 5 };
    const { body, ignored } = await sentBy(openaiCompatible, 'chat', request as never);
    expect([body, ignored]).to.deep.equal([request, []]);
    expect(openaiCompatible.params).to.deep.equal({});
  });

  it('sends forms to its transcriptions', async () => {
    expect((await sentBy(openaiCompatible, 'audio.transcriptions', { model: 'm', file: FILE })).url).to.equal(
      'http://localhost:8000/v1/audio/transcriptions',
    );
  });

  for (const [path, root] of [
    ['', '/v1'],
    ['/', '/v1'],
    ['/v1', '/v1'],
    ['/v1/', '/v1'],
    ['/x/y', '/x/y'],
    ['/openai/v1/', '/openai/v1'],
    ['/api/v3', '/api/v3'],
  ] as const)
    it(`is called below ${root} where its address ends in "${path}", on every surface and passed through`, async () => {
      const { t, seen } = await run(path, { models: [] });
      for (const [route, body, upstream] of SURFACES) {
        const before = seen.length;
        await t.post(route, { model: 'm', ...body });
        expect(
          seen.slice(before).map(({ url }) => url),
          route,
        ).to.deep.equal([root + upstream]);
      }
    });

  it('sends no credential without a key, whatever the environment holds, and one by the header that is set', async () => {
    const sentWith = async (block: object): Promise<SeenRequest['headers']> => {
      const { t, seen } = await run('', { models: [], ...block });
      await t.post('/v1/chat/completions', CHAT);
      return seen.at(-1)!.headers;
    };
    expect(await sentWith({})).not.to.have.any.keys('authorization', 'api-key', 'x-api-key');
    expect(await sentWith({ credentials: [{ name: 'a', weight: 2 }] })).not.to.have.any.keys(
      'authorization',
      'api-key',
    );
    expect(await sentWith({ api_key: '${SERVER_KEY}' })).to.include({ authorization: `Bearer ${KEY}` });
    const own = await sentWith({
      api_key: '${SERVER_KEY}',
      settings: { auth: 'api-key', organization: 'o-1', project: 'p-1' },
    });
    expect(own).to.include({ 'api-key': KEY, 'openai-organization': 'o-1', 'openai-project': 'p-1' });
    expect(own).not.to.have.property('authorization');
  });

  it('gets ids of models with slashes and colons as they are', async () => {
    const { t, seen } = await run('', { models: [] });
    await t.post('/v1/chat/completions', { ...CHAT, model: 'org/model:8b' });
    expect(seen.at(-1)!.json()['model']).to.equal('org/model:8b');
  });

  for (const [name, status, said] of [
    ['error-404.json', 422, 'The model `none` does not exist.'],
    ['no-route-404.json', 422, 'Not Found'],
    ['object-400.json', 400, "This model's maximum context length is 4096 tokens"],
  ] as const)
    it(`reads what ${name} says`, async () => {
      const { t } = await run('', { models: [] }, [status, file(`chat/${name}`)]);
      const answer = await t.post('/v1/chat/completions', CHAT);
      expect(answer.status).to.equal(status);
      expect(answer.json().error.message).to.include(said);
    });

  it('reads the models that servers list', () => {
    expect(openaiCompatible.discovery?.read(JSON.parse(file('models/list.json'))).map(({ id }) => id)).to.deep.equal([
      'meta-llama/Llama-3.1-8B-Instruct',
      'qwen3:8b',
    ]);
    expect(openaiCompatible.discovery?.path).to.equal('/models');
  });

  it('is registered by no variable', async () => {
    const variables = { OPENAI_COMPATIBLE_API_KEY: KEY, OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:1' };
    const t = await startHost({ targets: [{ virtual_key: 'echo' }] }, { variables });
    expect((await t.get('/health')).text).not.to.include('openai-compatible');
    const refused = await startHost({ targets: [{ virtual_key: 'openai-compatible' }] }, { variables }).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refused).to.include('BV01');
  });

  it('takes no batches, which a second instance of openai does', async () => {
    const stub = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}');
    });
    const batchesOf = async (kind: string): Promise<number> => {
      const t = await startHost(
        {
          providers: { own: { kind, base_url: `${stub.url}/v1`, api_key: '${SERVER_KEY}' } },
          targets: [{ virtual_key: 'own', models: ['m'] }],
          batch_target: 'own',
        },
        { variables: { SERVER_KEY: KEY } },
      );
      return (await t.get('/v1/batches')).status;
    };
    expect(await batchesOf('openai-compatible')).to.equal(501);
    expect(stub.seen.filter(({ url }) => url.includes('batches'))).to.deep.equal([]);
    expect(await batchesOf('openai')).to.equal(200);
    expect(stub.seen.at(-1)).to.deep.include({ url: '/v1/batches' });
  });

  it('keeps its settings for instances of the configuration', async () => {
    const deps = { log: (await startHost({ targets: [{ virtual_key: 'echo' }] })).host.log, now: Date.now };
    const variables = { auth: 'api-key', OPENAI_COMPATIBLE_API_KEY: KEY };
    const { credentials } = await connectProvider(openaiCompatible, variables, deps);
    expect(credentials).not.to.have.property('auth');
  });
});
