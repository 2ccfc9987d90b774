import { expect } from 'chai';
import { systemClock } from '../../host/common/clock.ts';
import { ask, chatReply, eventually, replyJson, type SeenRequest, type TestHost } from '../kit/index.ts';
import { calling, stdio } from '../mcp/setup.ts';
import { vendorMessage } from '../wires/messages-kit.ts';
import { CLAUDE, OPENAI_MODEL, withVendors } from './vendors.ts';

const models = [
  {
    name: 'smart',
    routes: [
      { target: 'anthropic', model: CLAUDE },
      { target: 'openai', model: OPENAI_MODEL },
    ],
  },
];

/** What each vendor is asked in turn, and how often it answers before it fails. */
function scripted(answers: number): {
  readonly play: Parameters<typeof withVendors>[1] & object;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const call = { type: 'tool_use', id: 'toolu_1', name: 'echo', input: { a: 'x' } };
  const play = (request: SeenRequest, out: Parameters<typeof replyJson>[0]): void => {
    const isClaude = request.url.endsWith('/messages');
    calls.push(isClaude ? 'anthropic' : 'openai');
    const isFirst = !request.text.includes('toolu_1') && !request.text.includes('call_0');
    if (isClaude && calls.filter((name) => name === 'anthropic').length > answers)
      return replyJson(out, 503, { error: { message: 'down' } });
    if (isClaude)
      return replyJson(
        out,
        200,
        isFirst ? vendorMessage([call], { stop_reason: 'tool_use' }) : vendorMessage([{ type: 'text', text: 'done' }]),
      );
    return replyJson(out, 200, isFirst ? calling([['echo', { a: 'x' }]]) : chatReply('done'));
  };
  return { play: { play }, calls };
}

/** A gateway whose tool server is ready. */
async function ready(play: Parameters<typeof withVendors>[1]): Promise<TestHost> {
  const { host } = await withVendors({ models, mcp_servers: [stdio('files')] }, { ...play, clock: systemClock });
  await eventually(
    () =>
      host.host.current?.hooks.toolServers
        .call()
        ?.servers()
        .every((server) => server.ready) === true,
    20_000,
  );
  return host;
}

describe('a loop of tool calls in a group of two kinds', () => {
  it('routes every turn by the group', async () => {
    const { play, calls } = scripted(9);
    const host = await ready(play);
    const answer = await host.post('/v1/chat/completions', ask('hi', { model: 'smart' }));
    expect([answer.status, answer.json().choices?.[0].message.content, answer.json().model]).to.deep.equal([
      200,
      'done',
      'smart',
    ]);
    expect(calls).to.deep.equal(['anthropic', 'anthropic']);
  });

  it('goes on at the next kind where the first fails between two turns', async () => {
    const { play, calls } = scripted(1);
    const host = await ready(play);
    const answer = await host.post('/v1/chat/completions', ask('hi', { model: 'smart' }));
    expect([answer.status, answer.json().choices?.[0].message.content]).to.deep.equal([200, 'done']);
    expect(calls).to.deep.equal(['anthropic', 'anthropic', 'openai']);
    expect(answer.headers.get('x-gateway-target')).to.equal('openai');
    expect(answer.headers.get('x-gateway-attempts')).to.equal('3');
  });
});
