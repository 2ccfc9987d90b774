import { expect } from 'chai';
import { ask, chatReply, replyJson, startHost, stubUpstream } from '../kit/index.ts';

describe('fallback', () => {
  it('tries the next target when the first answers 500', async () => {
    const broken = await stubUpstream((_request, response) => { response.writeHead(500).end(); });
    const healthy = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const host = await startHost({ strategy: { mode: 'fallback' }, targets: [broken.target('a'), healthy.target('b')] });
    const answer = await host.post('/v1/chat/completions', ask());
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-gateway-target')).to.equal('b');
    expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
  });
});
