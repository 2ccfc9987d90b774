import { spawn } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  atEnd,
  eventsOf,
  type GatewayProcess,
  replyJson,
  runGw,
  startGateway,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

/** An example as a reader has it who copied its folder: nothing of this project stands above it. */
async function copyOf(name: string): Promise<string> {
  const folder = join(await temporaryFolder(), 'mine');
  await cp(fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)), folder, { recursive: true });
  return folder;
}

interface Reply {
  readonly status: number;
  readonly target: string | null;
  readonly headers: Headers;
  readonly text: string;
  json(): any;
}

function asking({
  url,
  key,
}: GatewayProcess): (content: string, more?: object, headers?: Record<string, string>) => Promise<Reply> {
  return async (content, more = {}, headers = {}) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close', ...headers },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content }], ...more }),
    });
    const text = await response.text();
    return {
      status: response.status,
      target: response.headers.get('x-gateway-target'),
      headers: response.headers,
      text,
      json: () => JSON.parse(text),
    };
  };
}

const wordsOf = (text: string): string =>
  eventsOf(text)
    .map((event) => event.choices?.[0]?.delta.content ?? '')
    .join('');

describe('the native-provider example, copied elsewhere', () => {
  async function start(): Promise<{ folder: string; ask: ReturnType<typeof asking> }> {
    const folder = await copyOf('native-provider');
    const child = spawn(process.execPath, [join(folder, 'upstream.js')], {
      env: { PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = new Promise<void>((resolve) => {
      child.on('close', () => resolve());
    });
    atEnd(async () => {
      child.kill('SIGKILL');
      await closed;
    });
    const address = await new Promise<string>((resolve) => {
      child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
    });
    return {
      folder,
      ask: asking(
        await startGateway({
          cwd: folder,
          variables: {
            GATEWAY_CONFIG: join(folder, 'config.yaml'),
            BROOK_TOKEN: 'brook-demo-token',
            BROOK_BASE_URL: address,
          },
        }),
      ),
    };
  }

  it('answers whole and streamed, with what the service used in its last line', async () => {
    const { ask } = await start();
    const whole = await ask('how are you?');
    expect([
      whole.status,
      whole.json().choices[0].message.content,
      whole.json().choices[0].finish_reason,
      whole.json().usage.total_tokens,
    ]).to.deep.equal([200, 'You said: how are you?', 'stop', 6]);
    expect((await ask('how are you?', { max_tokens: 2 })).json().choices[0].finish_reason).to.equal('length');
    const streamed = await ask('how are you?', { stream: true, stream_options: { include_usage: true } });
    expect(wordsOf(streamed.text)).to.equal('You said: how are you?');
    expect(eventsOf(streamed.text).findLast((event) => event.usage)?.usage).to.include({
      prompt_tokens: 1,
      completion_tokens: 5,
    });
    expect(streamed.text).to.match(/data: \[DONE\]\n\n$/);
  });

  it("tells the service's own errors, and names what it cannot say", async () => {
    const { ask } = await start();
    const flooded = await ask('flood');
    expect([flooded.status, flooded.headers.get('retry-after')]).to.deep.equal([429, '3']);
    expect((await ask('hi', { logit_bias: { 1: 1 } })).headers.get('x-gateway-ignored-params')).to.equal('logit_bias');
  });

  it('passes the contract suite', async () => {
    const { code, stdout } = await runGw(['module', 'test', 'providers/brook'], {
      cwd: await copyOf('native-provider'),
    });
    expect([code, stdout.includes('FAIL')], stdout).to.deep.equal([0, false]);
  });
});

describe('the custom-strategy example, copied elsewhere', () => {
  it('keeps each user at one target, by user or session, and away from one that failed', async () => {
    const folder = await copyOf('custom-strategy');
    let status = 200;
    const stub = await stubUpstream((_request, response) =>
      replyJson(response, status, {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'demo',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      }),
    );
    const ask = asking(
      await startGateway({
        cwd: folder,
        variables: { GATEWAY_CONFIG: join(folder, 'config.yaml'), OLLAMA_HOST: stub.url },
      }),
    );
    const placeOf = async (user: string): Promise<string | null> => (await ask('hi', { user })).target;
    const users = Array.from({ length: 24 }, (_none, at) => `user-${at}`);
    const first = await Promise.all(users.map(placeOf));
    expect(new Set(first)).to.have.property('size', 2);
    expect(await Promise.all(users.map(placeOf))).to.deep.equal(first);
    const guest = users[first.indexOf('ollama')]!;
    expect((await ask('hi', {}, { 'x-gateway-metadata': JSON.stringify({ session: guest }) })).target).to.equal(
      'ollama',
    );
    status = 500;
    expect(await placeOf(guest)).to.equal('echo');
    const seen = stub.seen.length;
    expect([await placeOf(guest), stub.seen.length]).to.deep.equal(['echo', seen]); // it rests, and gets no request
  });

  it('explains where a user goes and why', async () => {
    const folder = await copyOf('custom-strategy');
    const { code, stdout } = await runGw(
      ['explain', '--config', 'config.yaml', '--request', 'request.json', '--format', 'json'],
      { cwd: folder },
    );
    expect([code, stdout.includes('for ada')], stdout).to.deep.equal([0, true]);
  });
});

describe('the custom-plugin example, copied elsewhere', () => {
  it('lets answers flow, and no digit of a number reach the client', async () => {
    const folder = await copyOf('custom-plugin');
    const ask = asking(await startGateway({ cwd: folder, variables: { GATEWAY_CONFIG: join(folder, 'config.yaml') } }));
    expect((await ask('nothing of AC- or AC-12345 here')).status).to.equal(200);
    expect((await ask('it is AC-123456 of mine')).json().error.code).to.equal('response_rejected');
    const fine = await ask('nothing of AC- or AC-12345 here', { stream: true });
    expect(wordsOf(fine.text)).to.include('AC-12345 here');
    const guarded = await ask('it is AC-123456 of mine', { stream: true });
    expect(guarded.text)
      .to.include('it names an account')
      .and.not.match(/AC-\d|123/);
    expect(guarded.text).not.to.include('[DONE]');
  });
});

describe('the fleet example, copied elsewhere', () => {
  async function server(
    folder: string,
    name: string,
    key: string,
  ): Promise<{ url: string; stop: () => Promise<void> }> {
    const child = spawn(process.execPath, [join(folder, 'server.js'), name], {
      env: { PORT: '0', FLEET_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = new Promise<void>((resolve) => {
      child.on('close', () => resolve());
    });
    const stop = async (): Promise<void> => {
      child.kill('SIGKILL');
      await closed;
    };
    atEnd(stop);
    const url = await new Promise<string>((resolve) => {
      child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
    });
    return { url, stop };
  }

  it('spreads sessions, keeps each, leaves a revoked key alone, and goes on without a server', async () => {
    const folder = await copyOf('fleet');
    const keys = { FLEET_OLD_KEY: 'fleet-demo-old-key', FLEET_KEY: 'fleet-demo-new-key' };
    const [first, second] = [await server(folder, 'gpu-1', ''), await server(folder, 'gpu-2', keys.FLEET_KEY)];
    const path = join(folder, 'config.yaml');
    const text = await readFile(path, 'utf8');
    const addressed = text.replace('http://127.0.0.1:8001', first.url).replace('http://127.0.0.1:8002', second.url);
    await writeFile(path, addressed);
    const ask = asking(await startGateway({ cwd: folder, variables: { GATEWAY_CONFIG: path, ...keys } }));
    const of = (session: string): Promise<Reply> => ask('hi', { model: 'qwen3' }, { 'x-gateway-session': session });
    const sessions = Array.from({ length: 16 }, (_none, at) => `session-${at}`);
    const replies: Reply[] = [];
    for (const session of sessions) replies.push(await of(session));
    expect(replies.every(({ status }) => status === 200)).to.equal(true);
    const switched = replies.filter(({ headers }) => headers.get('x-gateway-attempts') === '2');
    expect(switched, 'the revoked key is asked once').to.have.length(1);
    const targets = replies.map(({ target }) => target);
    expect(new Set(targets)).to.have.property('size', 2);
    const guest = sessions[targets.indexOf('gpu-1')]!;
    expect((await of(guest)).target).to.equal('gpu-1');
    await first.stop();
    const moved = await of(guest);
    expect([moved.status, moved.target, moved.headers.get('x-gateway-affinity')]).to.deep.equal([
      200,
      'gpu-2',
      'moved',
    ]);
  });

  it('passes gw validate without a variable set', async () => {
    const { code, stdout } = await runGw(['validate', 'config.yaml'], { cwd: await copyOf('fleet') });
    expect([code, stdout.includes('revoked, current')], stdout).to.deep.equal([0, true]);
  });
});
