import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../host/common/clock.ts';
import {
  ask,
  golden,
  MASTER_KEY,
  replyJson,
  type SeenRequest,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { strangeReplies } from '../kit/strange-replies.ts';

const TOKEN = 'replicate-token-0123456789';
const MODEL = 'meta/meta-llama-3-8b-instruct';
const ID = 'gm3qorzdhgbfurvjtvhg6dckhu';
const file = (name: string): any => JSON.parse(golden(`replicate/${name}.json`));
const CANCEL = `/v1/predictions/${ID}/cancel`;

/** Polls follow at once; every other time is real. */
const clock: Clock = { ...systemClock, timer: (ms, then) => systemClock.timer(ms === 500 ? 1 : ms, then) };

interface Gateway {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  /** Resolves when a prediction is cancelled. */
  readonly cancelled: Promise<SeenRequest>;
}

async function gateway(
  handle: (request: SeenRequest, response: ServerResponse, upstream: StubUpstream) => void,
  config: object = {},
): Promise<Gateway> {
  const { promise: cancelled, resolve } = Promise.withResolvers<SeenRequest>();
  const upstream: StubUpstream = await stubUpstream((request, response) => {
    if (!request.url.endsWith('/cancel')) return handle(request, response, upstream);
    resolve(request);
    replyJson(response, 200, file('chat/canceled'));
  });
  const variables = {
    REPLICATE_API_TOKEN: TOKEN,
    REPLICATE_BASE_URL: upstream.url,
    REPLICATE_TEXT_MODELS: MODEL,
    REPLICATE_IMAGE_MODELS: 'a/images',
  };
  return {
    host: await startHost({ targets: [{ virtual_key: 'replicate' }], ...config }, { variables, clock }),
    upstream,
    cancelled,
  };
}

const chat = (host: TestHost, more: object = {}): ReturnType<TestHost['post']> =>
  host.post('/v1/chat/completions', ask('hi', { model: MODEL, ...more }));

/** A client that leaves when the test says so. */
function leaving(host: TestHost, more: object = {}): { leave(): void; firstBytes: Promise<unknown> } {
  const controller = new AbortController();
  const answer = fetch(`${host.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(ask('hi', { model: MODEL, ...more })),
    signal: controller.signal,
  });
  const firstBytes = answer.then((response) => response.body?.getReader().read());
  firstBytes.catch(() => {});
  return { leave: () => controller.abort(), firstBytes };
}

const routes = ({ seen }: StubUpstream): string[] => seen.map(({ method, url }) => `${method} ${url}`);

/** Creates a prediction whose stream is at `address`, and answers its polls. */
function creates(request: SeenRequest, response: ServerResponse, address: string): void {
  if (request.method === 'POST') replyJson(response, 201, { ...file('chat/starting'), urls: { stream: address } });
  else replyJson(response, 200, file('chat/reply'));
}

describe('replicate, live', () => {
  it('answers after a few polls, with its token on every call', async () => {
    let polls = 0;
    const { host, upstream } = await gateway((request, response) => {
      if (request.method === 'POST') replyJson(response, 201, file('chat/starting'));
      else replyJson(response, 200, file((polls += 1) < 3 ? 'chat/processing' : 'chat/reply'));
    });
    const answer = await chat(host, { max_tokens: 64, temperature: 0.2 });
    expect(answer.json()).to.deep.include({
      id: ID,
      provider: 'replicate',
      model: MODEL,
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    const poll = `GET /v1/predictions/${ID}`;
    expect(routes(upstream)).to.deep.equal([`POST /v1/models/${MODEL}/predictions`, poll, poll, poll]);
    expect(upstream.seen.map(({ headers }) => headers.authorization)).to.deep.equal(
      Array.from({ length: 4 }, () => `Bearer ${TOKEN}`),
    );
    expect(upstream.seen[0]?.headers['prefer']).to.equal('wait');
  });

  it('streams from the address it is given, and keeps its token from other hosts', async () => {
    const elsewhere = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(golden('replicate/chat/stream.txt'));
    });
    const { host, upstream } = await gateway((request, response) =>
      creates(request, response, `${elsewhere.url}/files/1?x=y`),
    );
    const events = (await chat(host, { stream: true })).events();
    expect(
      events
        .slice(0, -1)
        .map(({ id, choices: [{ delta, finish_reason }], usage }) => [
          id,
          delta.content,
          finish_reason,
          usage?.total_tokens,
        ]),
    ).to.deep.equal([
      [ID, 'conformance', null, undefined],
      [ID, ' ok', null, undefined],
      [ID, undefined, 'stop', 18],
    ]);
    expect(events.at(-1)).to.equal('[DONE]');
    const [opened] = elsewhere.seen;
    expect([opened?.url, opened?.headers['accept'], opened?.headers.authorization]).to.deep.equal([
      '/files/1?x=y',
      'text/event-stream',
      undefined,
    ]);
    expect(routes(upstream)).to.deep.equal([`POST /v1/models/${MODEL}/predictions`, `GET /v1/predictions/${ID}`]);
    expect(upstream.seen[0]?.headers).to.not.have.property('prefer');
  });

  it('ends a stream although its connection stays open', async () => {
    const { host } = await gateway((request, response, upstream) => {
      if (request.url === '/files')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(golden('replicate/chat/stream.txt'));
      else creates(request, response, `${upstream.url}/files`);
    });
    expect((await chat(host, { stream: true })).events().at(-1)).to.equal('[DONE]');
  });

  it('fails with the words of the service, whole or streamed', async () => {
    const { host } = await gateway((_request, response) => replyJson(response, 401, file('chat/error-401')));
    for (const stream of [false, true])
      expect((await chat(host, { stream })).json().error.code).to.equal('upstream_auth_error');
    const refusing = await gateway((_request, response) => replyJson(response, 201, file('chat/refused')));
    for (const stream of [false, true]) {
      const answer = await chat(refusing.host, { stream });
      expect([answer.status, answer.json().error.message]).to.satisfy(
        ([status, message]: [number, string]) => status === 400 && message.includes('flagged as sensitive'),
      );
    }
    const broken = await gateway((request, response, upstream) => {
      if (request.url === '/files')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(golden('replicate/chat/error.txt'));
      else creates(request, response, `${upstream.url}/files`);
    });
    expect((await chat(broken.host, { stream: true })).events().at(-1)).to.have.nested.property(
      'error.type',
      'stream_error',
    );
  });

  it('cancels the prediction when the client leaves while it is asked for', async () => {
    const { promise: polled, resolve } = Promise.withResolvers<void>();
    const { host, cancelled } = await gateway((request, response) => {
      replyJson(response, request.method === 'POST' ? 201 : 200, file('chat/processing'));
      if (request.method === 'GET') resolve();
    });
    const client = leaving(host);
    await polled;
    client.leave();
    const { method, url, headers } = await cancelled;
    expect([method, url, headers.authorization]).to.deep.equal(['POST', CANCEL, `Bearer ${TOKEN}`]);
  });

  it('cancels the prediction, and closes its stream, when the client leaves a stream', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { host, cancelled } = await gateway((request, response, upstream) => {
      if (request.url !== '/files') return creates(request, response, `${upstream.url}/files`);
      response.on('close', resolve);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: output\ndata: first\n\n');
    });
    const client = leaving(host, { stream: true });
    await client.firstBytes;
    client.leave();
    expect((await cancelled).url).to.equal(CANCEL);
    await closed;
  });

  it('cancels the prediction when the request runs out of time', async () => {
    const { host, cancelled } = await gateway(
      (request, response) => replyJson(response, request.method === 'POST' ? 201 : 200, file('chat/processing')),
      { request_timeout: '80ms' },
    );
    const answer = await chat(host);
    expect([answer.status, answer.json().error.code]).to.deep.equal([504, 'gateway_timeout']);
    expect((await cancelled).url).to.equal(CANCEL);
  });

  it('makes an error of any status, and of any body that holds no prediction', async () => {
    let reply: readonly [status: number, body: string] = [200, ''];
    const { host } = await gateway((_request, response) => {
      response.writeHead(reply[0], { 'content-type': 'application/json' }).end(reply[1]);
    });
    const wrong: unknown[] = [];
    for (const surface of ['chat', 'images'] as const) {
      for (const [status, body, stream] of strangeReplies(surface, false)) {
        reply = [status, body];
        const answer =
          surface === 'chat'
            ? await chat(host, { stream })
            : await host.post('/v1/images/generations', { model: 'a/images', prompt: 'p' });
        if (answer.status !== 502 || answer.json().error.code !== 'upstream_error')
          wrong.push([surface, stream, status, body, answer.status, answer.text]);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it('lets neither its token nor anything outside an envelope through', async () => {
    const said = { detail: `token ${TOKEN} is refused`, marker: 'outside-the-envelope' };
    for (const status of [302, 400, 401, 404, 422, 429, 500]) {
      const { host } = await gateway((_request, response) => replyJson(response, status, said));
      for (const stream of [false, true])
        expect((await chat(host, { stream })).text, String(status))
          .to.not.include(TOKEN)
          .and.not.include('outside-the-envelope');
      expect(JSON.stringify(host.lines), String(status)).to.not.include(TOKEN);
    }
  });

  it('makes images as addresses, and no other form', async () => {
    const { host, upstream } = await gateway((_request, response) => replyJson(response, 201, file('images/reply')));
    const images = (more: object): ReturnType<TestHost['post']> =>
      host.post('/v1/images/generations', { model: 'a/images', prompt: 'p', n: 2, size: '64x64', ...more });
    expect((await images({})).json().data).to.deep.equal(file('images/reply').output.map((url: string) => ({ url })));
    const refused = await images({ response_format: 'b64_json' });
    expect([refused.status, refused.json().error.code]).to.deep.equal([400, 'unsupported_parameter']);
    expect((await images({ size: 'big' })).status).to.equal(400);
    expect(upstream.seen).to.have.length(1);
  });
});
