import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  ask,
  chatChunks,
  chatReply,
  eventsOf,
  type GatewayProcess,
  openSse,
  replyJson,
  some,
  sseEvent,
  startGateway,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

interface Setup {
  readonly gateway: GatewayProcess;
  readonly stub: StubUpstream;
  /** Lets the streams that run reach their end. */
  readonly finish: () => void;
}

/** A real process. Its upstream holds streams of model `m` after two chunks, and never answers model `silent`. */
async function startProcess(variables: Record<string, string> = {}): Promise<Setup> {
  const release = Promise.withResolvers<void>();
  const stub = await stubUpstream(async (request, response) => {
    const { model, stream } = request.json();
    if (model === 'silent') return;
    if (stream !== true) {
      replyJson(response, 200, chatReply('hello'));
      return;
    }
    const [head, ...rest] = [...chatChunks(['one', 'two']), '[DONE]'].map(sseEvent);
    openSse(response);
    response.write(`${head}${rest.shift()}`);
    await release.promise;
    response.end(rest.join(''));
  });
  const folder = await temporaryFolder();
  const path = join(folder, 'config.yaml');
  await writeFile(path, 'strategy: {mode: single}\ntargets: [{virtual_key: openai, models: [m, silent]}]\n');
  const gateway = await startGateway({
    cwd: folder,
    variables: {
      GATEWAY_CONFIG: path,
      OPENAI_API_KEY: 'an-upstream-credential',
      OPENAI_BASE_URL: `${stub.url}/v1`,
      ...variables,
    },
  });
  return { gateway, stub, finish: release.resolve };
}

const post = (gateway: GatewayProcess, more: object): Promise<Response> =>
  fetch(gateway.url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify(ask('hi', more)),
  });

/** A stream that has begun: its text so far, and its text when it is over. */
async function openStream(gateway: GatewayProcess): Promise<{ response: Response; rest: Promise<string> }> {
  const response = await post(gateway, { stream: true });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('"one"')) text += (await reader.read()).value ?? '';
  const toEnd = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  };
  return { response, rest: toEnd() };
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request, by a connection of its own that could be kept. */
function call({ url, key }: GatewayProcess, method: string, path: string, body = ''): Promise<Reply> {
  const agent = new Agent({ keepAlive: true });
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const headers = { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(body) };
  httpRequest(url + path, { method, agent, headers }, (response) => {
    let text = '';
    response
      .setEncoding('utf8')
      .on('data', (piece: string) => {
        text += piece;
      })
      .on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
  })
    .on('error', reject)
    .end(body);
  return promise.finally(() => {
    agent.destroy();
  });
}

async function untilDraining(gateway: GatewayProcess): Promise<Reply> {
  for (;;) {
    const reply = await call(gateway, 'GET', '/readyz').catch(() => undefined);
    if (reply?.status === 503) return reply;
  }
}

const isGone = async ({ url }: GatewayProcess): Promise<boolean> =>
  fetch(`${url}/livez`).then(
    () => false,
    () => true,
  );

describe('a process that gets a signal to stop', () => {
  it('says so at once, serves on, lets its streams end and exits with 0', async () => {
    const { gateway, finish } = await startProcess();
    const { response, rest } = await openStream(gateway);
    expect(response.headers.get('connection')).to.equal('keep-alive');
    expect((await call(gateway, 'GET', '/readyz')).status).to.equal(200);
    const stopped = gateway.stop('SIGTERM');
    const draining = await untilDraining(gateway);
    expect(JSON.parse(draining.text)).to.deep.equal({
      status: 'not_ready',
      reason: 'draining',
      targets: [{ name: 'openai', routable: true, circuit: 'closed' }],
    });
    expect((await call(gateway, 'GET', '/livez')).status).to.equal(200);
    const late = await call(gateway, 'POST', CHAT, JSON.stringify(ask()));
    expect(late.status).to.equal(200);
    expect(late.headers.connection).to.equal('close');
    expect((await call(gateway, 'GET', '/nowhere')).headers.connection).to.equal('close');
    expect(gateway.child.exitCode).to.equal(null);
    finish();
    const events = eventsOf(await rest);
    expect(events.at(-1)).to.equal('[DONE]');
    expect(
      events
        .flatMap((event) => event.choices ?? [])
        .map(({ delta }) => delta.content ?? '')
        .join(''),
    ).to.equal('onetwo');
    expect(await stopped).to.equal(0);
    expect(await isGone(gateway)).to.equal(true);
    expect(gateway.lines.at(-1)).to.include({ msg: 'gw stopped' });
  });

  it('answers a request on a connection that was kept, and then closes it', async () => {
    const { gateway, finish } = await startProcess();
    const { rest } = await openStream(gateway);
    const kept = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    let received = '';
    kept
      .on('data', (bytes) => {
        received += bytes.toString('latin1');
      })
      .on('error', () => {});
    const closed = once(kept, 'close');
    const request = 'GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n';
    kept.write(request);
    while (!received.endsWith('}')) await once(kept, 'data');
    expect(received).to.match(/^HTTP\/1\.1 200 /);
    const stopped = gateway.stop('SIGTERM');
    await untilDraining(gateway);
    kept.write(request);
    await closed;
    expect(received).to.match(/HTTP\/1\.1 503 [^]*^Connection: close\r$[^]*"draining"/m);
    finish();
    await rest;
    expect(await stopped).to.equal(0);
  });

  it('ends what is left at the deadline with an error event, and exits with 0', async () => {
    const { gateway, stub } = await startProcess({ GW_SHUTDOWN_TIMEOUT: '300ms' });
    const streams = await Promise.all([openStream(gateway), openStream(gateway)]);
    const unary = post(gateway, { model: 'silent' });
    const notStarted = post(gateway, { model: 'silent', stream: true });
    while (stub.seen.length < 4)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    const startedAt = performance.now();
    const stopped = gateway.stop('SIGTERM');
    for (const { rest, response } of streams) {
      const events = eventsOf(await rest);
      expect(events.at(-1)).to.have.all.keys('error');
      expect(events.at(-1).error).to.include({ type: 'stream_error', code: 'stream_error' });
      expect(events).not.to.include('[DONE]');
      const id = response.headers.get('x-request-id');
      await stopped;
      expect(
        gateway.lines.some(({ msg, trace_id }) => msg === 'request failed' && trace_id === id),
        'the failure is logged',
      ).to.equal(true);
    }
    for (const answer of [await unary, await notStarted]) {
      expect(answer.status).to.equal(503);
      const { error } = (await answer.json()) as { error: Record<string, unknown> };
      expect(error).to.include({ type: 'upstream_error', code: 'upstream_unavailable' });
    }
    expect(await stopped).to.equal(0);
    expect(performance.now() - startedAt).to.be.above(299);
  });

  for (const [first, second, variable] of some(
    [
      ['SIGTERM', 'SIGTERM', 'GW_DRAIN_DELAY'],
      ['SIGINT', 'SIGTERM', 'GW_SHUTDOWN_TIMEOUT'],
      ['SIGTERM', 'SIGINT', 'GW_SHUTDOWN_TIMEOUT'],
    ] as const,
    { from: 1 },
  )) {
    it(`is killed at once by ${second} after ${first}, in the time of ${variable}`, async () => {
      const { gateway } = await startProcess({ [variable]: '60s' });
      const { rest } = await openStream(gateway);
      const cut = rest.then(
        () => 'whole',
        () => 'cut',
      );
      gateway.child.kill(first);
      await untilDraining(gateway);
      const exit = once(gateway.child, 'exit');
      gateway.child.kill(second);
      expect(await exit).to.deep.equal([null, second]);
      expect(await cut).to.equal('cut');
    });
  }

  it('does not wait for connections that carry nothing', async () => {
    const { gateway } = await startProcess({ GW_SHUTDOWN_TIMEOUT: '60s' });
    const idle = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');
    const used = await fetch(`${gateway.url}/livez`);
    await used.text();
    expect(await gateway.stop('SIGINT'), 'long before its minute is over').to.equal(0);
    expect(gateway.lines.find(({ msg }) => msg === 'draining')).to.include({ requests: 0 });
    idle.destroy();
  });
});

describe('a process that starts', () => {
  it('tells on stdout in JSON lines what it runs with, and no credential', async () => {
    const { gateway } = await startProcess({ LOG_LEVEL: 'info', RATE_LIMIT_RPS: '7', RATE_LIMIT_BURST: 'lots' });
    const line = (msg: string): Record<string, unknown> | undefined => gateway.lines.find((one) => one['msg'] === msg);
    expect(line('gw started')).to.include({
      level: 'INFO',
      providers: 'openai',
      config_store: 'memory',
      api_key_store: 'memory',
      request_log_store: 'disabled',
      audit_store: 'memory',
    });
    expect(line('gw started')).to.include.keys('version', 'addr');
    expect(line('active config resolved')).to.include({
      source: 'file',
      strategy: 'single',
      targets: 1,
      plugins: 0,
      max_request_bytes: 10_485_760,
    });
    expect(line('config file loaded')).to.include({ strategy: 'single', targets: 1 }).and.to.have.property('path');
    expect(line('rate limiting enabled')).to.include({ rps: 7, burst: 40, max_keys: 100_000 });
    expect(
      gateway.lines.some(({ level, msg }) => level === 'WARN' && String(msg).includes('RATE_LIMIT_BURST')),
    ).to.equal(true);
    expect(gateway.lines.some(({ level, msg }) => level === 'INFO' && String(msg).includes('CORS_ORIGINS'))).to.equal(
      true,
    );
    expect(JSON.stringify(gateway.lines) + gateway.stderr())
      .not.to.include(gateway.key)
      .and.not.include('an-upstream-credential');
  });
});
