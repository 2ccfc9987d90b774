import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Outbox } from '../../host/http/outbox.ts';
import { atEnd } from '../kit/index.ts';

/** A real server whose handler is told which request of the test it serves. */
async function serve(handler: (response: ServerResponse, path: string) => void): Promise<(path: string) => Promise<string>> {
  const server = createServer((request, response) => handler(response, request.url ?? ''));
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  atEnd(() => { server.close(); });
  const { port } = server.address() as AddressInfo;
  return (path) => new Promise((resolve, reject) => {
    get({ port, path, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (piece: string) => { text += piece; }).on('end', () => resolve(text)).on('error', reject);
    }).on('error', reject);
  });
}

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('the outbox', () => {
  it('ends answers after everything else of the turn, in the order they came', async () => {
    const outbox = new Outbox();
    const ended: string[] = [];
    const waiting: ServerResponse[] = [];
    const ask = await serve((response, path) => {
      response.on('finish', () => ended.push(path));
      waiting.push(response);
      if (waiting.length < 3) return;
      for (const [index, each] of waiting.entries()) outbox.send(each.writeHead(200), `answer ${index}`);
      expect(waiting.map(({ writableEnded }) => writableEnded)).to.deep.equal([false, false, false]);
    });
    const answers = await Promise.all(['/a', '/b', '/c'].map(ask));
    expect(answers.toSorted()).to.deep.equal(['answer 0', 'answer 1', 'answer 2']);
    expect(ended).to.have.length(3);
  });

  it('holds no more than a few dozen back', () => {
    const outbox = new Outbox();
    const ended: number[] = [];
    const response = (number: number): ServerResponse => ({ destroyed: false, end: () => { ended.push(number); } }) as unknown as ServerResponse;
    for (let number = 0; number < 40; number += 1) outbox.send(response(number), '');
    expect(ended).to.deep.equal(Array.from({ length: 32 }, (_, number) => number));
  });

  it('leaves a connection alone that is gone, and takes more in later turns', async () => {
    const outbox = new Outbox();
    const ended: string[] = [];
    const response = (name: string, destroyed: boolean): ServerResponse => ({ destroyed, end: () => { ended.push(name); } }) as unknown as ServerResponse;
    outbox.send(response('gone', true), '');
    outbox.send(response('here', false), '');
    await turn();
    outbox.send(response('later', false), '');
    await turn();
    expect(ended).to.deep.equal(['here', 'later']);
  });
});
