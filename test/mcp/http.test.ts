import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import {
  chatReply,
  eventually,
  openSse,
  replyJson,
  type SeenRequest,
  sseEvent,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
} from '../kit/index.ts';
import { calling, setUp, type Setup, toolContents } from './setup.ts';

type Message = {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string };
};

/** Answers a message that is not the handshake's; `undefined` leaves it to the plain answers. */
type Answering = (message: Message, request: SeenRequest, response: ServerResponse) => unknown;

const resultOf = (id: number | undefined, result: unknown): object => ({ jsonrpc: '2.0', id, result });
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

/** A tool server behind an address. It has the tool `look`, and gives out a session. */
async function httpServer(
  answering: Answering = () => undefined,
  { session = 'session-1', version }: { session?: string | undefined; version?: string } = {},
): Promise<StubUpstream> {
  const handler: StubHandler = async (request, response) => {
    if (request.method !== 'POST') {
      if ((await answering({ method: request.method }, request, response)) === undefined) response.writeHead(405).end();
      return;
    }
    const message = request.json() as unknown as Message;
    if ((await answering(message, request, response)) !== undefined) return;
    const { id, method, params } = message;
    if (id === undefined) response.writeHead(202).end();
    else if (method === 'initialize')
      replyJson(
        response,
        200,
        resultOf(id, {
          protocolVersion: version ?? params?.protocolVersion,
          capabilities: {},
          serverInfo: { name: 'h', version: '1' },
        }),
        session ? { 'mcp-session-id': session } : {},
      );
    else if (method === 'tools/list')
      replyJson(
        response,
        200,
        resultOf(id, { tools: [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }] }),
      );
    else replyJson(response, 200, resultOf(id, text('looked')));
  };
  return stubUpstream(handler);
}

const TURNS: readonly StubHandler[] = [
  (request, response) => {
    const { messages } = request.json() as { messages: readonly { role: string }[] };
    replyJson(response, 200, messages.some(({ role }) => role === 'tool') ? chatReply('done') : calling([['look']]));
  },
];

/** A gateway with that server, and what a model reads of one call of its tool. */
async function withServer(
  server: StubUpstream,
  more: object = {},
): Promise<Setup & { readonly call: () => Promise<string | undefined> }> {
  const setup = await setUp([{ name: 'h', url: `${server.url}/mcp`, ...more }], { turns: TURNS });
  return {
    ...setup,
    call: async () => {
      await setup.chat();
      return toolContents(setup.messages())[0];
    },
  };
}

const calls = (server: StubUpstream, method: string): SeenRequest[] =>
  server.seen.filter((request) => request.method === 'POST' && request.json()['method'] === method);
const onCall =
  (answer: (id: number | undefined, response: ServerResponse, request: SeenRequest) => unknown): Answering =>
  ({ id, method }, request, response) =>
    method === 'tools/call' ? (answer(id, response, request) ?? true) : undefined;

const FAILED = '{"error":"the tool call failed"}';

describe('a tool server over HTTP', () => {
  it('is spoken to with the headers of the protocol, and the configured ones win', async () => {
    const server = await httpServer();
    const { call } = await withServer(server, {
      headers: { Authorization: 'Bearer ${STUB_API_KEY}', accept: 'application/json, text/event-stream, x/y' },
    });
    expect(await call()).to.equal('looked');
    const [opening] = calls(server, 'initialize');
    expect(opening!.json()).to.deep.equal({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'gw', version: 'test' } },
    });
    expect(opening!.headers)
      .to.deep.include({
        'content-type': 'application/json',
        authorization: 'Bearer stub-key',
        accept: 'application/json, text/event-stream, x/y',
      })
      .and.not.have.any.keys('mcp-session-id', 'mcp-protocol-version');
    for (const later of server.seen.slice(1))
      expect(later.headers).to.deep.include({
        'mcp-session-id': 'session-1',
        'mcp-protocol-version': '2025-11-25',
        authorization: 'Bearer stub-key',
      });
    const ids = server.seen.flatMap((request) =>
      request.method === 'POST' ? ((request.json()['id'] as number | undefined) ?? []) : [],
    );
    expect(ids).to.deep.equal([1, 2, 3]);
    expect(server.seen.map(({ method }) => method)).to.include('GET');
    expect(calls(server, 'notifications/initialized')).to.have.lengthOf(1);
  });

  it('gets the userinfo of its address as a credential, and neither that nor its query is shown', async () => {
    const server = await httpServer(
      onCall((_id, response) => response.writeHead(500).end('no: swordfish-42 and token-in-query')),
    );
    const address = server.url.replace('http://', 'http://user:swordfish-42@');
    const setup = await setUp([{ name: 'h', url: `${address}/mcp?key=token-in-query` }], { turns: TURNS });
    await setup.chat();
    expect(server.seen[0]!.headers.authorization).to.equal(
      `Basic ${Buffer.from('user:swordfish-42').toString('base64')}`,
    );
    expect(server.seen[0]!.url).to.equal('/mcp?key=token-in-query');
    await server.close();
    await setup.chat();
    await eventually(() => !setup.servers()[0]!.ready);
    expect(setup.t.texts.join('\n') + JSON.stringify(setup.servers()))
      .to.not.include('swordfish')
      .and.not.include('token-in-query');
  });

  const answers: Readonly<Record<string, (id: number | undefined, response: ServerResponse) => void>> = {
    'a JSON body with parameters of its type': (id, response) =>
      replyJson(response, 200, resultOf(id, text('looked')), { 'content-type': 'application/json; charset=utf-8' }),
    'an event': (id, response) => {
      openSse(response);
      response.end(sseEvent(resultOf(id, text('looked'))));
    },
    'an event of a stream that does not end': (id, response) => {
      openSse(response);
      response.write(sseEvent(resultOf(id, text('looked'))));
    },
    'an event behind comments, notifications and other events': (id, response) => {
      openSse(response);
      response.end(
        `: hello\n\ndata: not json\n\nevent: message\n${sseEvent({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })}${sseEvent(resultOf(id, text('looked')))}`,
      );
    },
    'an event of several lines': (id, response) => {
      openSse(response);
      response.end(`data: ${JSON.stringify(resultOf(id, text('looked'))).replace('"result"', '\ndata: "result"')}\n\n`);
    },
    'a last event without its blank line': (id, response) => {
      openSse(response);
      response.end(`data: ${JSON.stringify(resultOf(id, text('looked')))}`);
    },
    'a long line': (id, response) => {
      openSse(response);
      response.end(sseEvent({ ...resultOf(id, text('looked')), padding: 'x'.repeat(9 * 1024 * 1024) }));
    },
  };
  for (const [what, answer] of Object.entries(answers)) {
    it(`may answer with ${what}`, async () => {
      const { call } = await withServer(await httpServer(onCall(answer)));
      expect(await call()).to.equal('looked');
    });
  }

  const failures: Readonly<Record<string, (id: number | undefined, response: ServerResponse) => void>> = {
    'a status that is not 200': (_id, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end('secret of the server');
    },
    'a redirect to its own origin': (_id, response) => {
      response.writeHead(307, { location: '/elsewhere?token=abc' }).end();
    },
    'a JSON-RPC error': (id, response) =>
      replyJson(response, 200, { jsonrpc: '2.0', id, error: { code: -32000, message: 'secret of the server' } }),
    'a result that is null': (id, response) => replyJson(response, 200, resultOf(id, null)),
    'what is not JSON': (_id, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
    },
    'a body that breaks off': (_id, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"jsonrpc"');
      setImmediate(() => response.destroy());
    },
    'an answer of 50 MB': (_id, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(Buffer.alloc(50 * 1024 * 1024, 0x20));
    },
    'more lists than are read': (id, response) =>
      replyJson(
        response,
        200,
        resultOf(id, { content: [], structuredContent: { a: Array.from({ length: 500_000 }, () => []) } }),
      ),
    'more members than are read': (id, response) => {
      openSse(response);
      response.end(sseEvent(resultOf(id, { content: [], a: Array.from({ length: 500_001 }, () => ({ b: 1 })) })));
    },
    'a stream that ends without an answer': (_id, response) => {
      openSse(response);
      response.end(': nothing\n\n');
    },
  };
  for (const [what, answer] of Object.entries(failures)) {
    it(`fails a call with ${what}, and stays ready`, async () => {
      const server = await httpServer(onCall(answer));
      const { call, servers, t } = await withServer(server);
      expect(await call()).to.equal(FAILED);
      expect(servers()[0]!.ready).to.equal(true);
      expect(calls(server, 'tools/call')).to.have.lengthOf(1);
      expect(t.texts.join('\n')).to.not.include('token=abc');
    });
  }

  it('has its time for a call, and hears that nothing waits any longer', async () => {
    const server = await httpServer(onCall(() => undefined));
    const { call, servers } = await withServer(server, { timeout_seconds: 1 });
    expect(await call()).to.equal('{"error":"the tool call timed out"}');
    await eventually(() => calls(server, 'notifications/cancelled').length === 1);
    expect(calls(server, 'notifications/cancelled')[0]!.json()['params']).to.deep.include({ requestId: 3 });
    expect(servers()[0]!.ready).to.equal(true);
  });

  it('that has forgotten the session gets a new handshake and the call once more', async () => {
    let forgets = true;
    const server = await httpServer(({ method }, request, response) => {
      if (method !== 'tools/call' || !forgets) return undefined;
      expect(request.headers['mcp-session-id']).to.equal('session-1');
      forgets = false;
      response.writeHead(404).end();
      return true;
    });
    const { call } = await withServer(server);
    expect(await call()).to.equal('looked');
    expect([calls(server, 'initialize').length, calls(server, 'tools/call').length]).to.deep.equal([2, 2]);
  });

  it('that always answers 404 fails the call after one try more', async () => {
    const server = await httpServer(onCall((_id, response) => response.writeHead(404).end()));
    const { call } = await withServer(server);
    expect(await call()).to.equal(FAILED);
    expect(calls(server, 'tools/call')).to.have.lengthOf(2);
  });

  it('is used although it speaks an unknown version, with a warning', async () => {
    const server = await httpServer(undefined, { version: '2099-01-01' });
    const { call, t } = await withServer(server);
    expect(await call()).to.equal('looked');
    expect(calls(server, 'tools/call')[0]!.headers['mcp-protocol-version']).to.equal('2099-01-01');
    expect(t.lines.find(({ msg }) => msg === 'mcp server speaks a protocol version that is not known')).to.include({
      level: 'WARN',
      server: 'h',
      version: '2099-01-01',
    });
  });

  it('may ask whether the gateway lives, and say that its tools have changed, on a stream of its own', async () => {
    let stream: ServerResponse | undefined;
    let hasChanged = false;
    const server = await httpServer(({ id, method }, _request, response) => {
      if (method === 'GET') {
        openSse(response);
        stream = response;
        return true;
      }
      if (method !== 'tools/list' || !hasChanged) return undefined;
      replyJson(response, 200, resultOf(id, { tools: [{ name: 'fresh' }] }));
      return true;
    });
    const { t } = await withServer(server);
    await eventually(() => stream !== undefined);
    stream!.write(
      sseEvent({ jsonrpc: '2.0', id: 'p', method: 'ping' }) +
        sseEvent({ jsonrpc: '2.0', id: 'r', method: 'roots/list' }),
    );
    await eventually(
      () => server.seen.filter(({ text: body }) => body.includes('"p"') || body.includes('"r"')).length === 2,
    );
    const told = server.seen
      .filter(({ text: body }) => body.includes('"p"') || body.includes('"r"'))
      .map((request) => request.json());
    expect(told).to.deep.include({ jsonrpc: '2.0', id: 'p', result: {} });
    expect(told.find(({ id }) => id === 'r')!['error']).to.include({ code: -32601 });
    hasChanged = true;
    stream!.write(sseEvent({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }));
    const tools = (): readonly object[] => t.host.current!.hooks.toolServers.call()!.tools();
    await eventually(() => JSON.stringify(tools()).includes('fresh'));
    expect(tools()).to.deep.equal([{ server: 'h', tool: { name: 'fresh', inputSchema: { type: 'object' } } }]);
  });

  it('has its session ended with the gateway', async () => {
    const server = await httpServer();
    const { t } = await withServer(server);
    await t.close();
    expect(
      server.seen.filter(({ method }) => method === 'DELETE').map(({ headers }) => headers['mcp-session-id']),
    ).to.deep.equal(['session-1']);
  });

  it('that cannot be reached is lost, and tried again until it is there', async () => {
    const server = await httpServer();
    const { call, servers, t } = await withServer(server);
    await server.close();
    await eventually(async () => {
      await call();
      return !servers()[0]!.ready;
    });
    expect(servers()[0]!.lastError).to.equal('the connection failed: ECONNREFUSED');
    const lost = t.lines.find(({ msg }) => msg === 'mcp server is not ready');
    expect(lost).to.include({ server: 'h' });
    expect(lost!['error']).to.match(/^the connection failed: ECONNREFUSED: connect ECONNREFUSED /);
  });

  it('that refuses the handshake is quoted in the log alone', async () => {
    const refuse =
      (answer: (response: ServerResponse, id: number | undefined) => unknown): Answering =>
      ({ method, id }, _request, response) =>
        method === 'initialize' ? (answer(response, id) ?? true) : undefined;
    for (const [server, reason] of [
      [
        await httpServer(refuse((response) => response.writeHead(401).end('ask for a token at the front desk'))),
        'the server answered with status 401',
      ],
      [
        await httpServer(
          refuse((response, id) =>
            replyJson(response, 200, {
              jsonrpc: '2.0',
              id,
              error: { code: -32002, message: 'ask for a token at the front desk' },
            }),
          ),
        ),
        'the server answered with the error -32002',
      ],
    ] as const) {
      const setup = await setUp([{ name: 'h', url: server.url }], { waits: false });
      await eventually(() => setup.t.lines.some(({ msg }) => msg === 'mcp server is not ready'));
      expect(setup.servers()[0]!.lastError).to.equal(reason);
      expect(setup.t.lines.find(({ msg }) => msg === 'mcp server is not ready')!['error']).to.equal(
        `${reason}: ask for a token at the front desk`,
      );
    }
  });

  it('without a usable address is not ready, and its address is not shown', async () => {
    const setup = await setUp([{ name: 'h', url: 'ftp://user:pass-word@host/x' }], { waits: false });
    await eventually(() => setup.servers()[0]!.lastError.startsWith('its url'));
    expect(setup.servers()[0]!.lastError).to.equal('its url is not an http or https address');
  });
});
