import { expect } from 'chai';
import { gatewayOf, replyJson } from '../../kit/index.ts';
import { goldenJson, serving } from './support.ts';

const PATH = '/v1/moderations';
const CASES = serving('moderations');

describe('moderations', () => {
  it('are covered for every provider that serves them', () => {
    expect(CASES.map(({ name }) => name)).to.deep.equal(['mistral', 'openai']);
  });

  for (const { facts, name, model, url } of CASES) {
    it(`at ${name} forward the request as it is`, async () => {
      const { host, upstream } = await gatewayOf(facts, (_request, response) =>
        replyJson(response, 200, goldenJson(`${name}/moderations/reply.json`)),
      );
      const parts = [
        { type: 'text', text: 'one' },
        { type: 'image_url', image_url: { url: 'https://h/a.png' } },
      ];
      for (const input of ['one', ['one', 'two'], parts]) {
        const answer = await host.post(PATH, { model, input, brand_new_field: 7 });
        expect(answer.status, answer.text).to.equal(200);
        expect(upstream.seen.at(-1)!.json()).to.deep.equal({ model, input, brand_new_field: 7 });
      }
      expect(upstream.seen[0]).to.include({ method: 'POST', url: new URL(url(upstream.url)).pathname });
    });
  }

  it('of openai keep 13 categories, their scores, what they apply to, and the flag', async () => {
    const [{ facts, model }] = CASES.filter(({ name }) => name === 'openai') as [(typeof CASES)[number]];
    const wire = goldenJson('openai/moderations/reply.json');
    const { host } = await gatewayOf(facts, (_request, response) => replyJson(response, 200, wire));
    const reply = (await host.post(PATH, { model, input: 'one' })).json();
    expect(reply).to.deep.include({ id: wire.id, model, results: wire.results });
    expect(Object.keys(reply.results[0].categories)).to.have.length(13);
  });

  it('of mistral are flagged when any of the nine categories is', async () => {
    const [{ facts, model }] = CASES.filter(({ name }) => name === 'mistral') as [(typeof CASES)[number]];
    const wire = goldenJson('mistral/moderations/reply.json');
    const { host } = await gatewayOf(facts, (_request, response) => replyJson(response, 200, wire));
    const { id, results } = (await host.post(PATH, { model, input: ['one', 'two'] })).json();
    expect(id).to.equal(wire.id);
    expect(results.map(({ flagged }: { flagged: boolean }) => flagged)).to.deep.equal([false, true]);
    for (const [at, { categories, category_scores }] of results.entries())
      expect({ categories, category_scores }).to.deep.equal(wire.results[at]);
    expect(Object.keys(results[0].categories)).to.have.length(9);
  });
});
