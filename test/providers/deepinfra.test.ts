import { expect } from 'chai';
import deepinfra from '../../providers/deepinfra/index.ts';
import { answeredBy, refusedBy, rootOf, sentBy, unusableTo } from '../kit/index.ts';
import { FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

const RANK = { model: 'Qwen/Qwen3-Reranker 8B', query: 'q', documents: ['a', 'b'], top_n: 1, return_documents: true };

describe('deepinfra', () => {
  itServes(
    deepinfra,
    'https://api.deepinfra.com/v1/openai',
    ['chat', 'embeddings', 'images', 'audio.transcriptions', 'audio.translations', 'audio.speech'],
    FORWARDED,
  );
  itForwardsChat(deepinfra);
  itForwardsEmbeddings(deepinfra);

  it('keeps a bare host bare', async () => {
    expect(await rootOf(deepinfra, { DEEPINFRA_BASE_URL: 'http://h:1' })).to.equal('http://h:1');
  });

  it('leaves quality and style out of images, and says so', async () => {
    const { body, ignored } = await sentBy(deepinfra, 'images', {
      model: 'm',
      prompt: 'p',
      size: '1x1',
      quality: 'hd',
      style: 'vivid',
    });
    expect([body, ignored]).to.deep.equal([{ model: 'm', prompt: 'p', size: '1x1' }, ['quality', 'style']]);
  });
});

describe('deepinfra, rerank', () => {
  it('goes to the model beside the compatible root, its name escaped segment by segment', async () => {
    const { url, body, ignored } = await sentBy(deepinfra, 'rerank', { ...RANK, max_tokens_per_doc: 9 });
    expect(url).to.equal('https://api.deepinfra.com/v1/inference/Qwen/Qwen3-Reranker%208B');
    expect(body).to.deep.equal({ queries: ['q'], documents: ['a', 'b'] });
    expect(ignored).to.deep.equal(['max_tokens_per_doc']);
    expect(
      (await sentBy(deepinfra, 'rerank', RANK, { variables: { DEEPINFRA_BASE_URL: 'http://h/probe' } })).url,
    ).to.equal('http://h/probe/inference/Qwen/Qwen3-Reranker%208B');
  });

  it('refuses models that would leave the path', async () => {
    for (const model of ['../chat', 'a//b', '.'])
      expect((await refusedBy(deepinfra, 'rerank', { ...RANK, model })).code).to.equal('invalid_request');
  });

  it('reads one score per document, in their order', async () => {
    expect(
      await answeredBy(deepinfra, 'rerank', RANK, { scores: [0.1, 0.9], input_tokens: 42, request_id: null }),
    ).to.deep.equal({
      results: [
        { index: 0, relevance_score: 0.1 },
        { index: 1, relevance_score: 0.9 },
      ],
      meta: { tokens: { input_tokens: 42 } },
    });
    expect(await answeredBy(deepinfra, 'rerank', RANK, { scores: [0, 1], input_tokens: 0 })).to.not.have.property(
      'meta',
    );
    for (const body of [{ scores: [0.1] }, { scores: ['x', 'y'] }, {}])
      expect(await unusableTo(deepinfra, 'rerank', RANK, body)).to.equal('the answer does not hold 2 scores');
  });
});
