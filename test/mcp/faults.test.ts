import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  eventually,
  type GatewayProcess,
  MASTER_KEY,
  replyJson,
  startGateway,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { calling, CHAT, isAlive, setUp, stdio, toolContents } from './setup.ts';

interface Running {
  readonly gateway: GatewayProcess;
  readonly chat: (tool: string) => Promise<string>;
  readonly admin: (method: string, path: string, body?: object) => Promise<any>;
  /** Waits until this server is ready; fails when it does not become so. */
  readonly ready: (name: string) => Promise<void>;
}

/** A gateway process whose model calls the tool that the user names, once. */
async function running(servers: readonly object[]): Promise<Running> {
  const cwd = await temporaryFolder();
  const upstream = await stubUpstream((request, response) => {
    const { messages } = request.json() as { messages: readonly { role: string; content: string }[] };
    replyJson(
      response,
      200,
      messages.some(({ role }) => role === 'tool') ? chatReply('done') : calling([[messages[0]!.content]]),
    );
  });
  const config = {
    strategy: { mode: 'single' },
    targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }],
    mcp_servers: servers,
  };
  await writeFile(`${cwd}/config.json`, JSON.stringify(config));
  const gateway = await startGateway({
    cwd,
    variables: {
      GATEWAY_CONFIG: `${cwd}/config.json`,
      OPENAI_API_KEY: 'sk-of-this-test',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      LOG_LEVEL: 'debug',
    },
  });
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const admin: Running['admin'] = async (method, path, body) =>
    (await fetch(gateway.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json();
  return {
    gateway,
    admin,
    chat: async (tool) => {
      await fetch(gateway.url + CHAT, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...ask(tool), model: 'gpt-4o' }),
      }).then((response) => response.text());
      return toolContents((upstream.seen.at(-1)!.json() as any).messages)[0] ?? 'the tool was not called';
    },
    ready: async (wanted) => {
      let servers: any[] = [];
      await eventually(
        async () =>
          (servers = (await admin('GET', '/admin/health')).mcp_servers).some(
            ({ name, ready }: any) => ready && name === wanted,
          ),
        60_000,
      );
      expect(servers.find(({ name }: any) => name === wanted)).to.include({ ready: true });
    },
  };
}

describe('tool servers that misbehave', function (this: Mocha.Suite) {
  this.timeout(180_000);

  it('leave nothing in the gateway process, and nothing of theirs after its stop, what ignores SIGTERM included', async () => {
    const tools = ['pid', 'child', 'die', 'huge', 'wide', 'flood', 'garbage', 'refuse'];
    // what has to be waited for is a server of its own: the others' answers take their time on a busy machine
    const slow = stdio('slow', { tools: ['hang'], isStubborn: true }, { timeout_seconds: 3 });
    const { gateway, chat, ready } = await running([
      stdio('s', { tools, isStubborn: true }, { timeout_seconds: 60 }),
      slow,
      { name: 'absent', url: 'http://127.0.0.1:1/mcp' },
    ]);
    await ready('slow');
    const pids: number[] = [];
    for (const [tool, expected] of [
      ['garbage', 'after the garbage'],
      ['refuse', '{"error":"the tool call failed"}'],
      ['flood', 'flooded'],
      ['hang', '{"error":"the tool call timed out"}'],
      ['die', '{"error":"the tool server is unavailable"}'],
      ['huge', '{"error":"the tool server is unavailable"}'],
      ['wide', '{"error":"the tool server is unavailable"}'],
    ] as const) {
      await ready('s');
      pids.push(Number(await chat('pid')), Number(await chat('child')));
      expect(await chat(tool), tool).to.equal(expected);
    }
    await ready('s');
    const last = [Number(await chat('pid')), Number(await chat('child'))];
    expect(last.map(isAlive)).to.deep.equal([true, true]);
    expect(await gateway.stop()).to.equal(0);
    await eventually(() => ![...pids, ...last].some(isAlive));
    expect([...pids, ...last].filter(isAlive)).to.deep.equal([]);
  });

  it('give everything back once the configuration does not name them any more', async () => {
    const { gateway, chat, ready, admin } = await running([stdio('s', { tools: ['pid', 'hang'] })]);
    await ready('s');
    const pid = Number(await chat('pid'));
    expect(
      await admin('PUT', '/admin/config', {
        strategy: { mode: 'single' },
        targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }],
      }),
    ).to.deep.equal({ status: 'updated' });
    await eventually(() => !isAlive(pid));
    expect(isAlive(pid)).to.equal(false);
    const { ProcessWrap: processes = 0, PipeWrap: pipes = 0 } = await gateway.leftover();
    expect([processes, pipes]).to.deep.equal([0, 0]);
  });

  it('hear that nothing waits any longer when the client leaves in the middle of a call', async () => {
    const setup = await setUp([stdio('s', { tools: ['hang', 'cancelled'] })], {
      turns: [calling([['hang']]), calling([['cancelled']]), chatReply('done')],
    });
    const leaving = new AbortController();
    const pending = fetch(`${setup.t.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask()),
      signal: leaving.signal,
    }).catch(() => 'left');
    await eventually(() => setup.t.texts.some((line) => line.includes('hanging now')), 20_000);
    leaving.abort();
    expect(await pending).to.equal('left');
    await eventually(() => setup.t.host.slot.leases === 0, 20_000);
    expect([setup.t.host.slot.leases, setup.servers()[0]!.ready]).to.deep.equal([0, true]);
    await setup.chat();
    expect(toolContents(setup.messages())).to.deep.equal(['cancelled: 1']);
  });
});
