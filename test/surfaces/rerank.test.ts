import { expect } from 'chai';
import { replyJson } from '../kit/index.ts';
import { blocked, errorOf, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/rerank';
const ask = { model: 'm', query: 'q', documents: ['zero', 'one', 'two', 'three'] };
const results = (...scores: readonly (readonly [number, number])[]): object => ({
  id: 'r1',
  results: scores.map(([index, relevance_score]) => ({ index, relevance_score, document: { text: 'from upstream' } })),
});
const answering = (body: object, config: object = {}): Promise<SurfaceSet> =>
  withUpstream((_request, response) => replyJson(response, 200, body), config);

describe('rerank', () => {
  it('answers best first, equal scores as they came, without documents', async () => {
    const { host } = await answering(results([0, 0.2], [1, 0.9], [2, 0.2], [3, 0.5]));
    const answer = await host.post(PATH, ask);
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.include({ model: 'm', id: 'r1' });
    expect(answer.json().results).to.deep.equal([
      { index: 1, relevance_score: 0.9 },
      { index: 3, relevance_score: 0.5 },
      { index: 0, relevance_score: 0.2 },
      { index: 2, relevance_score: 0.2 },
    ]);
  });

  for (const [top_n, expected] of [
    [2, 2],
    [0, 4],
    [9, 4],
    [undefined, 4],
    [null, 4],
  ] as const) {
    it(`answers ${expected} with top_n ${String(top_n)}`, async () => {
      const { host } = await answering(results([0, 0.2], [1, 0.9], [2, 0.2], [3, 0.5]));
      expect((await host.post(PATH, { ...ask, top_n })).json().results).to.have.length(expected);
    });
  }

  it('takes the text of a document that is an object', async () => {
    const { host, upstream } = await answering(results([1, 0.9]));
    const documents = ['zero', { text: 'one' }];
    expect((await host.post(PATH, { ...ask, documents, return_documents: true })).json().results).to.deep.equal([
      { index: 1, relevance_score: 0.9, document: { text: 'one' } },
    ]);
    expect(upstream.seen[0]?.json()['documents']).to.deep.equal(['zero', 'one']);
  });

  it('gives the documents of the request back when asked to', async () => {
    const { host } = await answering(results([2, 0.9]));
    expect((await host.post(PATH, { ...ask, return_documents: true })).json().results).to.deep.equal([
      { index: 2, relevance_score: 0.9, document: { text: 'two' } },
    ]);
  });

  for (const [why, body] of [
    ['a place outside the request', results([7, 1])],
    ['no results', {}],
    ['no score', { results: [{ index: 0 }] }],
  ] as const) {
    it(`counts as failed with ${why}`, async () => {
      const { host } = await answering(body);
      expect((await host.post(PATH, ask)).status).to.equal(502);
    });
  }

  it('counts as failed with another status than 200', async () => {
    const { host } = await withUpstream((_request, response) => replyJson(response, 201, results([0, 1])));
    expect((await host.post(PATH, ask)).status).to.equal(502);
  });

  for (const [body, message] of [
    [{}, 'model is required'],
    [{ model: 'm' }, 'query is required'],
    [{ model: 'm', query: 'q' }, 'documents is required'],
    [{ model: 'm', query: 'q', documents: [] }, 'documents is required'],
    [{ model: 'm', query: 'q', documents: ['a', { text: 'b', title: 'c' }] }, 'documents[1] must be a string'],
    [{ model: 'm', query: 'q', documents: [{ text: 1 }] }, 'documents[0] must be a string'],
    [{ model: 'm', query: 'q', documents: ['a', { title: 'c' }] }, 'documents[1] must be a string'],
    [{ model: 'm', query: 'q', documents: [['a']] }, 'documents[0] must be a string'],
    [{ ...ask, top_n: -1 }, 'top_n must not be negative'],
    [{ ...ask, top_n: 1.5 }, 'top_n must be an integer'],
  ] as const) {
    it(`refuses ${JSON.stringify(body)}`, async () => {
      const { host, upstream } = await answering(results());
      const answer = await host.post(PATH, body);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'invalid_request']);
      expect(errorOf(answer).message).to.contain(message);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('has query and documents read by guardrails', async () => {
    const { host } = await answering(results([0, 1]), blocked('forbidden'));
    for (const body of [
      { ...ask, query: 'forbidden' },
      { ...ask, documents: ['fine', 'forbidden'] },
      { ...ask, documents: ['fine', { text: 'forbidden' }] },
    ]) {
      expect(errorOf(await host.post(PATH, body)).code).to.equal('request_rejected');
    }
  });
});
