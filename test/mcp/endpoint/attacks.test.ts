import { expect } from 'chai';
import { expectProportion, MASTER_KEY, rawClient } from '../../kit/index.ts';
import { ACCEPT, result, startMcp, text } from './kit.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('/mcp under attack', () => {
  for (const [what, body, code] of [
    ['nothing', '', -32700],
    ['half a message', '{"jsonrpc":"2.0"', -32700],
    ['two messages', `${JSON.stringify(PING)}${JSON.stringify(PING)}`, -32700],
    ['bytes that are not a text', new Uint8Array([0x7b, 0xff, 0x7d]), -32700],
    [
      'deep nesting',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`,
      -32700,
    ],
    ['a list of messages', [PING, PING], -32600],
    ['an empty list', [], -32600],
    ['a number', '5', -32600],
    ['null', 'null', -32600],
    ['another version', { ...PING, jsonrpc: '1.0' }, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32600],
    ['a method that is an object', { ...PING, method: {} }, -32600],
    ['an id that is null', { ...PING, id: null }, -32600],
    ['an id that is an object', { ...PING, id: { a: 1 } }, -32600],
    ['an id that is a list', { ...PING, id: [1] }, -32600],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const host = await startMcp();
      const answer = await host.request('POST', '/mcp', body, { ...ACCEPT, ...JSON_TYPE });
      expect(answer.status).to.equal(400);
      expect(answer.json()).to.deep.include({ jsonrpc: '2.0' });
      expect(answer.json().error.code).to.equal(code);
    });
  }

  it('takes params that are an object, or none', async () => {
    const host = await startMcp();
    for (const params of [[1], 'text', 7, null]) {
      const answer = await host.post('/mcp', { ...PING, params }, ACCEPT);
      expect([answer.status, answer.json().error.code, answer.json().id]).to.deep.equal([200, -32602, 1]);
    }
  });

  it('reads no more of a body than it may', async () => {
    const host = await startMcp(undefined, { max_request_bytes: 10_000 });
    const answer = await host.request(
      'POST',
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"${'x'.repeat(20_000)}"}}}`,
      { ...ACCEPT, ...JSON_TYPE },
    );
    expect(answer.status).to.equal(413);
    expect(answer.json().error.code).to.equal('request_too_large');
  });

  it('does not read a body of 50 MB that is announced', async () => {
    const host = await startMcp();
    const client = await rawClient(host.url);
    client.send(
      `POST /mcp HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${50 * 1024 * 1024}\r\n\r\n{"jsonrpc"`,
    );
    expect(await client.until(/request_too_large/)).to.match(/^HTTP\/1\.1 413 /);
    client.socket.destroy();
  });

  it('refuses bodies of another type', async () => {
    const host = await startMcp();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=b',
      'application/jsonp',
      'text/plain, application/json',
    ]) {
      const answer = await host.request('POST', '/mcp', JSON.stringify(PING), { ...ACCEPT, 'content-type': type });
      expect(answer.status, type).to.equal(415);
      expect(answer.json().error.code).to.equal(-32000);
    }
    for (const type of ['application/json; charset=utf-8', 'Application/JSON'])
      expect(
        (await host.request('POST', '/mcp', JSON.stringify(PING), { ...ACCEPT, 'content-type': type })).status,
      ).to.equal(200);
  });

  it('answers JSON to a client that does not say what it takes, and nothing to one that takes neither form', async () => {
    const host = await startMcp();
    const client = await rawClient(host.url);
    const body = JSON.stringify(PING);
    client.send(
      `POST /mcp HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(await client.until(/"result"/)).to.match(/^HTTP\/1\.1 200 /);
    client.socket.destroy();
    for (const accept of ['text/html', 'image/*']) {
      const answer = await host.post('/mcp', PING, { accept });
      expect([answer.status, answer.json().error.code]).to.deep.equal([406, -32000]);
    }
    for (const accept of ['*/*', 'application/*', 'text/html, application/json;q=0.1'])
      expect((await host.post('/mcp', PING, { accept })).headers.get('content-type')).to.equal('application/json');
  });

  it('serves no page of another site, whatever name that has for this machine', async () => {
    const host = await startMcp(undefined, {}, { variables: { CORS_ORIGINS: 'https://listed.example' } });
    const { host: own } = new URL(host.url);
    const statusOf = async (name: string, origin: string): Promise<string> => {
      const client = await rawClient(host.url);
      const body = JSON.stringify(PING);
      client.send(
        `POST /mcp HTTP/1.1\r\nHost: ${name}\r\nOrigin: ${origin}\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const answer = await client.until(/jsonrpc/);
      client.socket.destroy();
      return answer.slice(9, 12);
    };
    for (const [name, origin, status] of [
      [own, `http://${own}`, '200'],
      ['localhost:8080', 'http://localhost:8080', '200'],
      ['[::1]:8080', 'http://[::1]:8080', '200'],
      [own, 'https://listed.example', '200'],
      ['evil.example', 'http://evil.example', '403'],
      [own, 'http://evil.example', '403'],
      [own, 'null', '403'],
      [own, 'https://listed.example.evil', '403'],
      ['localhost.evil.example', 'http://localhost.evil.example', '403'],
      [own, 'http://localhost', '403'],
    ] as const)
      expect(await statusOf(name, origin), `${origin} at ${name}`).to.equal(status);
  });

  it('says of a name only what it is, in JSON', async () => {
    const host = await startMcp();
    const name = '<script>alert(1)</script>"\u0000\u2028';
    const answer = await host.rpc('tools/call', { name });
    expect(answer.headers.get('content-type')).to.equal('application/json');
    expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(answer.json().error.message).to.equal(`unknown tool: ${JSON.stringify(name)}`);
    const long = await host.rpc('tools/call', { name: 'x'.repeat(100_000) });
    expect(long.text.length).to.be.lessThan(300);
    const secret = await host.rpc('tools/call', { name: `sk-${'a1B2'.repeat(8)}` });
    expect(secret.text).not.to.contain('a1B2a1B2');
  });

  it('passes on what a tool answers as data, whatever it holds', async () => {
    const hostile = { __proto__: 1 };
    const content = [
      text('</script><script>alert(1)</script>\r\n\r\nevent: message\ndata: {"id":1}\n\n'),
      JSON.parse('{"type":"text","text":"a","__proto__":{"polluted":true},"constructor":{"prototype":{}}}'),
    ];
    const host = await startMcp([
      { name: 'one', call: () => result(content, { ...hostile, jsonrpc: '1.0', id: 99, error: { code: 1 } }) },
    ]);
    const answer = await host.post(
      '/mcp',
      { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'one' } },
      { accept: 'text/event-stream' },
    );
    const lines = answer.text.split('\n');
    expect(lines.filter((line) => line !== '')).to.have.length(2);
    const message = JSON.parse((lines[1] ?? '').slice('data: '.length));
    expect(message).to.have.all.keys('jsonrpc', 'id', 'result');
    expect(message.id).to.equal(5);
    expect(JSON.stringify(message.result.content)).to.equal(JSON.stringify(content));
    expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
  });

  it('keeps many calls of one client apart', async () => {
    const host = await startMcp();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_each, at) =>
        host.post(
          '/mcp',
          { jsonrpc: '2.0', id: 'same', method: 'tools/call', params: { name: 'echo', arguments: { at } } },
          ACCEPT,
        ),
      ),
    );
    answers.forEach((answer, at) => expect(answer.json().result.content[0].text).to.equal(JSON.stringify({ at })));
  });
});

describe('the work of /mcp', () => {
  const guard = (stage: string): object => ({
    name: 'regex-guard',
    stage,
    enabled: true,
    config: { patterns: ['never'] },
  });

  it('is in proportion to what a tool is asked', async () => {
    const host = await startMcp([{ name: 'one', call: () => result([]) }], {
      plugins: [guard('before_request'), guard('after_request')],
    });
    await expectProportion(2000, (count) => {
      const args = { list: Array.from({ length: count }, (_each, at) => ({ at, text: `a text ${at}` })) };
      return () => host.call('one', args);
    });
  });

  it('is in proportion to what it answers', async () => {
    let content: readonly unknown[] = [];
    const host = await startMcp([{ name: 'one', call: () => result(content) }], {
      plugins: [guard('before_request'), guard('after_request')],
    });
    await expectProportion(2000, (count) => {
      const made = Array.from({ length: count }, (_each, at) => text(`a text ${at}`));
      return () => {
        content = made;
        return host.call('one');
      };
    });
  });
});
