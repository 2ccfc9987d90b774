import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Answers } from '../../builtins/mcp/link/answers.ts';
import type { ToolServerError } from '../../builtins/mcp/link/rpc.ts';
import { chatReply, eventually, replyJson, type StubHandler, stubUpstream, type StubUpstream } from '../kit/index.ts';
import { calling, setUp, stdio, toolContents } from './setup.ts';

const PING = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 'a ping', method: 'ping' })}\n\n`;
const TOO_MUCH = /^it asks faster than it takes answers: \d+ of its requests wait$/;

interface Asking {
  readonly server: StubUpstream;
  /** Answers that the gateway has begun to send, and the most at a time. */
  readonly figures: { answers: number; open: number; most: number };
  /** Sends something on the stream of the last session, as fast as it is taken. */
  readonly say: (text: string) => Promise<void>;
}

/** A tool server behind an address that asks by its stream; `take` ends each answer that it gets. */
async function asking(take: (response: ServerResponse) => unknown): Promise<Asking> {
  const figures = { answers: 0, open: 0, most: 0 };
  let stream: ServerResponse | undefined;
  const handler: StubHandler = async (request, response) => {
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.flushHeaders();
      return;
    }
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = request.json() as { id?: number; method?: string; params?: any };
    if (method === 'initialize')
      replyJson(response, 200, {
        jsonrpc: '2.0',
        id,
        result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'h', version: '1' } },
      });
    else if (method === 'tools/list')
      replyJson(response, 200, { jsonrpc: '2.0', id, result: { tools: [{ name: 'look' }] } });
    else if (method === undefined) {
      figures.answers += 1;
      figures.open += 1;
      figures.most = Math.max(figures.most, figures.open);
      response.on('close', () => {
        figures.open -= 1;
      });
      await take(response);
    } else response.writeHead(202).end();
  };
  const server = await stubUpstream(handler);
  return {
    server,
    figures,
    say: async (text) => {
      await eventually(() => stream !== undefined);
      await new Promise((resolve) => {
        stream?.write(text, resolve);
      });
    },
  };
}

describe('a tool server that asks without end', () => {
  it('over HTTP: has a few answers at a time, all of them in the end', async () => {
    const { server, figures, say } = await asking((response) => {
      setTimeout(() => response.writeHead(202).end(), 3);
    });
    const { ready } = await setUp([{ name: 'h', url: `${server.url}/mcp` }]);
    await ready();
    await say(PING.repeat(400));
    await eventually(() => figures.answers === 400);
    expect([figures.answers, figures.most <= 4]).to.deep.equal([400, true]);
  });

  it('over HTTP: is lost once a thousand wait, with the reason, and holds no sockets', async () => {
    const { server, figures, say } = await asking(() => {});
    const { t, ready, servers } = await setUp([{ name: 'h', url: `${server.url}/mcp` }]);
    await ready();
    for (let sent = 0; sent < 100_000 && servers()[0]?.ready === true; sent += 2000) await say(PING.repeat(2000));
    await eventually(() => servers()[0]?.ready === false);
    expect(servers()[0]?.lastError).to.match(TOO_MUCH);
    expect([figures.most <= 4, figures.answers <= 4]).to.deep.equal([true, true]);
    await eventually(() => figures.open === 0);
    expect(t.lines.filter(({ msg }) => msg === 'mcp server is not ready')).to.have.lengthOf(1);
  });

  it('over HTTP: is lost by what it asks beside an answer, too', async () => {
    const server = await stubUpstream((request, response) => {
      if (request.method === 'POST' && request.json()['method'] === 'initialize')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(PING.repeat(3000));
      else response.writeHead(202).end();
    });
    const { servers } = await setUp([{ name: 'h', url: `${server.url}/mcp` }], { waits: false });
    await eventually(() => TOO_MUCH.test(servers()[0]?.lastError ?? ''));
    expect(servers()[0]?.lastError).to.match(TOO_MUCH);
  });

  it('on standard streams: gets every answer while it reads, and is lost where it does not', async () => {
    const tools = ['pings', 'deafPings'];
    const { chat, messages, servers } = await setUp([stdio('s', { tools })], {
      turns: [calling([['pings', { count: 900 }]]), chatReply('done'), calling([['deafPings']]), chatReply('done')],
    });
    await chat();
    expect(toolContents(messages())).to.deep.equal(['900 answers']);
    await chat();
    expect(toolContents(messages())).to.deep.equal(['{"error":"the tool server is unavailable"}']);
    expect(servers()[0]?.lastError).to.match(TOO_MUCH);
  });
});

describe('answers to a tool server', () => {
  it('are given in their order, and none any more once there are too many', async () => {
    const sent: string[] = [];
    const lost: ToolServerError[] = [];
    let isOut = Promise.withResolvers<void>();
    const answers = new Answers({
      send: (answer) => {
        sent.push(answer);
        return isOut.promise;
      },
      onTooMany: (error) => lost.push(error),
    });
    for (let id = 0; id < 10; id += 1) answers.give({ id, method: id === 5 ? 'sampling/createMessage' : 'ping' });
    expect(sent).to.have.lengthOf(4);
    const before = isOut;
    isOut = Promise.withResolvers();
    before.resolve();
    await eventually(() => sent.length === 8);
    expect(sent.map((answer) => JSON.parse(answer).id)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(JSON.parse(sent[5]!).error.code).to.equal(-32601);
    for (let id = 0; id < 2000; id += 1) answers.give({ id, method: 'ping' });
    expect(lost.map(({ message, trouble }) => [TOO_MUCH.test(message), trouble])).to.deep.equal([
      [true, 'unavailable'],
    ]);
    isOut.resolve();
    await turn();
    expect(sent).to.have.lengthOf(8);
  });

  it('are few where each is long', () => {
    const lost: ToolServerError[] = [];
    const answers = new Answers({ send: () => new Promise(() => {}), onTooMany: (error) => lost.push(error) });
    for (let count = 0; count < 8; count += 1) answers.give({ id: 'i'.repeat(400_000), method: 'ping' });
    expect(lost).to.have.lengthOf(1);
  });
});
