import { expect } from 'chai';
import { openSse, sseEvent, startHost, stubUpstream } from '../kit/index.ts';

/** More than an answer may hold, all in the arguments of one call. */
const PIECES = ['{"a":"', ...Array.from({ length: 14 }, () => 'x'.repeat(4 * 1024 * 1024)), '"}'];

describe('a stream for a client of another wire, without plugins', () => {
  it('ends in an error where the upstream sends more than an answer may hold', async function large() {
    this.timeout(60_000);
    const upstream = await stubUpstream((_request, response) => {
      const send = (delta: object, finish: string | null): unknown =>
        response.write(sseEvent({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] }));
      openSse(response);
      send(
        {
          role: 'assistant',
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
        },
        null,
      );
      for (const piece of PIECES) send({ tool_calls: [{ index: 0, function: { arguments: piece } }] }, null);
      send({}, 'tool_calls');
      response.end(sseEvent('[DONE]'));
    });
    const host = await startHost({ strategy: { mode: 'fallback' }, targets: [upstream.target('a')] });
    const answer = await host.post('/v1/messages', {
      model: 'm',
      stream: true,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(answer.text.slice(-400)).to.include('event: error').and.not.include('message_stop');
  });
});
