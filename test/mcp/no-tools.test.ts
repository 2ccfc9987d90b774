import { expect } from 'chai';
import { chatReply, openSse, replyJson, sseEvent, type StubUpstream, stubUpstream } from '../kit/index.ts';
import { calling, setUp, type Setup, stdio } from './setup.ts';

const NO_TOOLS = { params: { tools: 'unsupported', seed: 'unsupported' } } as const;
const OWN = { type: 'function', function: { name: 'own', parameters: {} } };

/** A model whose provider cannot be sent tools. */
async function setUpWithout(
  policy: 'warn' | 'drop' | 'reject',
  config: object = {},
): Promise<{ setup: Setup; model: StubUpstream }> {
  const model = await stubUpstream((request, response) => {
    if (!request.json()['stream']) return replyJson(response, 200, chatReply('without'));
    openSse(response);
    response.end(
      sseEvent({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { role: 'assistant', content: 'without' }, finish_reason: 'stop' }],
      }) + sseEvent('[DONE]'),
    );
  });
  const setup = await setUp([stdio('files')], {
    config: { targets: [model.target('a', {}, NO_TOOLS)], compatibility: { on_unsupported_param: policy }, ...config },
  });
  return { setup, model };
}

describe('tools of servers and a target whose provider takes no tools', () => {
  for (const policy of ['warn', 'drop', 'reject'] as const) {
    it(`leave it out of its requests and say nothing of it, with ${policy}`, async () => {
      const { setup, model } = await setUpWithout(policy);
      const answer = await setup.chat();
      expect([answer.status, answer.json().choices?.[0].message.content]).to.deep.equal([200, 'without']);
      expect(answer.headers.get('x-gateway-ignored-params')).to.equal(null);
      expect(model.seen.map((request) => 'tools' in request.json())).to.deep.equal([false]);
    });
  }

  it('do so in a stream, turn by turn', async () => {
    const { setup, model } = await setUpWithout('reject', { mcp: { stream: true } });
    const answer = await setup.chat({ stream: true });
    expect(answer.status).to.equal(200);
    expect(model.seen[0]!.json()).to.not.have.property('tools');
  });

  it('do not hide what the client itself asks for', async () => {
    const { setup } = await setUpWithout('reject');
    const refused = [await setup.chat({ tools: [OWN] }), await setup.chat({ seed: 1 })];
    expect(
      refused.map((answer) => [answer.status, answer.json().error.code, answer.json().error.message]),
    ).to.deep.equal([
      [400, 'unsupported_parameter', 'a does not support: tools'],
      [400, 'unsupported_parameter', 'a does not support: seed'],
    ]);
  });

  it('reach the next target that takes them', async () => {
    const broken = await stubUpstream((_request, response) => replyJson(response, 500, {}));
    const taking = await stubUpstream((request, response) =>
      replyJson(
        response,
        200,
        (request.json()['messages'] as any[]).length > 1 ? chatReply('done') : calling([['echo']]),
      ),
    );
    const { setup } = await setUpWithout('reject', {
      strategy: { mode: 'fallback' },
      targets: [broken.target('a', {}, NO_TOOLS), taking.target('b')],
    });
    expect((await setup.chat()).json().choices[0].message.content).to.equal('done');
    expect(taking.seen.map((request) => (request.json()['tools'] as any[]).length)).to.deep.equal([1, 1]);
  });
});
