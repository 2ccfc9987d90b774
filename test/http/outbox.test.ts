import { connect } from 'node:net';
import { expect } from 'chai';
import { type Leaving, Outbox } from '../../host/http/outbox.ts';
import { startHost, stubUpstream } from '../kit/index.ts';

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('the outbox', () => {
  const left: number[] = [];
  const destroyed: string[] = [];
  const logged: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message: string) => {
      logged.push(message);
    },
  };
  const response = {
    destroy: () => {
      destroyed.push('destroyed');
      return response;
    },
  } as never;
  const leaving = (number: number): Leaving => ({
    response,
    leave: () => {
      left.push(number);
    },
  });

  beforeEach(() => {
    left.length = 0;
  });

  it('lets everything leave at the end of the turn, in the order it came', async () => {
    const outbox = new Outbox(log);
    for (const number of [1, 2, 3]) outbox.add(leaving(number));
    await Promise.resolve();
    expect(left).to.deep.equal([]);
    await turn();
    expect(left).to.deep.equal([1, 2, 3]);
  });

  it('holds no more than a few dozen back', async () => {
    const outbox = new Outbox(log);
    const all = Array.from({ length: 40 }, (_, number) => number);
    for (const number of all) outbox.add(leaving(number));
    expect(left).to.deep.equal(all.slice(0, 32));
    await turn();
    expect(left).to.deep.equal(all);
  });

  it('takes what is added while it empties, and more in later turns', async () => {
    const outbox = new Outbox(log);
    outbox.add({
      response,
      leave: () => {
        left.push(1);
        outbox.add(leaving(2));
      },
    });
    await turn();
    await turn();
    outbox.add(leaving(3));
    await turn();
    expect(left).to.deep.equal([1, 2, 3]);
  });

  it('sends all others when one answer cannot be written', async () => {
    const outbox = new Outbox(log);
    outbox.add({
      response,
      leave: () => {
        throw new Error('why');
      },
    });
    outbox.add(leaving(2));
    await turn();
    expect([left, destroyed, logged]).to.deep.equal([[2], ['destroyed'], ['an answer could not be written']]);
  });

  it('sends an answer to the end although what follows it on the connection is not HTTP', async () => {
    const upstream = await stubUpstream((_request, answer) => {
      answer.end();
    });
    const t = await startHost({ targets: [upstream.target('a')] });
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(Number(new URL(t.url).port), '127.0.0.1', () => {
        socket.write(
          'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Basic x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
        );
      });
      socket
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          received += piece;
        })
        .on('close', () => resolve(received))
        .on('error', () => {});
    });
    expect(text)
      .to.match(/^HTTP\/1\.1 401 /)
      .and.to.match(/\}$/);
  });

  it('does not wait for a slow request of another client', async () => {
    const quickIsAnswered = Promise.withResolvers<void>();
    const upstream = await stubUpstream(async (request, response) => {
      if (request.text.includes('slow')) await quickIsAnswered.promise;
      response.end(
        JSON.stringify({
          choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
        }),
      );
    });
    const t = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')] });
    const statusOf = async (content: string): Promise<number> =>
      (await t.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }] })).status;
    const slow = statusOf('slow');
    expect(await statusOf('quick')).to.equal(200);
    quickIsAnswered.resolve();
    expect(await slow).to.equal(200);
  });
});
