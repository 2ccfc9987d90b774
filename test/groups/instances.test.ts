import { expect } from 'chai';
import { type Answer, ask, forSuite, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';
import { vendorAnswer } from './vendors.ts';

interface Fleet {
  readonly host: TestHost;
  readonly first: StubUpstream;
  readonly second: StubUpstream;
}

const CONFIG = {
  strategy: { mode: 'fallback' },
  targets: [{ virtual_key: 'gpu-1' }, { virtual_key: 'gpu-2' }, { virtual_key: 'eu' }],
  models: [
    {
      name: 'qwen',
      routes: [
        { target: 'gpu-1', model: 'Qwen/Qwen3-32B' },
        { target: 'gpu-2', model: 'Qwen/Qwen3-32B:latest' },
      ],
      context: { max_input_tokens: 32_768 },
    },
    { name: 'oss/*', routes: [{ target: 'gpu-1', model: '*' }] },
    { name: 'listed/*', routes: [{ target: 'eu', model: '*' }] },
    {
      name: 'limited',
      routes: [
        { target: 'eu', model: 'barred' },
        { target: 'gpu-2', model: 'x' },
      ],
    },
    { name: 'barred-only', routes: [{ target: 'eu', model: 'barred' }] },
  ],
};

async function start(): Promise<Fleet> {
  const [first, second] = [await stubUpstream(vendorAnswer), await stubUpstream(vendorAnswer)];
  const host = await startHost(
    {
      ...CONFIG,
      providers: {
        'gpu-1': { kind: 'openai-compatible', base_url: first.url, models: ['llama', 'phi'] },
        'gpu-2': { kind: 'openai-compatible', base_url: second.url, models: [] },
        eu: {
          kind: 'openai-compatible',
          base_url: second.url,
          models: [],
          credentials: [{ name: 'one', api_key: '${EU_KEY}', models: ['gpt-*'] }],
        },
      },
    },
    { variables: { EU_KEY: 'eu-key-0123456789' }, isLenient: true },
  );
  return { host, first, second };
}

describe('groups over declared instances', () => {
  const fleet = forSuite(start);
  const get = async (path: string): Promise<any> => (await fleet().host.get(path)).json();

  it('are listed as owned by the instance, and alone where its models are closed', async () => {
    const { data } = await get('/v1/models');
    expect(data.map(({ id, owned_by }: any) => `${id} ${owned_by}`)).to.deep.equal([
      'qwen gpu-1',
      'limited gpu-2',
      'oss/llama gpu-1',
      'oss/phi gpu-1',
      'llama gpu-1',
      'phi gpu-1',
    ]);
    expect(data[0]).to.deep.equal({
      id: 'qwen',
      object: 'model',
      owned_by: 'gpu-1',
      created: 0,
      context_window: 32_768,
    });
  });

  it('have capabilities by the name of the instance', async () => {
    expect(Object.keys((await get('/v1/capabilities')).providers)).to.deep.equal(['gpu-1', 'gpu-2']);
  });

  it('are explained with the kind, and with why a route has no credential for its model', async () => {
    const explain = async (model: string): Promise<any> =>
      (await fleet().host.post('/admin/explain', { request: ask('hi', { model }) })).json();
    const [first] = (await explain('qwen')).order;
    expect(first).to.include({ target: 'gpu-1', provider: 'openai-compatible', kind: 'openai-compatible' });
    const limited = await explain('limited');
    expect(limited.order.map(({ target }: any) => target)).to.deep.equal(['gpu-2']);
    expect(limited.dropped).to.deep.equal([
      { target: 'eu', reason: 'no credential of it may be used for the model', figures: {} },
    ]);
    expect((await explain('barred-only')).refusal).to.include({ code: 'model_not_found' });
  });

  it('are 404 where no credential may be used for the model of any route', async () => {
    const { host, second } = fleet();
    const before = second.seen.length;
    for (const path of ['/v1/chat/completions', '/v1/responses']) {
      const answer = await host.post(path, { ...ask('hi', { model: 'barred-only' }), input: 'hi', store: false });
      expect([path, answer.status]).to.deep.equal([path, 404]);
    }
    expect(second.seen.length).to.equal(before);
  });

  it('send model ids as they are, on every surface and forwarded', async () => {
    const { host, first } = fleet();
    const from = first.seen.length;
    const asked: Promise<Answer>[] = [
      host.post('/v1/chat/completions', ask('hi', { model: 'qwen' })),
      host.post('/v1/embeddings', { model: 'qwen', input: 'hi' }),
      host.post('/v1/responses', { model: 'qwen', input: 'hi', store: false }),
      host.post('/v1/responses', { model: 'qwen', input: 'hi' }),
      host.post('/v1/rerank', { model: 'qwen', query: 'hi', documents: ['a'] }),
    ];
    for (const answer of await Promise.all(asked)) expect(answer.status, answer.text).to.equal(200);
    expect(first.seen.slice(from).map((request) => request.json()['model'])).to.deep.equal(
      Array(5).fill('Qwen/Qwen3-32B'),
    );
  });

  it('mark the routes of a name with a star anew only where a credential has a list of models', async () => {
    const marks = (name: string): unknown => {
      const lease = fleet().host.host.slot.lease()!;
      const group = lease.generation.groups?.of(name);
      const found = group?.routeTargets(name, 'chat', false);
      lease.release();
      return found;
    };
    expect(marks('oss/llama')).to.equal(marks('oss/phi'));
    expect(marks('listed/gpt-4')).to.not.equal(marks('listed/llama'));
    const serve = (name: string): boolean[] => (marks(name) as { serves: boolean }[]).map(({ serves }) => serves);
    expect([serve('listed/gpt-4'), serve('listed/llama')]).to.deep.equal([[true], [false]]);
  });
});
