import { expect } from 'chai';
import { gatewayOf, minimal, replyJson } from '../../kit/index.ts';
import { factsOf, goldenJson, serving } from './support.ts';

const PATH = '/v1/rerank';
const CASES = serving('rerank');
const DOCUMENTS = ['first', 'second', 'third', 'fourth'];

type Body = Record<string, any>;

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** What each golden reply means: order, scores and counts. See docs/reference/providers.md#rerank. */
const MEANT: Readonly<
  Record<
    string,
    { readonly order: readonly number[]; readonly scores: readonly number[]; readonly meta: Body; readonly id?: string }
  >
> = {
  deepinfra: { order: [1, 3, 2, 0], scores: [0.9, 0.9, 0.5, 0.1], meta: { tokens: { input_tokens: 42 } } },
  'nvidia-nim': {
    order: [1, 0, 3, 2],
    scores: [1.5, 0.25, -0.5, -3].map(sigmoid),
    meta: { tokens: { input_tokens: 57 } },
  },
  together: { order: [1, 3], scores: [0.75, 0.625], meta: { tokens: { input_tokens: 39 } }, id: 'rr-20261121' },
};

/** The body of a request for two results with their documents. */
const BODIES: Readonly<Record<string, (model: string) => Body>> = {
  deepinfra: () => ({ queries: ['q'], documents: DOCUMENTS }),
  'nvidia-nim': (model) => ({
    model,
    query: { text: 'q' },
    passages: DOCUMENTS.map((text) => ({ text })),
    truncate: 'END',
  }),
  together: (model) => ({ model, query: 'q', documents: DOCUMENTS, top_n: 2, return_documents: true }),
};

describe('rerank', () => {
  it('is covered for every provider that serves it', () => {
    expect(Object.keys(MEANT).toSorted()).to.deep.equal(CASES.map(({ name }) => name).toSorted());
    expect(Object.keys(BODIES).toSorted()).to.deep.equal(CASES.map(({ name }) => name).toSorted());
  });

  for (const { facts, name, model, url } of CASES) {
    const meant = MEANT[name]!;
    const gateway = (reply: unknown = goldenJson(`${name}/rerank/reply.json`)) =>
      gatewayOf(facts, (_request, response) => replyJson(response, 200, reply));

    it(`at ${name} is asked in its own shape`, async () => {
      const { host, upstream } = await gateway();
      const answer = await host.post(PATH, { ...minimal('rerank', model), top_n: 2, return_documents: true });
      expect(answer.status, answer.text).to.equal(200);
      expect(upstream.seen[0]).to.include({ method: 'POST', url: new URL(url(upstream.url)).pathname });
      expect(upstream.seen[0]!.json()).to.deep.equal(BODIES[name]!(model));
      if (name === 'nvidia-nim') expect(upstream.seen[0]!.headers.accept).to.equal('application/json');
    });

    it(`at ${name} answers best first, with positions of the request, the model and what was counted`, async () => {
      const { host } = await gateway();
      const reply = (await host.post(PATH, minimal('rerank', model))).json();
      expect(reply.results.map(({ index }: Body) => index)).to.deep.equal(meant.order);
      for (const [at, score] of meant.scores.entries())
        expect(reply.results[at].relevance_score).to.be.closeTo(score, 1e-9);
      for (const result of reply.results) expect(result).to.not.have.property('document');
      expect(reply).to.include({ model }).and.to.have.deep.property('meta', meant.meta);
      expect(reply.id).to.equal(meant.id);
    });

    it(`at ${name} caps at top_n, takes 0 and more than there are for all, and adds documents when asked`, async () => {
      for (const [top_n, count] of [
        [1, 1],
        [0, meant.order.length],
        [99, meant.order.length],
        [undefined, meant.order.length],
      ] as const) {
        const { host } = await gateway();
        const { results } = (
          await host.post(PATH, {
            ...minimal('rerank', model),
            return_documents: true,
            ...(top_n !== undefined && { top_n }),
          })
        ).json();
        expect(results.map(({ index, document }: Body) => [index, document])).to.deep.equal(
          meant.order.slice(0, count).map((index) => [index, { text: DOCUMENTS[index] }]),
        );
      }
    });

    it(`at ${name} refuses a negative top_n before any call`, async () => {
      const { host, upstream } = await gateway();
      expect((await host.post(PATH, { ...minimal('rerank', model), top_n: -1 })).status).to.equal(400);
      expect(upstream.seen).to.have.length(0);
    });

    it(`at ${name} with positions or scores that cannot be is a failure`, async () => {
      const impossible = {
        deepinfra: [{ scores: [1] }, { scores: [1, 2, 3, 'x'] }, { scores: [1, 2, 3, 4, 5] }],
        'nvidia-nim': [
          { rankings: [{ index: 9, logit: 1 }] },
          { rankings: [{ index: -1, logit: 1 }] },
          { rankings: [{ index: 0 }] },
        ],
        together: [{ results: [{ index: 9, relevance_score: 1 }] }, { results: [{ index: 0 }] }],
      };
      const { host, answerWith } = await gatewayOf(facts);
      for (const body of impossible[name as keyof typeof impossible]) {
        answerWith((_request, response) => replyJson(response, 200, body));
        const answer = await host.post(PATH, minimal('rerank', model));
        expect(answer.status, `${answer.text} of ${JSON.stringify(body)}`).to.equal(502);
      }
    });
  }

  it('keeps the order of equals', async () => {
    const { host } = await gatewayOf(factsOf('deepinfra'), (_request, response) =>
      replyJson(response, 200, { scores: [0.5, 0.5, 0.5, 0.5] }),
    );
    const reply = (await host.post(PATH, minimal('rerank', 'Qwen/Qwen3-Reranker-4B'))).json();
    expect(reply.results.map(({ index }: Body) => index)).to.deep.equal([0, 1, 2, 3]);
    expect(reply.meta?.tokens).to.equal(undefined);
  });
});
