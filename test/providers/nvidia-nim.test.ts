import { expect } from 'chai';
import nvidiaNim from '../../providers/nvidia-nim/index.ts';
import { answeredBy, sentBy, unusableTo } from '../kit/index.ts';
import { EMBED, FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

const RANK = { model: 'm', query: 'q', documents: ['a', 'b', 'c'], top_n: 2 };

describe('nvidia-nim', () => {
  itServes(nvidiaNim, 'https://integrate.api.nvidia.com/v1', ['chat', 'embeddings'], FORWARDED);
  itForwardsChat(nvidiaNim);
  itForwardsEmbeddings(nvidiaNim);

  it('invents no input type, and asks for base64 when the client does', async () => {
    expect((await sentBy(nvidiaNim, 'embeddings', { model: 'm', input: 'a' })).body).to.deep.equal({
      model: 'm',
      input: 'a',
    });
    expect(
      (await sentBy(nvidiaNim, 'embeddings', { ...EMBED, encoding_format: 'base64' })).body.encoding_format,
    ).to.equal('base64');
  });
});

describe('nvidia-nim, rerank', () => {
  const HOSTED = 'https://ai.api.nvidia.com/v1/retrieval/nvidia/reranking';

  it('goes to the hosted service at the default root, and below any other', async () => {
    for (const [address, url] of [
      ['', HOSTED],
      ['https://integrate.api.nvidia.com', HOSTED],
      ['https://integrate.api.nvidia.com/v1/', HOSTED],
      ['http://h:1', 'http://h:1/v1/ranking'],
      ['http://h/probe', 'http://h/probe/ranking'],
    ] as const) {
      expect(
        await sentBy(nvidiaNim, 'rerank', RANK, { variables: { NVIDIA_NIM_BASE_URL: address } }),
        address,
      ).to.include({ url, withCredential: true });
    }
  });

  it('sends passages', async () => {
    const { body, headers, ignored } = await sentBy(nvidiaNim, 'rerank', { ...RANK, max_tokens_per_doc: 4 });
    expect(body).to.deep.equal({
      model: 'm',
      query: { text: 'q' },
      passages: [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
      truncate: 'END',
    });
    expect(headers).to.deep.equal({ accept: 'application/json' });
    expect(ignored).to.deep.equal(['max_tokens_per_doc']);
  });

  it('makes scores of logits', async () => {
    const { results, meta } = await answeredBy(nvidiaNim, 'rerank', RANK, {
      rankings: [
        { index: 2, logit: 0 },
        { index: 0, logit: -20 },
      ],
      usage: { prompt_tokens: 9, total_tokens: 9 },
    });
    expect(results[0]).to.deep.equal({ index: 2, relevance_score: 0.5 });
    expect(results[1].relevance_score).to.be.closeTo(0, 1e-8);
    expect(meta).to.deep.equal({ tokens: { input_tokens: 9 } });
    for (const body of [{}, { rankings: [{ index: 1, logit: 'x' }] }])
      expect(await unusableTo(nvidiaNim, 'rerank', RANK, body)).to.be.a('string');
  });
});
