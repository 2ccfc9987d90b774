import { expect } from 'chai';
import { fakeClock, startHost, stubUpstream } from '../kit/index.ts';
import { bodyText, FAULT_VECTORS, titleOf } from '../upstream/fault-vectors.ts';

/** One for each status and class. */
const TRIED = FAULT_VECTORS.filter(
  ({ status, reason }, at) =>
    FAULT_VECTORS.findIndex((other) => other.status === status && other.reason === reason) === at,
);

/** A path that no route takes, so that it goes on as it is. */
const PATH = '/v1/anything';

describe('failures of what is passed through', () => {
  it('are the bytes of the provider, park nothing, and have no header of ours', async () => {
    let at = 0;
    const first = await stubUpstream((request, response) => {
      const vector = TRIED[at];
      if (request.url.includes('anything') && vector) {
        response.writeHead(vector.status, { 'content-type': 'application/json', ...vector.headers });
        response.end(bodyText(vector));
      } else response.writeHead(500).end();
    });
    const second = await stubUpstream((_request, response) => {
      response.writeHead(500).end();
    });
    const clock = fakeClock();
    const host = await startHost(
      { strategy: { mode: 'fallback' }, targets: [first.target('a', {}, { passthrough: true }), second.target('b')] },
      { clock },
    );
    for (const vector of TRIED) {
      clock.advance(61_000); // a 429 parks, as it always did
      const before = first.seen.length;
      const answer = await host.post(PATH, { model: 'm' }, { 'x-provider': 'a' });
      expect([answer.status, answer.text], titleOf(vector)).to.deep.equal([vector.status, bodyText(vector)]);
      expect(answer.headers.get('x-should-retry'), titleOf(vector)).to.equal(null);
      expect(first.seen.length - before).to.equal(1);
      if (vector.status !== 429) {
        await host.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }] });
        expect(first.seen.length - before, `${titleOf(vector)}: the next request is sent there`).to.equal(2);
      }
      at += 1;
    }
  });
});
