import { expect } from 'chai';
import { chatReply, forSuite, type GatewayProcess, replyJson, stubUpstream } from '../kit/index.ts';
import { calling, stdio } from '../mcp/setup.ts';
import { atOnce, chat, CHAT, counted, instance, send, startWorkers, workersIn, patiently } from './gateway.ts';

describe('tool servers of three workers', () => {
  let gateway: GatewayProcess;

  forSuite(async () => {
    const stub = await stubUpstream((request, response) => {
      const { messages } = request.json() as { messages: { role: string; content: string }[] };
      const last = messages.at(-1);
      replyJson(response, 200, last?.role === 'tool' ? chatReply(`it says ${last.content}`) : calling([['pid', {}]]));
    });
    gateway = await startWorkers({
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'one', models: ['m'] }],
      providers: { one: instance(stub.url) },
      mcp_servers: [stdio('tools', { tools: ['pid'] })],
    });
    await patiently(async () => (await send(`${gateway.url}/admin/health`)).json.mcp_servers[0]?.ready === true);
  });

  it('are one process each, which models of all workers call', async () => {
    const replies = await atOnce(20, () => send(`${gateway.url}${CHAT}`, { body: chat() }));
    expect(counted(replies, 200)).to.equal(20);
    await patiently(() => workersIn(gateway).size === 3);
    const said = new Set(replies.map(({ json }) => json.choices[0].message.content));
    expect([...said], [...said].join()).to.have.lengthOf(1);
    expect([...said][0]).to.match(/^it says/);
  });

  it('are offered to clients of the protocol by the primary', async () => {
    const { status, json } = await send(`${gateway.url}/mcp`, {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    });
    expect(status).to.equal(200);
    expect(json.result.tools.map(({ name }: { name: string }) => name)).to.deep.equal(['pid']);
  });
});
