import { expect } from 'chai';
import { replyJson } from '../kit/index.ts';
import { blocked, errorOf, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/moderations';
const result = (categories: Record<string, boolean>, more: object = {}): object => ({
  categories,
  category_scores: { violence: 0.5 },
  ...more,
});
const answering = (body: object, config: object = {}): Promise<SurfaceSet> =>
  withUpstream((_request, response) => replyJson(response, 200, body), config);

describe('moderations', () => {
  it('answer the categories as the provider names them', async () => {
    const { host, sent } = await answering({
      id: 'modr-1',
      model: 'upstream',
      results: [result({ violence: true }, { flagged: true, category_applied_input_types: { violence: ['text'] } })],
    });
    const input = [
      { type: 'text', text: 'x' },
      { type: 'image_url', image_url: { url: 'https://images.example/1' } },
    ];
    const answer = await host.post(PATH, { model: 'm', input });
    expect([answer.status, answer.json()]).to.deep.equal([
      200,
      {
        id: 'modr-1',
        model: 'm',
        results: [
          {
            flagged: true,
            categories: { violence: true },
            category_scores: { violence: 0.5 },
            category_applied_input_types: { violence: ['text'] },
          },
        ],
      },
    ]);
    expect(sent()).to.deep.equal({ model: 'm', input });
  });

  it('say whether something is flagged although the provider does not', async () => {
    const { host } = await answering({ results: [result({ violence: false }), result({ violence: true })] });
    const answer = (await host.post(PATH, { model: 'm', input: ['a', 'b'] })).json();
    expect(answer.results.map(({ flagged }: { flagged: boolean }) => flagged)).to.deep.equal([false, true]);
    expect(answer.id).to.match(/^modr-[0-9a-f]{32}$/);
  });

  for (const [body, message] of [
    [{ input: 'x' }, 'model is required'],
    [{ model: 'm' }, 'input is required'],
    [{ model: 'm', input: null }, 'input is required'],
    [{ model: 'm', input: 5 }, 'input must be'],
  ] as const) {
    it(`refuse ${JSON.stringify(body)}`, async () => {
      const { host } = await answering({ results: [] });
      const answer = await host.post(PATH, body);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'invalid_request']);
      expect(errorOf(answer).message).to.contain(message);
    });
  }

  it('have every text of their input read by guardrails', async () => {
    const { host } = await answering({ results: [result({}, { flagged: false })] }, blocked('forbidden'));
    for (const input of ['forbidden', ['fine', 'forbidden'], [{ type: 'text', text: 'forbidden' }]]) {
      expect(errorOf(await host.post(PATH, { model: 'm', input })).code, JSON.stringify(input)).to.equal(
        'request_rejected',
      );
    }
    expect((await host.post(PATH, { model: 'm', input: 'fine' })).status).to.equal(200);
  });

  it('are refused with parts that are not text while a guardrail reads content: it could not see the whole', async () => {
    const { host, sent } = await answering({ results: [result({}, { flagged: false })] }, blocked('forbidden'));
    const answer = await host.post(PATH, {
      model: 'm',
      input: [
        { type: 'text', text: 'fine' },
        { type: 'image_url', image_url: { url: 'https://images.example/1' } },
      ],
    });
    expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'request_rejected']);
    expect(errorOf(answer).message).to.contain('content is not inspectable text');
    expect(sent()).to.deep.equal({});
  });
});
