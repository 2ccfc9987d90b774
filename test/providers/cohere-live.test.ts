import { expect } from 'chai';
import cohere from '../../providers/cohere/index.ts';
import {
  answeredBy,
  ask,
  golden,
  refusedBy,
  replyJson,
  sentBy,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  unusableTo,
} from '../kit/index.ts';

const KEY = 'cohere-key-0123456789';
const DOCUMENTS = ['zero', 'one', 'two', 'three', 'four'];
const EMBED = { model: 'embed-v4.0', input: ['first', 'second'] };

describe('cohere, embeddings', () => {
  it('are texts of a kind, searched documents unless said', async () => {
    const { url, body, ignored } = await sentBy(cohere, 'embeddings', {
      ...EMBED,
      encoding_format: 'float',
      truncate: 'START',
      images: [],
    });
    expect([url, body]).to.deep.equal([
      'https://api.cohere.com/v1/embed',
      { texts: ['first', 'second'], model: 'embed-v4.0', input_type: 'search_document', truncate: 'START' },
    ]);
    expect(ignored).to.deep.equal(['images']);
    for (const input_type of ['search_document', 'search_query', 'classification', 'clustering']) {
      expect((await sentBy(cohere, 'embeddings', { model: 'm', input: 'one', input_type })).body).to.deep.equal({
        texts: ['one'],
        model: 'm',
        input_type,
      });
    }
  });

  it('refuse what they cannot express, before anything is sent', async () => {
    for (const more of [
      { dimensions: 8 },
      { user: 'u' },
      { input_type: 'query' },
      { input: [1, 2] },
      { input: [[1], [2]] },
    ]) {
      expect((await refusedBy(cohere, 'embeddings', { ...EMBED, ...more })).code, JSON.stringify(more)).to.equal(
        'invalid_request',
      );
    }
    expect((await refusedBy(cohere, 'embeddings', { ...EMBED, input_type: 'query' })).message).to.include('"query"');
  });

  it('come as bare vectors or by type, billed tokens counted', async () => {
    const reply = JSON.parse(golden('cohere/embeddings/reply.json'));
    for (const embeddings of [reply.embeddings, { float: reply.embeddings }]) {
      const { data, usage } = await answeredBy(cohere, 'embeddings', EMBED, { ...reply, embeddings });
      expect(data.map(({ embedding, index }: any) => [index, embedding])).to.deep.equal([
        [0, [0.25, -0.5, 1]],
        [1, [0.125, 0, -2]],
      ]);
      expect(usage).to.deep.equal({ prompt_tokens: 11, total_tokens: 11 });
    }
    for (const body of [
      {},
      { embeddings: [[1]] },
      { embeddings: [] },
      { embeddings: { int8: [[1], [2]] } },
      { embeddings: ['a', 'b'] },
    ])
      expect(await unusableTo(cohere, 'embeddings', EMBED, body), JSON.stringify(body)).to.be.a('string');
  });
});

describe('cohere, rerank', () => {
  const request = { model: 'rerank-v3.5', query: 'q', documents: DOCUMENTS };

  it('sends what the vendor has, a cap of 0 as none', async () => {
    const { url, body, ignored } = await sentBy(cohere, 'rerank', {
      ...request,
      top_n: 3,
      max_tokens_per_doc: 99,
      return_documents: true,
      rank_fields: ['a'],
    });
    expect([url, body]).to.deep.equal([
      'https://api.cohere.com/v2/rerank',
      { ...request, top_n: 3, max_tokens_per_doc: 99 },
    ]);
    expect(ignored).to.deep.equal(['rank_fields']);
    expect((await sentBy(cohere, 'rerank', { ...request, top_n: 0 })).body).to.deep.equal(request);
  });

  it('reads results, units and id', async () => {
    const reply = await answeredBy(cohere, 'rerank', request, JSON.parse(golden('cohere/rerank/reply.json')));
    expect(reply).to.deep.equal({
      id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
      meta: { billed_units: { search_units: 1 } },
      results: [
        { index: 3, relevance_score: 0.75 },
        { index: 4, relevance_score: 0.625 },
        { index: 0, relevance_score: 0.125 },
      ],
    });
    expect(
      await answeredBy(cohere, 'rerank', request, {
        results: [{ index: 0, relevance_score: 0 }],
        meta: { billed_units: 7 },
      }),
    ).to.deep.equal({ results: [{ index: 0, relevance_score: 0 }] });
    for (const body of [{}, { results: null }, { results: [{}] }, { results: [{ index: '0', relevance_score: 1 }] }])
      expect(await unusableTo(cohere, 'rerank', request, body), JSON.stringify(body)).to.be.a('string');
  });
});

async function gateway(config: object = {}): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream((request, response) => {
    const file =
      request.url === '/v1/embed'
        ? 'embeddings/reply.json'
        : request.url === '/v2/rerank'
          ? 'rerank/reply.json'
          : 'chat/reply.json';
    if (request.text.includes('"fail"')) replyJson(response, 429, { message: 'slow down' }, { 'retry-after': '7' });
    else if (request.text.includes('"stream":true'))
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(golden(`cohere/chat/${request.text.includes('"break"') ? 'error' : 'stream'}.txt`));
    else response.writeHead(200, { 'content-type': 'application/json' }).end(golden(`cohere/${file}`));
  });
  const host = await startHost(
    { targets: [{ virtual_key: 'cohere', models: ['command-r'] }], ...config },
    { variables: { COHERE_API_KEY: KEY, COHERE_BASE_URL: upstream.url } },
  );
  return { host, upstream };
}

describe('cohere, live', () => {
  it('answers, streams and fails at its own paths, with its key', async () => {
    const { host, upstream } = await gateway();
    const chat = (content: string, more: object = {}): ReturnType<TestHost['post']> =>
      host.post('/v1/chat/completions', ask(content, { model: 'command-r', ...more }));
    expect((await chat('hi')).json()).to.include({
      provider: 'cohere',
      model: 'command-r',
      id: 'c14c80c3-18eb-4519-9460-6c92edd8cfb4',
    });
    const events = (await chat('hi', { stream: true })).events();
    expect([events.at(-1), events.at(-2).usage.total_tokens, events[0].choices[0].delta]).to.deep.equal([
      '[DONE]',
      18,
      { role: 'assistant', content: 'conformance' },
    ]);
    const broken = (await chat('break', { stream: true })).events();
    expect(broken.at(-1)).to.have.nested.property('error.type', 'stream_error');
    const refused = await chat('fail');
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '7']);
    for (const { headers, url } of upstream.seen)
      expect([headers.authorization, url]).to.deep.equal([`Bearer ${KEY}`, '/v2/chat']);
  });

  it('embeds in the format that was asked for, and reranks with the documents put back', async () => {
    const { host } = await gateway({ targets: [{ virtual_key: 'cohere', models: ['e', 'r'] }] });
    const {
      data: [first],
    } = (
      await host.post('/v1/embeddings', { model: 'e', input: ['first', 'second'], encoding_format: 'base64' })
    ).json();
    expect(first.embedding).to.equal('AACAPgAAAL8AAIA/');
    const ranked = (
      await host.post('/v1/rerank', { model: 'r', query: 'q', documents: DOCUMENTS, return_documents: true, top_n: 2 })
    ).json();
    expect(ranked.results).to.deep.equal([
      { index: 3, relevance_score: 0.75, document: { text: 'three' } },
      { index: 4, relevance_score: 0.625, document: { text: 'four' } },
    ]);
    expect(ranked.meta.billed_units.search_units).to.equal(1);
  });

  it('names what it cannot express, or refuses it', async () => {
    const { host, upstream } = await gateway();
    const request = ask('hi', { model: 'command-r', n: 2, user: 'u', logprobs: true, store: true });
    expect((await host.post('/v1/chat/completions', request)).headers.get('x-gateway-ignored-params')).to.equal(
      'n, logprobs, user, store',
    );
    await host.apply({
      targets: [{ virtual_key: 'cohere', models: ['command-r'] }],
      compatibility: { on_unsupported_param: 'reject' },
    });
    const refusal = await host.post('/v1/chat/completions', request);
    expect([refusal.status, refusal.json().error.code, upstream.seen.length]).to.deep.equal([
      400,
      'unsupported_parameter',
      1,
    ]);
  });
});
