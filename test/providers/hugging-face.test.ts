import { expect } from 'chai';
import huggingFace from '../../providers/hugging-face/index.ts';
import { answeredBy, refusedBy, rootOf, sentBy, unusableTo } from '../kit/index.ts';
import { FORWARDED, itForwardsChat, itServes } from './support.ts';

const PICTURE = { model: 'owner/sd xl', prompt: 'p' };

describe('hugging-face', () => {
  itServes(huggingFace, 'https://router.huggingface.co/v1', ['chat'], { ...FORWARDED, anyModel: true });
  itForwardsChat(huggingFace);

  it('takes a dedicated endpoint, bare or with a path', async () => {
    for (const [address, root] of [
      ['https://e.example/', 'https://e.example/v1'],
      ['https://e.example/v1', 'https://e.example/v1'],
      ['https://e.example/x', 'https://e.example/x'],
    ] as const) {
      expect(await rootOf(huggingFace, { HUGGING_FACE_ENDPOINT: address })).to.equal(root);
    }
  });
});

describe('hugging-face, embeddings', () => {
  const request = { model: 'owner/e5#1', input: ['a', 'b'] };

  it('go to the feature-extraction task with the input as it is, and report what it cannot take', async () => {
    const { url, body, ignored } = await sentBy(huggingFace, 'embeddings', {
      ...request,
      dimensions: 4,
      user: 'u',
      encoding_format: 'float',
    });
    expect(url).to.equal('https://router.huggingface.co/hf-inference/models/owner/e5%231/pipeline/feature-extraction');
    expect(body).to.deep.equal({ inputs: ['a', 'b'] });
    expect(ignored).to.deep.equal(['dimensions', 'user']);
  });

  it('are refused for token ids and for names that would leave the path', async () => {
    expect((await refusedBy(huggingFace, 'embeddings', { model: 'm', input: [1, 2] })).code).to.equal(
      'invalid_request',
    );
    for (const model of ['a/../b', '', 'a//b'])
      expect((await refusedBy(huggingFace, 'embeddings', { ...request, model })).code).to.equal('invalid_request');
  });

  it('come as bare vectors, or one', async () => {
    const two = await answeredBy(huggingFace, 'embeddings', request, [
      [1, 2],
      [3, 4],
    ]);
    expect(two).to.deep.equal({
      object: 'list',
      model: request.model,
      usage: { prompt_tokens: 0, total_tokens: 0 },
      data: [
        { object: 'embedding', embedding: [1, 2], index: 0 },
        { object: 'embedding', embedding: [3, 4], index: 1 },
      ],
    });
    expect((await answeredBy(huggingFace, 'embeddings', { model: 'm', input: 'a' }, [1, 2])).data).to.deep.equal([
      { object: 'embedding', embedding: [1, 2], index: 0 },
    ]);
    for (const body of [[[1, 2]], [1, 2], [[[1]], [[2]]], {}, []])
      expect(await unusableTo(huggingFace, 'embeddings', request, body), JSON.stringify(body)).to.equal(
        'the answer does not hold 2 vectors',
      );
  });
});

describe('hugging-face, images', () => {
  it('go to the model as its inputs, with a size when it is one', async () => {
    const { url, body, ignored } = await sentBy(huggingFace, 'images', {
      ...PICTURE,
      n: 1,
      size: '640x480',
      quality: 'hd',
    });
    expect(url).to.equal('https://router.huggingface.co/hf-inference/models/owner/sd%20xl');
    expect(body).to.deep.equal({ inputs: 'p', parameters: { width: 640, height: 480 } });
    expect(ignored).to.deep.equal(['quality']);
    for (const size of ['auto', '0x5', '10'])
      expect(await sentBy(huggingFace, 'images', { ...PICTURE, size })).to.deep.include({
        body: { inputs: 'p' },
        ignored: ['size'],
      });
  });

  it('are one per call, and base64 alone', async () => {
    expect((await refusedBy(huggingFace, 'images', { ...PICTURE, n: 2 })).code).to.equal('invalid_request');
    expect(huggingFace.imageFormats).to.deep.equal(['b64_json']);
  });

  it('come as bytes', async () => {
    expect(
      await answeredBy(huggingFace, 'images', PICTURE, new Uint8Array([255, 216, 255]), {
        'content-type': 'image/jpeg',
      }),
    ).to.deep.equal({ data: [{ b64_json: '/9j/' }] });
    expect(
      await unusableTo(huggingFace, 'images', PICTURE, { error: 'loading' }, { 'content-type': 'application/json' }),
    ).to.equal('the answer is not an image');
    expect(await unusableTo(huggingFace, 'images', PICTURE, new Uint8Array(0))).to.equal('the answer is not an image');
  });
});
