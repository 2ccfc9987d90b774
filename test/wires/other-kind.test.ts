import { expect } from 'chai';
import { replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

const EMBEDDER = 'text-embedding-3-small';
const CHAT = 'gpt-4.1-mini';
const parts = { parts: [{ text: 'a' }] };

async function openai(): Promise<{ readonly host: TestHost; readonly calls: () => number }> {
  const upstream = await stubUpstream((seen, response) =>
    replyJson(
      response,
      200,
      seen.url.endsWith('/embeddings')
        ? {
            object: 'list',
            model: 'm',
            data: [{ object: 'embedding', index: 0, embedding: [1] }],
            usage: { prompt_tokens: 1, total_tokens: 1 },
          }
        : {
            id: 'x',
            object: 'chat.completion',
            model: 'm',
            choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
          },
    ),
  );
  const targets = [
    { virtual_key: 'openai', models: [EMBEDDER, CHAT, 'of-tomorrow', 'mapped'], model_map: { mapped: EMBEDDER } },
  ];
  const host = await startHost(
    { strategy: { mode: 'single' }, targets, responses: { translate: 'auto' } },
    { variables: { OPENAI_API_KEY: 'sk-test-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
  );
  return { host, calls: () => upstream.seen.length };
}

describe('a model of another kind than its route', () => {
  it('is not found where the catalog knows it for vectors, and the client wants an answer', async () => {
    const { host, calls } = await openai();
    for (const model of [EMBEDDER, 'mapped']) {
      const messages = await host.post('/v1/messages', {
        model,
        max_tokens: 5,
        messages: [{ role: 'user', content: 'a' }],
      });
      expect([messages.status, messages.json().error.type]).to.deep.equal([404, 'not_found_error']);
      const gemini = await host.post(`/v1beta/models/${model}:generateContent`, { contents: [parts] });
      expect([gemini.status, gemini.json().error.status]).to.deep.equal([404, 'NOT_FOUND']);
    }
    const embedded = await host.post(`/v1beta/models/${CHAT}:embedContent`, { content: parts });
    expect([embedded.status, embedded.json().error.status]).to.deep.equal([404, 'NOT_FOUND']);
    expect(calls()).to.equal(0);
  });

  it('is asked where the kinds fit, or the catalog does not know it, and counted in any case', async () => {
    const { host } = await openai();
    for (const model of [CHAT, 'of-tomorrow'])
      expect(
        (await host.post('/v1/messages', { model, max_tokens: 5, messages: [{ role: 'user', content: 'a' }] })).status,
        model,
      ).to.equal(200);
    for (const model of [EMBEDDER, 'of-tomorrow', 'mapped'])
      expect((await host.post(`/v1beta/models/${model}:embedContent`, { content: parts })).status, model).to.equal(200);
    expect((await host.post(`/v1beta/models/${EMBEDDER}:countTokens`, { contents: [parts] })).status).to.equal(200);
    expect((await host.post('/v1/embeddings', { model: EMBEDDER, input: 'a' })).status).to.equal(200);
  });
});
