import { expect } from 'chai';
import { systemClock } from '../../host/common/clock.ts';
import { ask, chatReply, eventually, replyJson, startHost, stubUpstream } from '../kit/index.ts';
import { calling, stdio } from '../mcp/setup.ts';

describe('a loop of tool calls of a session', () => {
  it('asks the same target in every turn, and is one result', async () => {
    const calls: string[] = [];
    const upstreamOf = (name: string): ReturnType<typeof stubUpstream> =>
      stubUpstream((request, response) => {
        calls.push(name);
        replyJson(response, 200, request.text.includes('call_0') ? chatReply('done') : calling([['echo', { a: 'x' }]]));
      });
    const names = ['a', 'b', 'c'];
    const targets: object[] = [];
    for (const name of names) targets.push((await upstreamOf(name)).target(name, { models: ['m'], weight: 1 }));
    const t = await startHost(
      { strategy: { mode: 'loadbalance', affinity: 'session' }, targets, mcp_servers: [stdio('files')] },
      { clock: systemClock },
    );
    await eventually(
      () =>
        t.host.current?.hooks.toolServers
          .call()
          ?.servers()
          .every((server) => server.ready) === true,
      20_000,
    );
    const homes = new Set<string>();
    for (let at = 0; at < 6; at += 1) {
      calls.length = 0;
      const answer = await t.post('/v1/chat/completions', ask('hi', { model: 'm' }), {
        'x-gateway-session': `s-${at}`,
      });
      expect([answer.status, answer.headers.get('x-gateway-affinity')]).to.deep.equal([200, 'new']);
      expect(calls).to.have.lengthOf(2);
      expect(calls[1]).to.equal(calls[0]);
      homes.add(calls[0] ?? '');
    }
    expect(homes.size).to.be.above(1);
    const counted = t.samples.filter(({ name }) => name === 'gateway_affinity_requests_total');
    expect(counted.map(({ labels }) => labels)).to.deep.equal(
      Array.from({ length: 6 }, () => ({ group: 'none', result: 'new' })),
    );
  });
});
