import { expect } from 'chai';
import { replyJson, startHost } from '../kit/index.ts';
import { blocked, errorOf, everySurface, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/embeddings';
const vectors = (...embeddings: unknown[]): object => ({
  object: 'list',
  model: 'upstream',
  data: embeddings.map((embedding, index) => ({ object: 'embedding', embedding, index })),
  usage: { prompt_tokens: 5, total_tokens: 5 },
});
const base64Of = (...values: number[]): string => Buffer.from(new Float32Array(values).buffer).toString('base64');
const answering = (body: object): Promise<SurfaceSet> =>
  withUpstream((_request, response) => replyJson(response, 200, body));

describe('embeddings', () => {
  it('answers numbers, the requested model, usage and who served it', async () => {
    const { host, upstream } = await answering(vectors([0.5, -1], [2, 0.25]));
    const answer = await host.post(PATH, { model: 'm', input: ['x', 'y'], dimensions: 2, extra: { deep: 1 } });
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({
      object: 'list',
      model: 'm',
      usage: { prompt_tokens: 5, total_tokens: 5 },
      data: [
        { object: 'embedding', embedding: [0.5, -1], index: 0 },
        { object: 'embedding', embedding: [2, 0.25], index: 1 },
      ],
    });
    expect(answer.headers.get('x-gateway-target')).to.equal('a');
    expect(upstream.seen[0]?.url).to.equal('/embeddings');
    expect(upstream.seen[0]?.json()).to.deep.include({
      model: 'm',
      input: ['x', 'y'],
      dimensions: 2,
      extra: { deep: 1 },
    });
  });

  it('answers base64 although the provider sends numbers', async () => {
    const { host } = await answering(vectors([0.5, -1]));
    const answer = await host.post(PATH, { model: 'm', input: 'x', encoding_format: 'base64' });
    expect(answer.json().data[0].embedding).to.equal(base64Of(0.5, -1));
  });

  it('answers numbers although the provider sends base64', async () => {
    const { host } = await answering(vectors(base64Of(0.5, -1)));
    for (const encoding_format of [undefined, '', null, 'float']) {
      const answer = await host.post(PATH, { model: 'm', input: 'x', encoding_format });
      expect(answer.json().data[0].embedding, String(encoding_format)).to.deep.equal([0.5, -1]);
    }
  });

  for (const [why, body] of [
    ['fewer vectors than inputs', vectors([1])],
    ['more vectors than inputs', vectors([1], [2], [3])],
    ['an error in a 200', { error: { message: 'quota exceeded' } }],
    ['a vector of words', vectors(['a'], ['b'])],
    ['no list', { data: null }],
  ] as const) {
    it(`counts as failed when the provider sends ${why}`, async () => {
      const { host } = await answering(body);
      const answer = await host.post(PATH, { model: 'm', input: ['x', 'y'] });
      expect(answer.status).to.equal(502);
      expect(errorOf(answer)).to.include({ type: 'upstream_error', code: 'upstream_error' });
    });
  }

  for (const [what, input, expected] of [
    ['one list of token ids', [1, 2, 3], 1],
    ['lists of token ids', [[1, 2], [3]], 2],
  ] as const) {
    it(`forwards ${what} unchanged`, async () => {
      const { host, sent } = await answering(vectors(...Array.from({ length: expected }, () => [1])));
      expect((await host.post(PATH, { model: 'm', input })).status).to.equal(200);
      expect(sent()['input']).to.deep.equal(input);
    });
  }

  for (const [body, message] of [
    [{ input: 'x' }, 'model is required'],
    [{ model: 'm' }, 'input is required'],
    [{ model: 'm', input: null }, 'input is required'],
    [{ model: 'm', input: [] }, 'input must hold at least one item'],
    [{ model: 'm', input: {} }, 'input must be'],
    [{ model: 'm', input: ['a', 1] }, 'input must be'],
    [{ model: 'm', input: [[]] }, 'input must be'],
    [{ model: 'm', input: [1.5] }, 'input must be'],
    [{ model: 'm', input: 'x', encoding_format: 'int8' }, 'encoding_format "int8"'],
    [{ model: 'm', input: 'x', dimensions: 'many' }, 'dimensions must be an integer'],
    [{ model: 7, input: 'x' }, 'model must be a string'],
  ] as const) {
    it(`refuses ${JSON.stringify(body)} before any call`, async () => {
      const { host, upstream } = await answering(vectors([1]));
      const answer = await host.post(PATH, body);
      expect(answer.status).to.equal(400);
      expect(errorOf(answer).code).to.equal('invalid_request');
      expect(errorOf(answer).message).to.contain(message);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('is read by guardrails: text is checked, token ids are refused', async () => {
    const { host, upstream } = await withUpstream(
      (_request, response) => replyJson(response, 200, vectors([1])),
      blocked('forbidden'),
    );
    const refused = [{ input: 'forbidden' }, { input: ['fine', 'forbidden'] }, { input: [1, 2] }, { input: [[1]] }];
    for (const body of refused) {
      const answer = await host.post(PATH, { model: 'm', ...body });
      expect([answer.status, errorOf(answer).code], JSON.stringify(body)).to.deep.equal([400, 'request_rejected']);
    }
    expect(upstream.seen).to.have.length(0);
    expect((await host.post(PATH, { model: 'm', input: 'fine' })).status).to.equal(200);
  });

  it('fails over like chat', async () => {
    const { upstream } = await answering(vectors([1]));
    const broken = upstream.target(
      'broken',
      {},
      {
        translators: {
          embeddings: {
            toUpstream: () => ({ path: '/embeddings', body: {} }),
            fromUpstream: () => {
              throw new Error('unusable');
            },
          },
        },
      },
    );
    const next = await startHost({
      strategy: { mode: 'fallback' },
      targets: [broken, upstream.target('a', {}, everySurface)],
    });
    const answer = await next.post(PATH, { model: 'm', input: 'x' });
    expect([
      answer.status,
      answer.headers.get('x-gateway-target'),
      answer.headers.get('x-gateway-attempts'),
    ]).to.deep.equal([200, 'a', '2']);
  });
});
