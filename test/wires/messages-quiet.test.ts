import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { chatChunks, fakeClock, MASTER_KEY, openSse, sseEvent } from '../kit/index.ts';
import { crossWire, eventsOf, hello, PATH } from './messages-kit.ts';

describe('a stream of the Messages wire that is quiet', () => {
  it('says every 15 seconds that it goes on, and nothing more once it has ended', async () => {
    const clock = fakeClock();
    const opened = Promise.withResolvers<ServerResponse>();
    const [first, second, ...rest] = chatChunks(['a', 'b']) as [object, object, ...object[]];
    const { host } = await crossWire(
      (_request, response) => {
        openSse(response);
        response.write(sseEvent(first) + sseEvent(second));
        opened.resolve(response);
      },
      {},
      { clock },
    );
    const answer = await fetch(host.url + PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, stream: true }),
    });
    const reader = answer.body?.getReader();
    let text = '';
    const until = async (count: number): Promise<void> => {
      while ((text.match(/event: ping/g) ?? []).length < count)
        text += Buffer.from((await reader?.read())?.value ?? []).toString('utf8');
    };
    await until(1);
    for (let pings = 2; pings <= 3; pings += 1) {
      clock.advance(15_000);
      await until(pings);
    }
    const upstream = await opened.promise;
    upstream.end(`${rest.map((chunk) => sseEvent(chunk)).join('')}data: [DONE]\n\n`);
    await once(upstream, 'finish');
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
      text += Buffer.from(piece.value).toString('utf8');
    clock.advance(60_000);
    const types = eventsOf(text).map(({ type }) => type);
    expect(types.filter((type) => type === 'ping')).to.have.length(3);
    expect(types.at(-1)).to.equal('message_stop');
  });
});
