import { expect } from 'chai';
import { chatReply, eventually, type TestHost } from '../kit/index.ts';
import { httpCollector, type ReceivedSpan } from '../kit/otlp.ts';
import { parseScrape, valuesOf } from '../kit/scrape.ts';
import { calling, setUp, stdio } from './setup.ts';

const rpc = (t: TestHost, name: string, args: object = {}): Promise<any> =>
  t
    .post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
    .then((answer) => answer.json().result);
const figures = async (t: TestHost, name: string): Promise<Record<string, number>> =>
  valuesOf(parseScrape((await t.get('/metrics')).text), name);

describe('figures of tool servers', () => {
  it('count calls by server, tool and status, of models and of clients alike', async () => {
    const scene = await setUp([stdio('s', { tools: ['echo', 'failing', 'refuse'] })], {
      turns: [calling([['echo'], ['failing']]), chatReply('done')],
    });
    const { t } = scene;
    await scene.chat();
    await rpc(t, 'echo');
    await rpc(t, 'refuse');
    expect(await figures(t, 'gw_mcp_tool_calls_total')).to.deep.equal({
      'server_name=s status=ok tool_name=echo': 2,
      'server_name=s status=error tool_name=failing': 1,
      'server_name=s status=error tool_name=refuse': 1,
    });
    const durations = t.samples.filter(({ name }) => name === 'gw_mcp_tool_call_duration_seconds');
    expect(durations.map(({ labels }) => labels)).to.have.deep.members(
      ['echo', 'failing', 'echo', 'refuse'].map((tool_name) => ({ server_name: 's', tool_name })),
    );
    expect(durations.every(({ value }) => value > 0 && value < 10)).to.equal(true);
  });

  it('tell which servers are up, and forget those that are gone', async () => {
    const scene = await setUp(
      [
        stdio('up'),
        stdio('down', { isSilent: true }),
        { name: 'unset', url: 'http://127.0.0.1:9/', headers: { a: '${NOT_THERE}' } },
      ],
      { waits: false },
    );
    const { t, upstream } = scene;
    const first = await figures(t, 'gateway_mcp_server_up');
    expect(Object.keys(first)).to.deep.equal(['server_name=up', 'server_name=down', 'server_name=unset']);
    await scene.ready('up');
    expect(await figures(t, 'gateway_mcp_server_up')).to.deep.equal({
      'server_name=up': 1,
      'server_name=down': 0,
      'server_name=unset': 0,
    });
    await t.apply({ strategy: { mode: 'single' }, targets: [upstream.target('a')], mcp_servers: [stdio('up')] });
    expect(await figures(t, 'gateway_mcp_server_up')).to.deep.equal({ 'server_name=up': 1 });
    await t.apply({ strategy: { mode: 'single' }, targets: [upstream.target('a')] });
    expect(await figures(t, 'gateway_mcp_server_up')).to.deep.equal({});
  });

  it('count every failed handshake', async () => {
    const { t } = await setUp([{ name: 's', command: '/nowhere/at/all' }], { waits: false });
    const counted = (): number =>
      t.samples.filter(({ name }) => name === 'gateway_mcp_server_init_failures_total').length;
    await eventually(() => counted() >= 2, 10_000);
    expect(t.samples.find(({ name }) => name === 'gateway_mcp_server_init_failures_total')?.labels).to.deep.equal({
      server_name: 's',
    });
  });
});

describe('the tools of a real server behind /mcp', () => {
  it('are listed anew once the server says that they have changed', async () => {
    const { t } = await setUp([stdio('s', { tools: ['change'] })]);
    const list = async (): Promise<string[]> =>
      (await t.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }))
        .json()
        .result.tools.map(({ name }: { name: string }) => name);
    expect(await list()).to.deep.equal(['change']);
    await rpc(t, 'change');
    let found: string[] = [];
    await eventually(async () => (found = await list()).includes('fresh'), 10_000);
    expect(found).to.deep.equal(['pid', 'fresh']);
    expect(
      (await t.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'change' } })).json().error
        .code,
    ).to.equal(-32602);
  });
});

describe('log lines of calls of tools', () => {
  it('name a failed call once, with its reason and under its request', async () => {
    const { t } = await setUp([stdio('s', { tools: ['refuse'] })]);
    const answer = await t.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'refuse' } });
    const lines = t.lines.filter(({ msg }) => msg === 'mcp tool call failed');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.deep.include({
      level: 'WARN',
      server: 's',
      tool: 'refuse',
      trace_id: answer.headers.get('x-request-id'),
    });
    expect(lines[0]?.['latency_ms']).to.be.a('number');
    expect(lines[0]?.['error']).to.contain('-32000');
    expect(answer.json().result).to.deep.equal({
      content: [{ type: 'text', text: 'the tool call failed' }],
      isError: true,
    });
  });

  it('do not hold what a tool says, also where it says that it failed', async () => {
    const { t } = await setUp([stdio('s', { tools: ['failing'] })]);
    expect((await rpc(t, 'failing', { a: 'the argument' })).isError).to.equal(true);
    expect(
      t.lines
        .filter(({ msg }) => msg === 'mcp tool call failed')
        .map(({ level, server, tool, error }) => [level, server, tool, error]),
    ).to.deep.equal([['WARN', 's', 'failing', 'the tool says that it failed']]);
    expect(t.texts.join('\n')).not.to.match(/no such file|the argument/);
  });
});

describe('spans of tool servers', () => {
  interface Traced {
    readonly t: TestHost;
    readonly chat: () => Promise<unknown>;
    readonly spans: () => Promise<readonly ReceivedSpan[]>;
  }

  const traced = async (
    tools: readonly string[],
    turns: readonly object[] = [chatReply('done')],
    tracing: object = {},
  ): Promise<Traced> => {
    const collector = await httpCollector();
    const scene = await setUp([stdio('s', { tools })], {
      turns,
      config: { observability: { tracing: { endpoint: collector.url, protocol: 'http/protobuf', ...tracing } } },
    });
    return {
      t: scene.t,
      chat: () => scene.chat(),
      spans: async () => {
        await scene.t.close();
        return collector.spans;
      },
    };
  };
  const named = (spans: readonly ReceivedSpan[], name: string): readonly ReceivedSpan[] =>
    spans.filter((span) => span.name === name);

  it('tell a handshake with its two steps', async () => {
    const { spans } = await traced(['echo', 'pid']);
    const all = await spans();
    const [root] = named(all, 'mcp.init_server');
    const [[initialize], [list]] = [named(all, 'mcp.initialize'), named(all, 'mcp.list_tools')];
    expect(root).to.deep.include({ kind: 'INTERNAL', parentId: '', attributes: { 'gw.mcp.server': 's' } });
    for (const step of [initialize, list])
      expect(step).to.include({ kind: 'INTERNAL', parentId: root?.spanId, traceId: root?.traceId });
    expect(list?.attributes).to.deep.equal({ 'mcp.tools.count': 2 });
    expect(initialize!.start <= list!.start && list!.end <= root!.end).to.equal(true);
  });

  it('tell every call below its request, and how deep the loop went', async () => {
    const { chat, spans } = await traced(
      ['echo', 'failing'],
      [calling([['echo']]), calling([['failing']]), chatReply('done')],
    );
    await chat();
    const all = await spans();
    const [root] = named(all, 'gateway.request');
    expect(root?.attributes).to.include({ 'gw.mcp.depth': 2 });
    const calls = named(all, 'mcp.call_tool');
    expect(
      calls.map(({ kind, parentId, attributes }) => [
        kind,
        parentId,
        attributes['gw.mcp.server'],
        attributes['gw.mcp.tool'],
        typeof attributes['gw.mcp.latency_ms'],
      ]),
    ).to.deep.equal(['echo', 'failing'].map((tool) => ['CLIENT', root?.spanId, 's', tool, 'number']));
    expect(calls.map(({ status }) => status)).to.deep.equal([
      { code: 0, message: '' },
      { code: 2, message: 'no such file' },
    ]);
  });

  it('tell the call of a client in a trace of its own, and no more of a failure than the level allows', async () => {
    const { t, spans } = await traced(['failing', 'refuse'], undefined, { privacy_level: 'none' });
    const answer = await t.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'failing' } });
    await rpc(t, 'refuse');
    const all = await spans();
    const root = named(all, 'gateway.request').find(({ traceId }) => traceId === answer.headers.get('x-request-id'));
    expect(root?.attributes).to.include({ 'gen_ai.operation.name': 'execute_tool' });
    expect(named(all, 'mcp.call_tool').map(({ status }) => status)).to.deep.equal([
      { code: 2, message: 'redacted' },
      { code: 2, message: 'redacted' },
    ]);
  });

  for (const level of ['metadata', 'full']) {
    it(`cut what a tool says of its failure: ${level}`, async () => {
      const { t, spans } = await traced(['longFailure'], undefined, { privacy_level: level });
      await rpc(t, 'longFailure');
      expect(named(await spans(), 'mcp.call_tool')[0]?.status.message).to.have.length(2048);
    });
  }
});
