import { expect } from 'chai';
import gemini from '../../providers/gemini/index.ts';
import { answeredBy, callFor, golden, refusedBy, sentBy, unaryReply, unusableTo } from '../kit/index.ts';

const ROOT = 'https://generativelanguage.googleapis.com/v1beta';
const EMBED = { model: 'models/gemini-embedding-001', input: ['a', 'b'] };

describe('gemini, embeddings', () => {
  it('are one request per text in one call, and report what it cannot take', async () => {
    const { url, body, ignored } = await sentBy(gemini, 'embeddings', {
      ...EMBED,
      dimensions: 256,
      user: 'u',
      input_type: 'query',
      encoding_format: 'base64',
    });
    const one = (text: string): object => ({
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text }] },
      outputDimensionality: 256,
    });
    expect(url).to.equal(`${ROOT}/models/gemini-embedding-001:batchEmbedContents`);
    expect(body).to.deep.equal({ requests: [one('a'), one('b')] });
    expect(ignored).to.deep.equal(['user', 'input_type']);
    expect((await sentBy(gemini, 'embeddings', { model: 'm', input: 'a' })).body).to.deep.equal({
      requests: [{ model: 'models/m', content: { parts: [{ text: 'a' }] } }],
    });
  });

  it('are refused for token ids', async () => {
    for (const input of [[1, 2], [[1]]])
      expect((await refusedBy(gemini, 'embeddings', { model: 'm', input })).code).to.equal('invalid_request');
  });

  it('come as vectors in order, with usage where it is reported', async () => {
    const body = JSON.parse(golden('gemini/embeddings/reply.json'));
    const reply = await answeredBy(gemini, 'embeddings', EMBED, body);
    expect(reply.data.map(({ embedding }: { embedding: number[] }) => embedding)).to.deep.equal([
      [0.25, -0.5, 1],
      [0.125, 0, -2],
    ]);
    expect(reply.usage).to.deep.equal({ prompt_tokens: 0, total_tokens: 0 });
    expect(
      (await answeredBy(gemini, 'embeddings', EMBED, { ...body, usageMetadata: { promptTokenCount: 4 } })).usage,
    ).to.deep.equal({ prompt_tokens: 4, total_tokens: 4 });
  });

  it('may be one alone, as a client of the same wire asks for it', async () => {
    expect(
      (await answeredBy(gemini, 'embeddings', { model: 'm', input: 'a' }, { embedding: { values: [1, 2] } })).data,
    ).to.deep.equal([{ object: 'embedding', index: 0, embedding: [1, 2] }]);
  });

  it('must be as many as the texts', async () => {
    for (const body of [
      {},
      { embeddings: null },
      { embeddings: [] },
      { embeddings: [{ values: [1] }] },
      { embeddings: [{ values: [1] }, null] },
      { embeddings: [{ values: [1] }, { values: [] }] },
    ]) {
      expect(await unusableTo(gemini, 'embeddings', EMBED, body), JSON.stringify(body)).to.equal(
        'the answer does not hold 2 vectors',
      );
    }
  });
});

describe('gemini, images of Imagen', () => {
  const imagen = (
    more: object = {},
    model = 'imagen-4.0-generate-001',
  ): Promise<{ url: string; body: any; ignored: readonly string[] }> =>
    sentBy(gemini, 'images', { model, prompt: 'a harbour', ...more });

  it('are predictions, with a count and a ratio where one is asked for', async () => {
    expect(await imagen()).to.deep.include({
      url: `${ROOT}/models/imagen-4.0-generate-001:predict`,
      body: { instances: [{ prompt: 'a harbour' }] },
      ignored: [],
    });
    expect(
      await imagen({ n: 2, size: '1792x1024', response_format: 'b64_json' }, 'models/imagen-3.0-generate-002'),
    ).to.deep.include({
      url: `${ROOT}/models/imagen-3.0-generate-002:predict`,
      body: { instances: [{ prompt: 'a harbour' }], parameters: { sampleCount: 2, aspectRatio: '16:9' } },
      ignored: [],
    });
  });

  it('have the ratio of their size; other sizes, and what else it cannot take, are reported', async () => {
    const ratios = {
      '1024x1024': '1:1',
      '512x512': '1:1',
      '256x256': '1:1',
      '1792x1024': '16:9',
      '1536x1024': '16:9',
      '1024x1792': '9:16',
      '1024x1536': '9:16',
      '1408x1024': '4:3',
      '1024x1408': '3:4',
    };
    for (const [size, ratio] of Object.entries(ratios))
      expect((await imagen({ size })).body.parameters, size).to.deep.equal({ aspectRatio: ratio });
    expect(await imagen({ size: '17x4', quality: 'hd', style: 'vivid', user: 'u' })).to.deep.include({
      body: { instances: [{ prompt: 'a harbour' }] },
      ignored: ['size', 'quality', 'style', 'user'],
    });
    expect((await imagen({ size: 'auto' })).ignored).to.deep.equal([]);
  });

  it('are one from the ultra models, whatever is asked', async () => {
    const ultra = 'imagen-4.0-ultra-generate-001';
    expect(await imagen({}, ultra)).to.deep.include({
      body: { instances: [{ prompt: 'a harbour' }], parameters: { sampleCount: 1 } },
      ignored: [],
    });
    expect(await imagen({ n: 4 }, ultra)).to.deep.include({
      body: { instances: [{ prompt: 'a harbour' }], parameters: { sampleCount: 1 } },
      ignored: ['n'],
    });
  });

  it('leave out what was filtered; all filtered is a refusal with its reason', async () => {
    const request = { model: 'imagen-4.0-generate-001', prompt: 'x' };
    expect(await answeredBy(gemini, 'images', request, JSON.parse(golden('gemini/images/reply.json')))).to.deep.equal({
      data: [{ b64_json: 'iVBORw0KGgo=' }],
    });
    expect(
      refusal('imagen-4.0-generate-001', {
        predictions: [{ raiFilteredReason: 'first' }, { raiFilteredReason: 'second' }],
      }),
    ).to.deep.equal(['invalid_request', 'first', 'content_policy']);
    for (const body of [
      {},
      { predictions: null },
      { predictions: [] },
      { predictions: [null, {}, { bytesBase64Encoded: '' }, { bytesBase64Encoded: 7 }] },
    ]) {
      expect(await unusableTo(gemini, 'images', request, body), JSON.stringify(body)).to.equal(
        'the answer holds no image',
      );
    }
  });
});

/** What reading an answer throws: code, message, reason. */
function refusal(model: string, body: object): unknown[] {
  try {
    gemini.translators.images?.fromUpstream(unaryReply(body), callFor(model), { model, prompt: 'x' });
    return ['nothing'];
  } catch (error) {
    const { code, message, fault } = error as { code?: string; message: string; fault?: { reason?: string } };
    return [code, message, fault?.reason];
  }
}

describe('gemini, images of other models', () => {
  const request = { model: 'gemini-2.5-flash-image', prompt: 'a harbour' };

  it('are answers that may hold images; what only Imagen takes is reported', async () => {
    expect(await sentBy(gemini, 'images', { ...request, n: 2, size: '1024x1024', quality: 'hd' })).to.deep.include({
      url: `${ROOT}/models/gemini-2.5-flash-image:generateContent`,
      body: {
        contents: [{ parts: [{ text: 'a harbour' }] }],
        generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
      },
      ignored: ['n', 'size', 'quality'],
    });
    expect((await sentBy(gemini, 'images', { ...request, n: 1 })).ignored).to.deep.equal([]);
  });

  it('come as data, with what they cost', async () => {
    const answer = await answeredBy(gemini, 'images', request, JSON.parse(golden('gemini/images/answer.json')));
    expect(JSON.parse(JSON.stringify(answer))).to.deep.equal({
      data: [{ b64_json: 'iVBORw0KGgo=' }],
      usage: {
        prompt_tokens: 6,
        completion_tokens: 1297,
        total_tokens: 1303,
        input_tokens_details: { text_tokens: 6, image_tokens: 0 },
        output_tokens_details: { text_tokens: 7, image_tokens: 1290 },
      },
    });
    const thought = {
      candidates: [
        { content: { parts: [{ thought: true, inlineData: { data: 'AA==' } }, { inlineData: { data: 'BB==' } }] } },
      ],
      usageMetadata: { promptTokenCount: 1, totalTokenCount: 1, promptTokensDetails: 7, candidatesTokensDetails: [] },
    };
    expect(await answeredBy(gemini, 'images', request, thought)).to.deep.equal({
      data: [{ b64_json: 'BB==' }],
      usage: { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 },
    });
  });

  it('that were refused say why; an answer without any is unusable', async () => {
    expect(refusal(request.model, { promptFeedback: { blockReason: 'SAFETY' } })).to.deep.equal([
      'invalid_request',
      'the prompt was blocked: SAFETY',
      'content_policy',
    ]);
    expect(
      refusal(request.model, { candidates: [{ finishReason: 'IMAGE_SAFETY', finishMessage: 'Unable to show it.' }] }),
    ).to.deep.equal(['invalid_request', 'Unable to show it.', 'content_policy']);
    for (const reason of ['IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION']) {
      expect(
        refusal(request.model, { candidates: [{ finishReason: reason, finishMessage: 'No.' }] }),
        reason,
      ).to.deep.equal(['invalid_request', 'No.', 'content_policy']);
    }
    for (const body of [
      {},
      { candidates: [{ content: { parts: [{ text: 'no' }] }, finishReason: 'STOP' }] },
      { candidates: [null, { content: null }] },
    ]) {
      expect(await unusableTo(gemini, 'images', request, body), JSON.stringify(body)).to.equal(
        'the answer holds no image',
      );
    }
  });
});
