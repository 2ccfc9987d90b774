import { Agent, type ClientRequest, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect } from 'chai';
import { definePlugin } from 'gw/contract';
import Joi from 'joi';
import { MAX_DEPTH } from '../../host/contract/json/json-shape.ts';
import { atEnd } from '../kit/cleanup.ts';
import {
  type Answer,
  ask,
  chatReply,
  type FakeClock,
  fakeClock,
  MASTER_KEY,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

interface Setup {
  readonly t: TestHost;
  readonly stub: StubUpstream;
  readonly config: object;
}

async function chatHost(more: object = {}, options: TestHostOptions = {}): Promise<Setup> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const config = { strategy: { mode: 'fallback' }, targets: [stub.target('a')], ...more };
  return { t: await startHost(config, options), stub, config };
}

/** The minimal chat request as text, with further members in front of its closing brace. */
const withMembers = (members: string): string =>
  `{"model":"m","messages":[{"role":"user","content":"hi"}]${members === '' ? '' : `,${members}`}}`;

/** A body that is padded with blanks to an exact number of bytes. */
const ofBytes = (bytes: number): string => withMembers('').padEnd(bytes, ' ');

function expectRefused(answer: Answer, status: number, code: string): void {
  expect(answer.status).to.equal(status);
  expect(answer.headers.get('content-type')).to.equal('application/json');
  const { error } = answer.json();
  expect(error).to.include({ type: 'invalid_request_error', code });
  expect(error.message).to.be.a('string').and.not.equal('');
  expect(answer.headers.get('x-gateway-attempts')).to.equal(null);
}

interface Call {
  readonly request: ClientRequest;
  readonly reply: Promise<{ status: number | undefined; text: string }>;
}

/** A chat request whose body is written piece by piece; without a length it goes in chunks. */
function open(t: TestHost, headers: Record<string, string> = {}, agent: Agent | false = false): Call {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; text: string }>();
  const request = httpRequest(
    t.url,
    { method: 'POST', path: CHAT, agent, headers: { authorization: `Bearer ${MASTER_KEY}`, ...headers } },
    (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          text += piece;
        })
        .on('end', () => resolve({ status: response.statusCode, text }));
    },
  );
  request.on('error', reject);
  return { request, reply: promise };
}

/** An upload under a clock that stands still; `write` resolves when the gateway has read the bytes. */
async function slowUpload(): Promise<
  Call & { readonly t: TestHost; readonly clock: FakeClock; readonly write: (text: string) => Promise<void> }
> {
  const clock = fakeClock();
  const { t } = await chatHost({}, { clock });
  const connected = Promise.withResolvers<Socket>();
  t.server.once('connection', connected.resolve);
  const call = open(t);
  call.request.flushHeaders();
  atEnd(() => {
    call.request.destroy();
  });
  const socket = await connected.promise;
  while (clock.waiting === 0) await turn();
  const write = async (text: string): Promise<void> => {
    const expected = socket.bytesRead + text.length;
    call.request.write(text);
    while (socket.bytesRead < expected) await turn();
    await turn();
  };
  return { ...call, t, clock, write };
}

/** One turn of the event loop. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('the size of a body', () => {
  it('is bounded by 10 MiB unless the configuration says otherwise', async () => {
    const limit = 10 * 1024 * 1024;
    const { t, stub } = await chatHost();
    expect((await t.post(CHAT, ofBytes(limit))).status).to.equal(200);
    expectRefused(await t.post(CHAT, ofBytes(limit + 1)), 413, 'request_too_large');
    expect(stub.seen).to.have.length(1);
  });

  it('is refused by its declared length before a byte is read', async () => {
    const { t, stub } = await chatHost({ max_request_bytes: 1000 });
    const { request, reply } = open(t, { 'content-length': '1001' });
    request.flushHeaders();
    const { status, text } = await reply;
    request.destroy();
    expect(status).to.equal(413);
    expect(JSON.parse(text).error).to.include({ type: 'invalid_request_error', code: 'request_too_large' });
    expect(JSON.parse(text).error.message).to.equal('request body too large');
    expect(stub.seen).to.have.length(0);
  });

  it('is counted in bytes that were read when no length is declared', async () => {
    const { t, stub } = await chatHost({ max_request_bytes: 1000 });
    const fits = open(t);
    for (const piece of [ofBytes(1000).slice(0, 500), ofBytes(1000).slice(500)]) fits.request.write(piece);
    fits.request.end();
    expect((await fits.reply).status).to.equal(200);
    const tooLarge = open(t);
    tooLarge.request.write(ofBytes(1000));
    tooLarge.request.write(' ');
    expect((await tooLarge.reply).status, 'the body is whole, and goes on').to.equal(413);
    tooLarge.request.destroy();
    expect(stub.seen).to.have.length(1);
  });

  it('comes before what the body says', async () => {
    const { t } = await chatHost({ max_request_bytes: 1000 });
    for (const body of [
      'x'.repeat(1001),
      `{${' '.repeat(1000)}`,
      `${withMembers('')}${'x'.repeat(1000)}`,
      Buffer.alloc(1001, 0xff),
    ]) {
      expectRefused(await t.post(CHAT, body), 413, 'request_too_large');
    }
    expectRefused(await t.post(CHAT, 'x'.repeat(1000)), 400, 'invalid_request');
  });

  it('counts bytes, not characters', async () => {
    const { t } = await chatHost({ max_request_bytes: 200 });
    expect((await t.post(CHAT, ask('ä'.repeat(60)))).status).to.equal(200);
    expectRefused(await t.post(CHAT, ask('ä'.repeat(80))), 413, 'request_too_large');
  });

  it('follows the configuration at once', async () => {
    const { t, config } = await chatHost({ max_request_bytes: 1000 });
    expectRefused(await t.post(CHAT, ofBytes(1500)), 413, 'request_too_large');
    await t.apply({ ...config, max_request_bytes: 2000 });
    expect((await t.post(CHAT, ofBytes(1500))).status).to.equal(200);
    await t.apply({ ...config, max_request_bytes: 200 });
    expectRefused(await t.post(CHAT, ofBytes(1500)), 413, 'request_too_large');
    await t.apply({ ...config, max_request_bytes: 0 });
    expect((await t.post(CHAT, ofBytes(100_000))).status).to.equal(200);
  });

  it('leaves the connection usable after a refusal', async () => {
    const { t } = await chatHost({ max_request_bytes: 1000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    atEnd(() => agent.destroy());
    const refused = open(t, {}, agent);
    refused.request.end('x'.repeat(2_000_000));
    expect((await refused.reply).status).to.equal(413);
    const next = open(t, {}, agent);
    next.request.end(ofBytes(500));
    expect((await next.reply).status).to.equal(200);
    expect(next.request.reusedSocket).to.equal(true);
  });

  it('may take its time, but not stand still for a minute', async () => {
    const { t, clock, write, reply } = await slowUpload();
    await write(withMembers('').slice(0, 20));
    for (let at = 20; at < 60; at += 10) {
      clock.advance(59_000);
      await write(withMembers('').slice(at, at + 10));
    }
    clock.advance(60_000);
    expect((await reply).status).to.equal(408);
    expect(t.host.slot.leases).to.equal(0);
  });

  it('may begin late', async () => {
    const { clock, write, request, reply } = await slowUpload();
    clock.advance(40_000);
    await write(withMembers('').slice(0, 20));
    clock.advance(40_000);
    request.end(withMembers('').slice(20));
    expect((await reply).status).to.equal(200);
  });
});

describe('a JSON body', () => {
  const malformed: [what: string, body: string | Buffer][] = [
    ['nothing', ''],
    ['blanks', ' \n\t '],
    ['a word', 'nonsense'],
    ['a half', '{"model":"m"'],
    ['a trailing comma', '{"model":"m",}'],
    ['single quotes', "{'model':'m'}"],
    ['a comment', '{"model":"m"/* */}'],
    ['a second document', `${withMembers('')}{}`],
    ['garbage after the document', `${withMembers('')}x`],
    ['a NUL after the document', `${withMembers('')}\0`],
    ['a closing brace too much', `${withMembers('')}}`],
    ['NaN', withMembers('"temperature":NaN')],
    ['Infinity', withMembers('"temperature":Infinity')],
    ['a number with a leading zero', withMembers('"n":01')],
    ['a number with a plus', withMembers('"n":+1')],
    ['a raw control character', withMembers('"x":"a\u0001b"')],
    ['a raw line end in a string', withMembers('"x":"a\nb"')],
    ['an unknown escape', withMembers('"x":"\\q"')],
    ['a list', '[]'],
    ['a string', '"model"'],
    ['a number', '5'],
    ['a large number', '12345678901234567890'],
    ['a number out of range', '1e400'],
    ['null', 'null'],
    ['true', 'true'],
    ['a list of requests', `[${withMembers('')}]`],
    ['a lone continuation byte', Buffer.from('{"model":"\x80"}', 'latin1')],
    ['a cut sequence', Buffer.from('{"model":"\xe2\x82"}', 'latin1')],
    ['an overlong encoding', Buffer.from('{"model":"\xc0\xaf"}', 'latin1')],
    ['an encoded surrogate', Buffer.from('{"model":"\xed\xa0\x80"}', 'latin1')],
    ['a byte that no UTF-8 holds', Buffer.from(withMembers('"unread":"\xff"'), 'latin1')],
    ['invalid UTF-8 in a key', Buffer.from(withMembers('"\xfe":1'), 'latin1')],
    ['UTF-16', Buffer.from(withMembers(''), 'utf16le')],
    ['gzip', Buffer.from('1f8b0800000000000003ab5600000000', 'hex')],
  ];
  for (const [what, body] of malformed) {
    it(`is refused as ${what}`, async () => {
      const { t, stub } = await chatHost();
      expectRefused(await t.post(CHAT, body), 400, 'invalid_request');
      expect(stub.seen).to.have.length(0);
    });
  }

  it('is refused by the name of its coding where it is compressed, on every wire', async () => {
    const { t } = await chatHost();
    for (const path of [
      CHAT,
      '/v1/embeddings',
      '/v1/messages',
      '/v1/messages/count_tokens',
      '/v1beta/models/m:generateContent',
      '/v1beta/models/m:countTokens',
    ]) {
      for (const [coding, body] of [
        ['gzip', gzipSync(withMembers(''))],
        ['br', brotliCompressSync(withMembers(''))],
        ['gzip, zstd', zstdCompressSync(gzipSync(withMembers('')))],
      ] as const) {
        const answer = await t.post(path, body, { 'content-encoding': coding });
        expect(answer.status, path).to.equal(400);
        expect(answer.json().error.message, path).to.equal(`the Content-Encoding "${coding}" is not supported`);
      }
    }
  });

  it('may stand between blanks, under any content type and with any member', async () => {
    const { t, stub } = await chatHost();
    expect((await t.post(CHAT, ` \r\n\t${withMembers('')}\n `)).status).to.equal(200);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])
      expect((await t.post(CHAT, ask(), { 'content-type': type })).status, type).to.equal(200);
    expect((await t.post(CHAT, withMembers('"new_field":{"a":[1,null,"x"]},"other":null'))).status).to.equal(200);
    expect(stub.seen.at(-1)?.json()).to.deep.include({ new_field: { a: [1, null, 'x'] }, other: null });
  });

  it('means the last of duplicate keys, for plugins and for the provider alike', async () => {
    const seen: unknown[] = [];
    const probe = definePlugin({
      name: 'probe',
      type: 'guardrail',
      summary: 'Keeps what it sees',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: (exchange) => {
          seen.push(structuredClone(exchange.request));
        },
      }),
    });
    const { t, stub } = await chatHost(
      { plugins: [{ name: 'probe', type: 'guardrail', stage: 'before_request', enabled: true }] },
      { modules: [probe] },
    );
    const body =
      '{"model":"hidden","model":"m","messages":[{"role":"user","content":"bad"}],"messages":[{"role":"user","content":"worse","content":"good"}],"x":1,"x":2}';
    expect((await t.post(CHAT, body)).status).to.equal(200);
    const expected = { model: 'm', messages: [{ role: 'user', content: 'good' }], x: 2 };
    expect(seen).to.deep.equal([expected]);
    expect(stub.seen[0]?.json()).to.deep.equal(expected);
    expect(stub.seen[0]?.text).not.to.match(/hidden|bad|worse/);
  });

  it('keeps integers beyond 2^53 and numbers beyond a double digit for digit', async () => {
    const { t, stub } = await chatHost();
    const members = [
      '"seed":9007199254740993',
      '"a":123456789012345678901234567890',
      '"b":-9007199254740995',
      '"c":[18446744073709551615]',
      '"d":{"e":9223372036854775807}',
      '"f":1e400',
      '"g":-1E+999',
      '"h":9007199254740991',
      '"i":"9007199254740993"',
      '"j":0.5',
      '"k":1.5e3',
      '"l":100000000000000000000',
    ];
    expect((await t.post(CHAT, withMembers(members.join(',')))).status).to.equal(200);
    const sent = stub.seen[0]?.text ?? '';
    for (const member of members.filter((text) => !text.startsWith('"k"'))) expect(sent).to.include(member);
    expect(sent).to.match(/"k":1500\b/);
  });

  it('treats __proto__ and constructor as ordinary keys', async () => {
    const { t, stub } = await chatHost();
    const body =
      '{"model":"m","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"messages":[{"role":"user","content":"hi","__proto__":{"content":"x"}}],"toString":1}';
    expect((await t.post(CHAT, body)).status).to.equal(200);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    expect(stub.seen[0]?.text)
      .to.include('"__proto__":{"polluted":1}')
      .and.include('"__proto__":{"content":"x"}')
      .and.include('"toString":1');
    for (const model of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect((await t.post(CHAT, ask('hi', { model }))).status, model).to.equal(404);
    const nameless = await t.post(CHAT, '{"__proto__":{"model":"m","messages":[{"role":"user","content":"hi"}]}}');
    expectRefused(nameless, 400, 'invalid_request');
    expect(nameless.json().error.message).to.include('model');
  });

  const nested = (levels: number, [left, right]: readonly [string, string], rest = ''): string =>
    withMembers(`${rest}"x":${left.repeat(levels)}1${right.repeat(levels)}`);
  for (const [shape, marks] of [
    ['lists', ['[', ']']],
    ['objects', ['{"a":', '}']],
    ['both in turn', ['[{"a":', '}]']],
  ] as const) {
    it(`is refused when ${shape} are nested deeper than ${MAX_DEPTH} levels`, async () => {
      const { t, stub } = await chatHost();
      const perMark = shape === 'both in turn' ? 2 : 1;
      const deepest = Math.floor((MAX_DEPTH - 1) / perMark);
      expect((await t.post(CHAT, nested(deepest, marks))).status).to.equal(200);
      expect((stub.seen[0]?.text ?? '').length).to.equal(nested(deepest, marks).length);
      for (const levels of [deepest + 1, 5000, 200_000 / perMark]) {
        for (const rest of ['', '"y":12345678901234567890,'])
          expectRefused(await t.post(CHAT, nested(levels, marks, rest)), 400, 'invalid_request');
      }
      expect(stub.seen).to.have.length(1);
    });
  }

  it('keeps nothing of one request for the next', async () => {
    const { t, stub } = await chatHost();
    await t.post(CHAT, withMembers('"temperature":1,"stop":"x","seed":9007199254740993'));
    await t.post(CHAT, '{"model":');
    await t.post(CHAT, withMembers(''));
    expect(stub.seen).to.have.length(2);
    expect(stub.seen[1]?.text).to.equal(withMembers(''));
  });
});
