import { expect } from 'chai';
import { keyWith, result, startMcp, text } from './kit.ts';

const ONE = {
  name: 'one',
  more: {
    title: 'One',
    description: 'The first',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { a: {} },
      additionalProperties: false,
    },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    _meta: { a: 1 },
  },
};

describe('tools of /mcp', () => {
  it('are listed under their own names, and as their servers describe them', async () => {
    const host = await startMcp([ONE, { server: 'b', name: 'two' }]);
    const answer = (await host.rpc('tools/list')).json();
    expect(answer.result).to.deep.equal({
      tools: [
        { name: 'one', ...ONE.more },
        { name: 'two', inputSchema: { type: 'object' } },
      ],
    });
    expect((await host.rpc('tools/list', { cursor: 'x' })).json().error.code).to.equal(-32602);
    expect((await host.rpc('tools/list', { cursor: null })).json().result.tools).to.have.length(2);
  });

  it('are one list to the letter, however many they are, as an answer and as an event', async () => {
    const many = Array.from({ length: 250 }, (_, at) => ({ name: `tool ${at}`, more: { description: `"${at}" ü` } }));
    const host = await startMcp([ONE, ...many]);
    const answer = await host.rpc('tools/list');
    const { result: listed } = answer.json();
    expect(answer.text).to.equal(JSON.stringify({ jsonrpc: '2.0', id: 1, result: listed }));
    expect(listed.tools.map(({ name }: { name: string }) => name)).to.deep.equal([
      'one',
      ...many.map(({ name }) => name),
    ]);
    const event = await host.rpc('tools/list', undefined, { accept: 'text/event-stream' });
    expect(event.text).to.equal(`event: message\ndata: ${answer.text.replace('"id":1', '"id":2')}\n\n`);
    expect([answer.headers.get('content-type'), event.headers.get('content-type')]).to.deep.equal([
      'application/json',
      'text/event-stream',
    ]);
  });

  it('are none where no server is ready, or none is configured', async () => {
    const host = await startMcp([]);
    expect((await host.rpc('tools/list')).json().result).to.deep.equal({ tools: [] });
    expect((await host.call('one')).code).to.equal(-32602);
  });

  it('answer with content, structured content and isError as the server gave them, and nothing else', async () => {
    const content = [
      text('a'),
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'u:1', text: 'r' } },
    ];
    const host = await startMcp([
      {
        name: 'full',
        call: () => result(content, { structuredContent: { a: [1] }, isError: false, _meta: { secret: 1 }, other: 2 }),
      },
      { name: 'wrong', call: () => result([text('it went wrong')], { isError: true }) },
      { name: 'empty', call: () => result([]) },
    ]);
    expect(await host.call('full')).to.deep.equal({ content, structuredContent: { a: [1] }, isError: false });
    expect(await host.call('wrong')).to.deep.equal({ content: [text('it went wrong')], isError: true });
    expect(await host.call('empty')).to.deep.equal({ content: [] });
  });

  it('get the arguments digit for digit, and an empty object where there are none', async () => {
    const host = await startMcp();
    const raw =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":12345678901234567890,"__proto__":{"a":1}}}}';
    const answer = await host.post('/mcp', raw, { 'content-type': 'application/json' });
    expect(answer.json().result.content[0].text).to.equal('{"n":12345678901234567890,"__proto__":{"a":1}}');
    for (const params of [{ name: 'echo' }, { name: 'echo', arguments: null }]) {
      expect((await host.rpc('tools/call', params)).json().result.content[0].text).to.equal('{}');
    }
  });

  it('are refused with what is wrong about the call', async () => {
    const host = await startMcp();
    for (const params of [
      undefined,
      {},
      { name: 7 },
      { name: '' },
      { name: 'echo', arguments: 'text' },
      { name: 'echo', arguments: [1] },
      { name: 'other' },
    ]) {
      const answer = await host.rpc('tools/call', params);
      expect(answer.status).to.equal(200);
      expect(answer.json().error.code, JSON.stringify(params)).to.equal(-32602);
    }
    expect(host.servers.calls).to.deep.equal([]);
  });

  for (const [failure, name] of [
    ['the tool call failed', 'fails'],
    ['the tool call timed out', 'hangs'],
    ['the tool server is unavailable', 'is gone'],
  ] as const) {
    it(`answer with a generic text when the server ${name}`, async () => {
      const host = await startMcp([{ name: 'one', call: () => ({ kind: 'failed', server: 's', failure }) }]);
      expect(await host.call('one')).to.deep.equal({ content: [text(failure)], isError: true });
    });
  }

  it('that vanish before they are called are unknown', async () => {
    const host = await startMcp([{ name: 'one', call: () => ({ kind: 'unknown' }) }]);
    expect((await host.call('one')).code).to.equal(-32602);
  });

  it('are called as an exchange, which is logged and counted', async () => {
    const host = await startMcp([{ server: 'files', name: 'one' }]);
    await host.call('one', { secret: 'do not log' });
    const line = host.lines.find(({ msg }) => msg === 'mcp request completed');
    expect(line).to.include({ level: 'INFO', server: 'files', tool: 'one' });
    expect(host.texts.join('\n')).not.to.contain('do not log');
    expect(
      host.samples.filter(({ name }) => name === 'gateway_requests_total').map(({ labels }) => labels),
    ).to.deep.equal([{ provider: 'none', model: 'unknown', status: 'success' }]);
  });

  describe('of a key', () => {
    const TOOLS = [
      { server: 'a', name: 'one' },
      { server: 'a', name: 'two' },
      { server: 'b', name: 'three' },
    ];

    for (const [allowed, names] of [
      [['one'], ['one']],
      [['a/*'], ['one', 'two']],
      [
        ['b/*', 'two'],
        ['two', 'three'],
      ],
      [['nothing'], []],
      [['*'], []],
      [['a/one'], []],
    ] as const) {
      it(`with ${JSON.stringify(allowed)} are ${names.join(', ') || 'none'}`, async () => {
        const host = await startMcp(TOOLS);
        const key = await keyWith(host, { mcp_tools: allowed });
        const listed = (await host.rpc('tools/list', {}, key))
          .json()
          .result.tools.map(({ name }: { name: string }) => name);
        expect(listed).to.deep.equal(names);
        for (const { name } of TOOLS) {
          const called = await host.call(name, {}, key);
          if ((names as readonly string[]).includes(name)) expect(called.content).to.have.length(1);
          else expect(called).to.deep.equal({ ...(await host.call(`${name}x`, {}, key)), message: called.message });
        }
        expect(host.servers.calls.map(({ name }) => name)).to.deep.equal(names);
      });
    }

    it('without a list are all', async () => {
      const host = await startMcp(TOOLS);
      expect((await host.rpc('tools/list', {}, await keyWith(host, {}))).json().result.tools).to.have.length(3);
    });

    it('are looked at again when the call leaves: a name may have another owner by then', async () => {
      const host = await startMcp([{ server: 'a', name: 'one' }], {
        plugins: [
          {
            name: 'webhook',
            stage: 'before_request',
            enabled: true,
            config: { url: 'http://127.0.0.1:9/', fail: 'open' },
          },
        ],
      });
      const key = await keyWith(host, { mcp_tools: ['a/*'] });
      const owner = { server: 'a' };
      host.servers.tools = [
        {
          get server() {
            const { server } = owner;
            owner.server = 'b';
            return server;
          },
          name: 'one',
        },
      ];
      expect((await host.call('one', {}, key)).code).to.equal(-32602);
      expect(host.servers.calls).to.deep.equal([]);
    });
  });
});
