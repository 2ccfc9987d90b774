import { expect } from 'chai';
import { replyJson } from '../../kit/index.ts';
import { keptRows, LOGGING } from '../kept-rows.ts';
import { commonGateway, ownGateway, says, TEXT } from './kit.ts';

const user = (...parts: readonly object[]): object => ({ role: 'user', parts });
const model = (...parts: readonly object[]): object => ({ role: 'model', parts });
const RESULT = { name: 'f', response: { output: 'done' } };
const PIXEL = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const COUNT = '/v1beta/models/m:countTokens';

describe('counting tokens on the Gemini wire', () => {
  it('is an estimate that errs high where the target speaks another wire', async () => {
    const { host, upstream } = await commonGateway(says({ content: 'a' }));
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20); // 200 tokens of most vendors
    for (const body of [
      { contents: [{ parts: [{ text }] }] },
      { generateContentRequest: { model: 'models/m', contents: [{ parts: [{ text }] }] } },
      { contents: null, generateContentRequest: { contents: [{ parts: [{ text }] }] } },
    ]) {
      const answer = await host.post(COUNT, body);
      expect([
        answer.status,
        answer.headers.get('x-gateway-token-count'),
        answer.headers.get('x-gateway-target'),
      ]).to.deep.equal([200, 'estimate', null]);
      expect(answer.json().totalTokens).to.be.within(200, 280);
    }
    expect(upstream.seen.length).to.equal(0);
  });

  it("is the vendor's own count on the same wire, in its bytes", async () => {
    const { host, upstream } = await ownGateway((_seen, response) =>
      replyJson(response, 200, { totalTokens: 7, promptTokensDetails: [] }),
    );
    const answer = await host.post(COUNT, '{ "contents": [{"parts":[{"text":"hi"}]}] }');
    expect([answer.status, answer.headers.get('x-gateway-token-count'), answer.text]).to.deep.equal([
      200,
      'vendor',
      '{"totalTokens":7,"promptTokensDetails":[]}',
    ]);
    expect([upstream.seen[0]?.url, upstream.seen[0]?.text]).to.deep.equal([
      COUNT,
      '{ "contents": [{"parts":[{"text":"hi"}]}] }',
    ]);
  });

  it('falls back on the estimate when the vendor fails, and passes on what it finds wrong', async () => {
    for (const [status, expected] of [
      [500, [200, 'estimate']],
      [403, [200, 'estimate']],
      [400, [400, null]],
    ] as const) {
      const { host } = await ownGateway((_seen, response) =>
        replyJson(response, status, { error: { code: status, message: 'no', status: 'X' } }),
      );
      const answer = await host.post(COUNT, TEXT);
      expect([answer.status, answer.headers.get('x-gateway-token-count')]).to.deep.equal(expected);
    }
  });

  for (const [what, contents] of [
    ['a result alone, with its picture', [user({ functionResponse: { ...RESULT, parts: [{ inlineData: PIXEL }] } })]],
    [
      'a result of a call with another id',
      [model({ functionCall: { id: 'a', name: 'f' } }), user({ functionResponse: { ...RESULT, id: 'b' } })],
    ],
    [
      'two results of one call',
      [model({ functionCall: { name: 'f' } }), user({ functionResponse: RESULT }, { functionResponse: RESULT })],
    ],
    ['a call that nothing answers', [model({ functionCall: { name: 'f' } }), user({ text: 'go on' })]],
    [
      'one of two calls that is answered',
      [model({ functionCall: { name: 'f' } }, { functionCall: { name: 'g' } }), user({ functionResponse: RESULT })],
    ],
  ] as const)
    it(`counts ${what}: clients count parts of a conversation`, async () => {
      const { rows, builtin } = keptRows();
      const { host, upstream } = await commonGateway(
        says({ content: 'a' }),
        { plugins: LOGGING },
        { builtins: [builtin] },
      );
      for (const body of [{ contents }, { generateContentRequest: { model: 'models/m', contents } }]) {
        const answer = await host.post(COUNT, body);
        expect([answer.status, answer.headers.get('x-gateway-token-count')], answer.text).to.deep.equal([
          200,
          'estimate',
        ]);
        expect(answer.json().totalTokens).to.be.above(4);
      }
      const stages = ['before_request', 'after_request'];
      expect(rows.map(({ stage }) => stage)).to.deep.equal([...stages, ...stages]);
      expect(upstream.seen.length).to.equal(0);
    });

  it('checks all else as the request itself', async () => {
    const { host } = await commonGateway(says({ content: 'a' }));
    for (const [parts, path] of [
      [[{ functionResponse: { response: {} } }], 'contents[0].parts[0].functionResponse.name'],
      [[{ functionResponse: { name: 'f', id: 7 } }], 'contents[0].parts[0].functionResponse.id'],
      [[{ functionResponse: { name: 'f', response: 'x' } }], 'contents[0].parts[0].functionResponse.response'],
      [[{ executableCode: { code: 'x' } }], 'contents[0].parts[0].executableCode'],
    ] as const) {
      const answer = await host.post(COUNT, { contents: [user(...parts)] });
      expect([answer.status, answer.json().error.message.startsWith(path)], answer.text).to.deep.equal([400, true]);
    }
  });

  for (const [what, body, status] of [
    ['two requests', { ...TEXT, generateContentRequest: TEXT }, 400],
    ['none', {}, 400],
    ['another value', { generateContentRequest: 7 }, 400],
    ['contents that are not a list', { contents: 'hi' }, 400],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { host } = await commonGateway(says({ content: 'a' }));
      const answer = await host.post(COUNT, body);
      expect([answer.status, answer.json().error.code]).to.deep.equal([status, status]);
    });
  }

  it('knows models and guardrails as the request itself would meet them', async () => {
    const { host } = await commonGateway(says({ content: 'a' }), {
      plugins: [{ name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['secret'] } }],
    });
    expect((await host.post('/v1beta/models/other:countTokens', TEXT)).status).to.equal(404);
    expect((await host.post(COUNT, { contents: [{ parts: [{ text: 'a secret' }] }] })).json().error).to.include({
      code: 400,
      status: 'INVALID_ARGUMENT',
    });
  });
});
