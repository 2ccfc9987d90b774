import { expect } from 'chai';
import {
  ask,
  eventually,
  fakeClock,
  MASTER_KEY,
  replyStream,
  type SeenRequest,
  startHost,
  stubUpstream,
} from '../kit/index.ts';

describe('a stream that is opened before its first chunk', () => {
  it('says what became of its session behind its headers, which cannot know it', async () => {
    const clock = fakeClock();
    const held: (() => void)[] = [];
    const upstream = await stubUpstream((_request: SeenRequest, response) => {
      held.push(() => replyStream(response, ['hello']));
    });
    const t = await startHost(
      {
        strategy: { mode: 'loadbalance', affinity: 'session' },
        streaming: { open_after: '10s' },
        targets: [upstream.target('a', { weight: 1 })],
      },
      { clock },
    );
    const opening = fetch(`${t.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${MASTER_KEY}`,
        'content-type': 'application/json',
        'x-gateway-session': 's',
      },
      body: JSON.stringify(ask('hi', { stream: true })),
    });
    await eventually(() => held.length === 1);
    clock.advance(10_000);
    const opened = await opening;
    expect(opened.headers.get('x-gateway-target')).to.equal('a');
    expect(opened.headers.get('x-gateway-affinity')).to.equal(null);
    held[0]?.();
    expect(await opened.text()).to.include(' attempts=1 affinity=new\n');
  });
});
