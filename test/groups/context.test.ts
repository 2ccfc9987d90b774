import { expect } from 'chai';
import { ask, replyJson, startHost, stubUpstream } from '../kit/index.ts';
import { PATH } from './fleet.ts';

const REPLY = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
};

describe('the output limit of a group', () => {
  it("is the ceiling for a format that needs one, in the place of the catalog's; a client's own goes before it", async () => {
    const ceilings: unknown[] = [];
    const upstream = await stubUpstream((request, response) => {
      ceilings.push(request.json()['max_tokens']);
      replyJson(response, 200, REPLY);
    });
    const route = { target: 'anthropic', model: 'claude-sonnet-4-5' };
    const host = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [{ virtual_key: 'anthropic' }],
        models: [
          { name: 'short', routes: [route], context: { max_output_tokens: 777 } },
          { name: 'usual', routes: [route], context: { max_input_tokens: 1000 } },
          {
            name: 'first',
            routes: [{ target: 'anthropic', model: 'other' }],
            context: { max_output_tokens: 5 },
            fallbacks: ['short', 'claude-sonnet-4-5'],
          },
        ],
      },
      { variables: { ANTHROPIC_API_KEY: 'k-0123456789', ANTHROPIC_BASE_URL: `${upstream.url}/v1` } },
    );
    const sent = async (model: string, more: object = {}): Promise<unknown> => {
      expect((await host.post(PATH, ask('hi', { model, ...more }))).status).to.equal(200);
      return ceilings.at(-1);
    };
    const usual = await sent('claude-sonnet-4-5');
    expect(usual).to.be.a('number');
    expect(await sent('short')).to.equal(777);
    expect(await sent('short', { max_tokens: 42 })).to.equal(42);
    expect(await sent('usual')).to.equal(usual);
    expect(await sent('first')).to.equal(5);
  });
});
