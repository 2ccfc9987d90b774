import { expect } from 'chai';
import Joi from 'joi';
import { answer, definePlugin, type PluginModule } from 'gw/contract';
import { ClientWires } from '../../host/wire/client-wires.ts';
import { COMMON_WIRE } from '../../host/wire/common-wire.ts';
import {
  type Answer,
  ask,
  chatReply,
  MASTER_KEY,
  rawClient,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { PLANTED, ROOT, TYPE } from './planted-wire.ts';

const COMMON = '/v1/chat/completions';
const PATH = `${ROOT}/chat`;
const ID = '0123456789abcdef0123456789abcdef';
const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;

const speaking = (): Promise<StubUpstream> =>
  stubUpstream((request, response) => {
    if (request.json()['stream'] === true) replyStream(response, ['Grüße', ' a', ' b', ' 😀']);
    else replyJson(response, 200, chatReply('hello'));
  });

async function startPlanted(upstream: StubUpstream, options: TestHostOptions = {}): Promise<TestHost> {
  return startHost(
    { strategy: { mode: 'single' }, targets: [upstream.target('a')] },
    { builtins: PLANTED, ...options },
  );
}

interface Refusal {
  readonly what: string;
  readonly status: number;
  readonly code: string;
  /** The bytes of a request for this path. */
  readonly request: (path: string) => string;
}

const REFUSALS: readonly Refusal[] = [
  { what: 'a missing host', status: 400, code: 'invalid_request', request: (path) => `POST ${path} HTTP/1.1\r\n\r\n` },
  {
    what: 'a chunk without a length',
    status: 400,
    code: 'invalid_request',
    request: (path) => `POST ${path} HTTP/1.1\r\nHost: h\r\n${KEY}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  },
  {
    what: 'another transfer coding',
    status: 501,
    code: 'invalid_request',
    request: (path) => `POST ${path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  },
  {
    what: 'an unknown method',
    status: 501,
    code: 'method_not_supported',
    request: (path) => `PURGE ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
  },
  {
    what: 'an unknown method and a whole address',
    status: 501,
    code: 'method_not_supported',
    request: (path) => `PURGE http://h${path}?x=/v1/planted HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
  },
  {
    what: 'a missing credential',
    status: 401,
    code: 'missing_api_key',
    request: (path) => `POST ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
  },
  {
    what: 'a wrong credential',
    status: 401,
    code: 'invalid_api_key',
    request: (path) => `POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n`,
  },
  {
    what: 'a wrong method',
    status: 405,
    code: 'method_not_supported',
    request: (path) => `PUT ${path} HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\n\r\n`,
  },
  {
    what: 'a large body',
    status: 413,
    code: 'request_too_large',
    request: (path) =>
      `POST ${path} HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nContent-Length: 99999999\r\n\r\n`,
  },
  {
    what: 'a body that is not JSON',
    status: 400,
    code: 'invalid_request',
    request: (path) => `POST ${path} HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nContent-Length: 1\r\n\r\n{`,
  },
  {
    what: 'a body that its surface refuses',
    status: 400,
    code: 'invalid_request',
    request: (path) => `POST ${path} HTTP/1.1\r\nHost: h\r\n${KEY}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
  },
];

interface Raw {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** What comes back until the body has as many bytes as the head says. */
async function send(host: TestHost, bytes: string): Promise<Raw> {
  const client = await rawClient(host.url);
  client.send(bytes);
  const [head = ''] = (await client.until(/\r\n\r\n/)).split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
  const text = await client.until(new RegExp(`\\r\\n\\r\\n[^]{${headers.get('content-length')}}`));
  client.socket.destroy();
  return { status: Number(first.split(' ')[1]), headers, body: text.slice(head.length + 4) };
}

/** The planted form of an error, whose other half the headers tell. */
function planted({ status, headers }: Pick<Raw, 'status' | 'headers'>, code: string): string {
  return `${status} ${code} ${headers.get('x-request-id')} ${headers.get('retry-after') ?? '-'} `;
}

function expectPlanted(raw: Raw, status: number, code: string): void {
  expect(raw.status).to.equal(status);
  expect(raw.headers.get('content-type')).to.equal(TYPE);
  expect(raw.body.startsWith(planted(raw, code)), raw.body).to.equal(true);
}

const asRaw = ({ status, headers, text }: Answer): Raw => ({ status, headers, body: text });

describe('the wire of a path', () => {
  const one = { ...COMMON_WIRE };
  const other = { ...COMMON_WIRE };

  it('is the common one, unless another claims the path or one above it', () => {
    const wires = new ClientWires();
    expect(wires.of('/')).to.equal(COMMON_WIRE);
    wires.claim('/v1/one', one);
    for (const path of ['/v1/one', '/v1/one/', '/v1/one/a/b']) expect(wires.of(path), path).to.equal(one);
    for (const path of ['/', '/v1', '/v1/on', '/v1/ones', '/v1/One', '/v2/v1/one'])
      expect(wires.of(path), path).to.equal(COMMON_WIRE);
  });

  it('is that of the closest claim, whichever came first', () => {
    for (const claims of [
      ['/a', '/a/b'],
      ['/a/b', '/a'],
    ]) {
      const wires = new ClientWires();
      for (const path of claims) wires.claim(path, path === '/a' ? one : other);
      expect(wires.of('/a/c')).to.equal(one);
      expect(wires.of('/a/b/c')).to.equal(other);
    }
  });

  it('cannot be claimed twice', () => {
    const wires = new ClientWires();
    wires.claim('/a', one);
    expect(() => wires.claim('/a', other)).to.throw('two wires claim /a');
  });

  it('is known whatever was asked for before, and after a claim that comes late', () => {
    const wires = new ClientWires();
    wires.claim('/v1/own', one);
    for (let path = 0; path < 1000; path += 1) wires.of(`/v1/${path}`);
    for (const path of ['/v1/own', '/v1/own/below', `/v1/own/${'x'.repeat(1000)}`])
      for (const _again of [1, 2]) expect(wires.of(path), path).to.equal(one);
    expect(wires.of('/v1/late')).to.equal(COMMON_WIRE);
    wires.claim('/v1/late', one);
    expect(wires.of('/v1/late')).to.equal(one);
  });
});

describe('an error before the pipeline', () => {
  for (const { what, status, code, request } of REFUSALS) {
    it(`is in the wire of the path: ${what}, ${status}`, async () => {
      const host = await startPlanted(await speaking());
      expectPlanted(await send(host, request(PATH)), status, code);
      const common = await send(host, request(COMMON));
      expect(common.status).to.equal(status);
      expect(common.headers.get('content-type')).to.equal('application/json');
      expect(JSON.parse(common.body).error.code).to.equal(code);
    });
  }

  it('is in the wire of the path where no route is', async () => {
    const host = await startPlanted(await speaking());
    const nowhere = await host.get(`${ROOT}/nowhere`);
    expect(nowhere.status).to.equal(400);
    expect(nowhere.text).to.match(/^400 provider_not_resolved \w{32} - /);
    expect((await host.get('/v1/nowhere')).json().error.code).to.equal('provider_not_resolved');
  });

  it('is in the wire of the path when there were too many requests, with the seconds of the header', async () => {
    const host = await startPlanted(await speaking(), {
      variables: { RATE_LIMIT_RPS: '0.0001', RATE_LIMIT_BURST: '1' },
    });
    await host.get('/v1/models');
    const refused = await host.post(PATH, { say: 'hi' });
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    expectPlanted(asRaw(refused), 429, 'rate_limit_exceeded');
  });

  it('is in the wire of the path when the gateway itself fails', async () => {
    const host = await startPlanted(await speaking());
    expectPlanted(asRaw(await host.get(`${ROOT}/panic`)), 500, 'internal_error');
  });
});

describe('an exchange of another wire', () => {
  it('answers in its wire', async () => {
    const host = await startPlanted(await speaking());
    const whole = await host.post(PATH, { say: 'hi' }, { 'x-request-id': ID });
    expect(whole.json()).to.deep.equal({ id: ID, said: 'hello' });
    expect((await host.post(COMMON, ask())).json().choices[0].message.content).to.equal('hello');
  });

  it('fails in its wire, with the status and the headers of the common one', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(503, { 'retry-after': '7' }).end();
    });
    const host = await startPlanted(upstream);
    const common = await host.post(COMMON, ask());
    for (const streaming of [false, true]) {
      const failed = await host.post(PATH, { say: 'hi', streaming });
      expectPlanted(asRaw(failed), common.status, common.json().error.code as string);
      expect(failed.headers.get('retry-after')).to.equal('7');
      expect(failed.headers.get('x-gateway-target')).to.equal('a');
    }
    expectPlanted(asRaw(await host.post(PATH, { say: 'hi', model: 'nosuch' })), 404, 'model_not_found');
  });

  it('streams in its wire, also what the common one would pass on as it came', async () => {
    const host = await startPlanted(await speaking());
    const streamed = await host.post(PATH, { say: 'hi', streaming: true }, { 'x-request-id': ID });
    expect(streamed.headers.get('content-type')).to.equal(TYPE);
    expect(streamed.text).to.equal(`1 opens ${ID}\n2 Grüße\n3  a\n4  b\n5  😀\n6 closes\n`);
    expect((await host.post(COMMON, ask('hi', { stream: true }))).text).to.match(/^data: [^]*\ndata: \[DONE\]\n\n$/);
  });

  it('ends a stream that broke off in its wire, by the error itself', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        sseEvent({ choices: [{ index: 0, delta: { content: 'a' } }] }) +
          sseEvent({ error: { message: 'its own message' } }),
      );
    });
    const host = await startPlanted(upstream);
    const broken = await host.post(PATH, { say: 'hi', streaming: true }, { 'x-request-id': ID });
    expect(broken.text).to.equal(`1 opens ${ID}\n2 a\n3 breaks 502 upstream_error ${ID} - its own message\n`);
    expect((await host.post(COMMON, ask('hi', { stream: true }))).events().at(-1)).to.deep.equal({
      error: { message: 'its own message', type: 'stream_error', code: 'stream_error' },
    });
  });

  it('streams nothing of an attempt that failed before its first chunk', async () => {
    const broken = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hello\n\n');
    });
    const healthy = await speaking();
    const host = await startHost(
      { strategy: { mode: 'fallback' }, targets: [broken.target('a'), healthy.target('b')] },
      { builtins: PLANTED },
    );
    const streamed = await host.post(PATH, { say: 'hi', streaming: true }, { 'x-request-id': ID });
    expect(streamed.headers.get('x-gateway-target')).to.equal('b');
    expect(streamed.text).to.match(new RegExp(`^1 opens ${ID}\\n2 Grüße\\n`));
  });

  it('streams the answer of a plugin in its wire', async () => {
    const oracle: PluginModule = definePlugin({
      name: 'oracle',
      type: 'guardrail',
      summary: 'Answers itself',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: () => answer(chatReply('forty characters are one piece of an answer') as never),
      }),
    });
    const upstream = await speaking();
    const config = {
      strategy: { mode: 'single' },
      targets: [upstream.target('a')],
      plugins: [{ name: 'oracle', stage: 'before_request', enabled: true }],
    };
    const host = await startHost(config, { builtins: PLANTED, modules: [oracle] });
    const streamed = await host.post(PATH, { say: 'hi', streaming: true }, { 'x-request-id': ID });
    expect(streamed.text).to.equal(`1 opens ${ID}\n2 forty character\n3 s are one piece\n4  of an answer\n5 closes\n`);
    expect((await host.post(PATH, { say: 'hi' }, { 'x-request-id': ID })).json().said).to.equal(
      'forty characters are one piece of an answer',
    );
  });
});
