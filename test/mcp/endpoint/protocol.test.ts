import { expect } from 'chai';
import { ACCEPT, keyWith, startMcp } from './kit.ts';

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

describe('/mcp', () => {
  it('answers initialize with what it is and can do', async () => {
    const host = await startMcp();
    const answer = await host.rpc('initialize', INITIALIZE);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('application/json');
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(answer.headers.get('mcp-session-id')).to.equal(null);
    expect(answer.json()).to.deep.equal({
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: 'gw', version: 'test' },
      },
    });
  });

  for (const [asked, given] of [
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2031-01-01', '2025-11-25'],
    ['x', '2025-11-25'],
  ] as const) {
    it(`speaks ${given} with a client that asks for ${asked}`, async () => {
      const host = await startMcp();
      expect(
        (await host.rpc('initialize', { ...INITIALIZE, protocolVersion: asked })).json().result.protocolVersion,
      ).to.equal(given);
    });
  }

  it('answers ping, and nothing to a notification or an answer', async () => {
    const host = await startMcp();
    expect((await host.rpc('ping')).json()).to.deep.equal({ jsonrpc: '2.0', id: 1, result: {} });
    for (const message of [
      { method: 'notifications/initialized' },
      { method: 'notifications/anything', params: { a: 1 } },
      { id: 7, result: {} },
      { id: 7, error: { code: 1, message: 'm' } },
    ]) {
      const answer = await host.post('/mcp', { jsonrpc: '2.0', ...message }, ACCEPT);
      expect([answer.status, answer.text]).to.deep.equal([202, '']);
    }
  });

  it('keeps the id as it was written', async () => {
    const host = await startMcp();
    for (const id of ['"a\\"b"', '0', '-7', '12345678901234567890', '"12345678901234567890"']) {
      const answer = await host.post('/mcp', `{"jsonrpc":"2.0","id":${id},"method":"ping"}`, {
        ...ACCEPT,
        'content-type': 'application/json',
      });
      expect(answer.text).to.equal(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    }
  });

  it('keeps an id of up to 1,024 characters that is a text or an integer, and answers any other with 400 and without an id', async () => {
    const host = await startMcp();
    const ask = (id: string): ReturnType<typeof host.post> =>
      host.post('/mcp', `{"jsonrpc":"2.0","id":${id},"method":"ping"}`, {
        ...ACCEPT,
        'content-type': 'application/json',
      });
    for (const id of [`"${'x'.repeat(1024)}"`, '9'.repeat(1024), '""'])
      expect((await ask(id)).text).to.equal(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    for (const id of [
      `"${'x'.repeat(1025)}"`,
      '9'.repeat(1025),
      '1.5',
      '1e400',
      '0.1e-2',
      '12345678901234567890.5',
      'null',
      'true',
      '[1]',
      '{"a":1}',
      '{"rawJSON":"1"}',
    ]) {
      const answer = await ask(id);
      expect(answer.status, id.slice(0, 30)).to.equal(400);
      expect(answer.json()).to.deep.equal({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: 'the id of a request is a text or an integer, of at most 1024 characters' },
      });
    }
  });

  it('does not know other methods, in what is answered with 200', async () => {
    const host = await startMcp();
    for (const method of [
      'resources/list',
      'prompts/list',
      'logging/setLevel',
      'completion/complete',
      'tools',
      '__proto__',
      'constructor',
    ]) {
      const answer = await host.rpc(method, {});
      expect(answer.status).to.equal(200);
      expect(answer.json().error.code, method).to.equal(-32601);
    }
  });

  it('is POST alone: there are no sessions, and nothing to listen to', async () => {
    const host = await startMcp();
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD']) {
      const answer = await host.request(method, '/mcp', undefined, {
        accept: 'text/event-stream',
        'mcp-session-id': 'x',
      });
      expect(answer.status, method).to.equal(405);
      expect(answer.headers.get('allow')).to.equal('POST');
      if (method !== 'HEAD') expect(answer.json().error.code).to.equal('method_not_supported');
    }
    expect((await host.rpc('ping', {}, { 'mcp-session-id': 'of another client' })).status).to.equal(200);
  });

  it('answers with one event where the client takes nothing else', async () => {
    const host = await startMcp();
    const answer = await host.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { accept: 'text/event-stream' });
    expect(answer.headers.get('content-type')).to.equal('text/event-stream');
    expect(answer.headers.get('x-accel-buffering')).to.equal('no');
    expect(answer.text).to.equal('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    const called = await host.post(
      '/mcp',
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { a: 1 } } },
      { accept: 'text/event-stream;q=0.9' },
    );
    expect(called.text).to.match(/^event: message\ndata: \{"jsonrpc":"2.0","id":2,"result":\{"content":.*\}\n\n$/);
    const unknown = await host.post(
      '/mcp',
      { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'none' } },
      { accept: 'text/event-stream' },
    );
    expect(unknown.headers.get('content-type')).to.equal('text/event-stream');
  });

  it('needs a live credential of any scope, also where /v1 needs none', async () => {
    const host = await startMcp(undefined, {}, { variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    for (const headers of [{ authorization: '' }, { authorization: 'Bearer gw_wrong' }]) {
      const answer = await host.rpc('ping', {}, headers);
      expect(answer.status).to.equal(401);
      expect(answer.json().error.type).to.equal('authentication_error');
      expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
      expect((await host.request('GET', '/mcp', undefined, headers)).status).to.equal(401);
    }
    for (const scopes of [['read_only'], ['admin']])
      expect((await host.rpc('ping', {}, await keyWith(host, {}, scopes))).status).to.equal(200);
  });

  it('counts requests towards what a key may do in a minute', async () => {
    const host = await startMcp();
    const key = await keyWith(host, { rpm: 2 });
    expect((await host.rpc('tools/list', {}, key)).status).to.equal(200);
    expect((await host.rpc('tools/list', {}, key)).status).to.equal(200);
    const limited = await host.rpc('tools/list', {}, key);
    expect(limited.status).to.equal(429);
    expect(limited.json().error.code).to.equal('rate_limit_exceeded');
    expect(Number(limited.headers.get('retry-after'))).to.be.greaterThan(0);
  });

  it('speaks the version that a header names, if it is known', async () => {
    const host = await startMcp();
    for (const version of ['2025-11-25', '2024-11-05'])
      expect((await host.rpc('ping', {}, { 'mcp-protocol-version': version })).status).to.equal(200);
    const answer = await host.rpc('ping', {}, { 'mcp-protocol-version': '1999-01-01' });
    expect(answer.status).to.equal(400);
    expect(answer.json().error.message).to.contain('2025-11-25');
    expect((await host.rpc('initialize', INITIALIZE, { 'mcp-protocol-version': '1999-01-01' })).status).to.equal(200);
  });
});
