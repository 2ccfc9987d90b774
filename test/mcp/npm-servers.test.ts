import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  ask,
  atEnd,
  chatReply,
  eventsOf,
  eventually,
  type GatewayProcess,
  openSse,
  replyJson,
  sseEvent,
  startGateway,
  type StubHandler,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { type Call, calling, toolContents } from './setup.ts';

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
const EVERYTHING = pathOf('server-everything');
const FILES = pathOf('server-filesystem');

/** A model that makes these calls, one a turn, and then says what it read last. It streams where it is asked to. */
function model(calls: readonly Call[]): StubHandler {
  return (request, response) => {
    const { messages, stream } = request.json() as {
      messages: readonly { role: string; content: string }[];
      stream?: boolean;
    };
    const round = messages.filter(({ role }) => role === 'tool').length;
    const call = calls[round];
    const reply = (call ? calling([call]) : chatReply(`read: ${messages.at(-1)?.content}`)) as {
      choices: readonly {
        message: { content: string | null; tool_calls?: readonly object[] };
        finish_reason: string;
      }[];
    };
    if (!stream) {
      replyJson(response, 200, reply);
      return;
    }
    const [{ message, finish_reason: finish }] = reply.choices as [(typeof reply.choices)[number]];
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      sseEvent({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'gpt-4o',
        choices: [{ index: 0, delta, finish_reason }],
      });
    openSse(response);
    response.end(
      chunk({ role: 'assistant', content: message.content }) +
        (message.tool_calls
          ? chunk({ tool_calls: message.tool_calls.map((each, index) => ({ ...each, index })) })
          : '') +
        chunk({}, finish) +
        sseEvent('[DONE]'),
    );
  };
}

interface Running {
  readonly gateway: GatewayProcess;
  readonly seen: () => readonly any[];
  readonly chat: (more?: object) => Promise<{ readonly status: number; readonly text: string }>;
}

/** A gateway process with tool servers, all of them ready, before a scripted model. */
async function running(servers: readonly object[], calls: readonly Call[], config: object = {}): Promise<Running> {
  const cwd = await temporaryFolder();
  const upstream = await stubUpstream(model(calls));
  await writeFile(
    `${cwd}/config.json`,
    JSON.stringify({
      strategy: { mode: 'single' },
      targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }],
      mcp_servers: servers,
      ...config,
    }),
  );
  const gateway = await startGateway({
    cwd,
    variables: {
      GATEWAY_CONFIG: `${cwd}/config.json`,
      OPENAI_API_KEY: 'sk-of-this-test',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      LOG_LEVEL: 'debug',
    },
  });
  const states = async (): Promise<{ readonly mcp_servers?: readonly { readonly ready: boolean }[] }> =>
    (
      await fetch(`${gateway.url}/admin/health`, { headers: { authorization: `Bearer ${gateway.key}` } })
    ).json() as Promise<any>;
  await eventually(async () => (await states()).mcp_servers?.every(({ ready }) => ready) === true, 30_000);
  expect((await states()).mcp_servers?.map(({ ready }) => ready)).to.deep.equal(servers.map(() => true));
  const chat: Running['chat'] = async (more = {}) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask('hi', more), model: 'gpt-4o' }),
    });
    return { status: response.status, text: await response.text() };
  };
  return { gateway, chat, seen: () => upstream.seen.map((request) => request.json()) };
}

const textIn = (text: string): string =>
  eventsOf(text)
    .flatMap((event) => event.choices ?? [])
    .map(({ delta }) => delta.content ?? '')
    .join('');

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

describe('tool servers from npm, in a gateway process', function (this: Mocha.Suite) {
  this.timeout(60_000);

  it('give a model files, whole and streamed', async () => {
    const folder = await temporaryFolder();
    await writeFile(`${folder}/note.txt`, 'the word is heron');
    const { chat, seen, gateway } = await running(
      [{ name: 'files', command: process.execPath, args: [FILES, folder], required: true }],
      [
        ['list_directory', { path: folder }],
        ['read_text_file', { path: `${folder}/note.txt` }],
      ],
    );
    const whole = await chat();
    expect([whole.status, JSON.parse(whole.text).choices[0].message.content]).to.deep.equal([
      200,
      'read: the word is heron',
    ]);
    expect(seen()[0].tools.map((tool: any) => tool.function.name)).to.include.members([
      'read_text_file',
      'write_file',
      'list_directory',
    ]);
    expect(toolContents(seen()[2].messages)).to.deep.equal(['[FILE] note.txt', 'the word is heron']);
    const streamed = await chat({ stream: true });
    expect([textIn(streamed.text), eventsOf(streamed.text).length]).to.deep.equal(['read: the word is heron', 2]);
    expect(await gateway.stop()).to.equal(0);
  });

  it('give a model everything, over standard streams and HTTP, whole and with streamed turns', async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env: { PATH: process.env['PATH'], PORT: String(port) },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    atEnd(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const { chat, seen, gateway } = await running(
      [
        { name: 'stdio', command: process.execPath, args: [EVERYTHING, 'stdio'], allowed_tools: ['echo', 'get-sum'] },
        {
          name: 'http',
          url: `http://127.0.0.1:${port}/mcp`,
          allowed_tools: ['echo', 'get-tiny-image', 'get-structured-content'],
        },
      ],
      [
        ['echo', { message: 'hello' }],
        ['get-sum', { a: 2, b: 3 }],
        ['get-tiny-image', {}],
      ],
      { mcp: { stream: true } },
    );
    const whole = await chat();
    expect(whole.status).to.equal(200);
    const contents = toolContents(seen()[3].messages);
    expect(contents.slice(0, 2)).to.deep.equal(['Echo: hello', 'The sum of 2 and 3 is 5.']);
    expect((JSON.parse(contents[2]!) as readonly { type: string }[]).map(({ type }) => type)).to.include('image');
    expect(seen()[0].tools.map((tool: any) => tool.function.name)).to.deep.equal([
      'echo',
      'get-sum',
      'get-structured-content',
      'get-tiny-image',
    ]);
    const streamed = await chat({ stream: true });
    expect([
      streamed.status,
      textIn(streamed.text).startsWith('read: ['),
      eventsOf(streamed.text).at(-1),
    ]).to.deep.equal([200, true, '[DONE]']);
    expect(seen()[4].stream).to.equal(true);
    expect(await gateway.stop()).to.equal(0);
  });
});
