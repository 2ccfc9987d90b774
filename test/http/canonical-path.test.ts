import { expect } from 'chai';
import {
  chatReply,
  MASTER_KEY,
  rawClient,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const ABLE = { passthrough: true, responses: true, batches: true };
const CHAT = '/v1/chat/completions';

interface Scene {
  readonly t: TestHost;
  readonly stub: StubUpstream;
  /** Status and text of one request, whose target is sent exactly as it is written here. */
  readonly send: (
    method: string,
    target: string,
    headers?: string,
  ) => Promise<{ readonly status: number; readonly text: string }>;
}

async function scene(config: object = {}): Promise<Scene> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const t = await startHost({
    targets: [stub.target('a', { models: ['m', 'gemini-2.5-pro'] }, ABLE)],
    batch_target: 'a',
    responses_target: 'a',
    ...config,
  });
  const send: Scene['send'] = async (
    method,
    target,
    headers = `Authorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\n`,
  ) => {
    const body =
      method === 'POST'
        ? JSON.stringify({
            model: 'm',
            messages: [{ role: 'user', content: 'hi' }],
            contents: [{ parts: [{ text: 'hi' }] }],
          })
        : '';
    const client = await rawClient(t.url);
    client.send(
      `${method} ${target} HTTP/1.1\r\nHost: h\r\n${headers}Connection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const text = await client.closed();
    return { status: Number(text.slice(9, 12)), text };
  };
  return { t, stub, send };
}

const lineOf = ({ lines }: TestHost): Record<string, unknown> | undefined =>
  lines.findLast(({ msg }) => msg === 'http request');

describe('a path of a route with other slashes', () => {
  for (const target of [
    `${CHAT}/`,
    '/v1//chat/completions',
    '//v1/chat/completions',
    '/v1/chat//completions///',
    `http://elsewhere.example/v1//chat/completions`,
    `${CHAT}/?x=%63`,
  ]) {
    it(`is served by it: ${target}`, async () => {
      const { send, t, stub } = await scene();
      const { status, text } = await send('POST', target);
      expect([status, /x-gateway-attempts: 1/i.test(text)]).to.deep.equal([200, true]);
      expect(stub.seen.map(({ url }) => url)).to.deep.equal(['/chat/completions']);
      expect(lineOf(t)).to.include({
        path: CHAT,
        raw_path: target.replace('http://elsewhere.example', '').replace(/\?.*/, ''),
      });
    });
  }

  it('has its methods, its wire and its credential', async () => {
    const { send, t } = await scene();
    expect((await send('GET', `${CHAT}//`)).text)
      .to.match(/^HTTP\/1\.1 405 /)
      .and.include('Allow: POST')
      .and.include(`GET is not supported on ${CHAT}`);
    expect((await send('GET', '//v1/models/')).status).to.equal(200);
    expect((await send('HEAD', '/v1/models/')).text).to.match(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
    expect((await send('POST', '//v1/messages/', '')).text)
      .to.match(/^HTTP\/1\.1 401 /)
      .and.include('"type":"error"');
    expect((await send('POST', `/${CHAT}`, '')).status).to.equal(401);
    expect(lineOf(t)).to.include({ path: CHAT, raw_path: `/${CHAT}`, status: 401 });
    expect((await send('OPTIONS', `/${CHAT}`, 'Origin: https://elsewhere.example\r\n')).status).to.equal(204);
  });

  it('may have a parameter', async () => {
    const { send, stub } = await scene();
    expect((await send('POST', '/v1beta/models/gemini-2.5-pro:generateContent/')).status).to.equal(200);
    expect((await send('POST', '/v1beta//models/gemini-2.5-pro:generateContent')).status).to.equal(200);
    expect((await send('GET', '/v1beta//models/gemini-2.5-pro')).status).to.equal(200);
    expect(stub.seen.map(({ url }) => url)).to.deep.equal(['/chat/completions', '/chat/completions']);
  });

  it('is one that is passed through with the same rules, and goes on in its one form', async () => {
    const { send, stub } = await scene();
    for (const target of ['/v1/responses/', '/v1//responses/compact', '/v1/responses//input_tokens/'])
      expect((await send('POST', target)).status, target).to.equal(200);
    expect(stub.seen.map(({ url }) => url)).to.deep.equal([
      '/responses',
      '/responses/compact',
      '/responses/input_tokens',
    ]);
    expect((await send('GET', '/v1/responses//')).status).to.equal(405);
  });
});

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  [CHAT]: [
    '/v1/%63hat/completions',
    '/v1/chat%2Fcompletions',
    '/v1/chat%2fcompletions',
    '/v1/chat/completion%73',
    '/v1/chat/completions%2F',
    '/v1/%2563hat/completions',
    '/v1/%25252563hat/completions',
    '/v1/chat/completions%3Fa',
    '/v1/chat/completions%3Fa/b',
    '/v1/chat/completions%23a',
    '/v1/chat/completions%20',
    '/v1/chat/%20completions',
    '/v1/chat/completions+',
    '/v1/chat/completions.',
    '/v1/chat;x=1/completions',
    '/v1/chat/completions;v=2',
    '/v1/chat%3bx/completions',
    '/v1/%63hat;x%2Fy/completions',
    '/v1/chat/completions;x%5Cy',
    '/v1/chat%5Ccompletions',
    '/v1/Chat/Completions',
    '/v1/v1/chat/completions',
    '/v1//v1/V1/chat/completions/',
    '/v1%2Fchat%2Fcompletions',
    '/v1;x/chat/completions',
    '/v1/%c1%a3hat/completions',
    '/v1/%e0%81%a3hat/completions',
    '/v1/%u0063hat/completions',
    '/v1/%ef%bd%83hat/completions',
    '/v1/%c5%a3hat/completions',
    '/v1/c%c2%adhat/completions',
    '/v1/c%ffhat/completions',
    '/v1/chat%ef%bc%8fcompletions',
    '/v1/chat%e2%81%84completions',
    '//v1/%63hat//completions',
  ],
  '/v1/responses': ['/v1/%72esponses', '/v1/RESPONSES', '/v1/responses%2F', '/v1/responses%3Fx/y'],
  '/v1/responses/compact': ['/v1/responses/%63ompact', '/v1/responses%2Fcompact', '/v1/responses/Compact'],
  '/v1/responses/input_tokens': ['/v1/responses/input%5ftokens'],
  '/v1/messages': ['/v1/%6dessages'],
  '/v1/images/edits': ['/v1/images/%65dits', '/v1/Images/edits'],
  '/v1/embeddings': ['/v1/%65mbeddings', '/v1/EMBEDDINGS', '/v1/v1/v1/embeddings'],
  '/v1/models': ['/v1/models%2F'],
  '/v1/models/{model}:generateContent': [
    '/v1/models/m%3AgenerateContent',
    '/v1/models/a/b:GENERATECONTENT',
    '/v1/Models/m:generateContent',
  ],
  '/v1beta/models/{model}:generateContent': [
    '/v1/v1beta/models/m:generateContent',
    '/v1beta/models/m:generateContent;x',
    '/v1beta/models%2Fm:generateContent',
  ],
};

describe('another spelling of a route', () => {
  for (const [route, targets] of Object.entries(REFUSED)) {
    it(`is refused, and nothing is sent: ${route}`, async () => {
      const { send, t, stub } = await scene();
      for (const target of targets) {
        const { status, text } = await send('POST', target);
        expect(status, target).to.equal(400);
        expect(text, target).to.include(`the path is another spelling of ${route}`);
        expect(lineOf(t), target).to.include({ raw_path: target, status: 400 });
        expect((await send('POST', target, '')).status, `${target} without a credential`).to.equal(401);
      }
      expect(stub.seen).to.deep.equal([]);
    });
  }

  it('is malformed with a backslash', async () => {
    const { send, stub } = await scene();
    expect((await send('POST', '/v1\\chat\\completions')).status).to.equal(400);
    expect(stub.seen).to.deep.equal([]);
  });

  it('is refused for a WebSocket too', async () => {
    const { send, stub } = await scene();
    const upgrade = `Authorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\n`;
    for (const target of ['/v1/%72esponses?model=m', '/v1/%63hat/completions?model=m', '/v1/v1/responses?model=m'])
      expect((await send('GET', target, upgrade)).text, target).to.match(/^HTTP\/1\.1 400 [^]*invalid_proxy_path/);
    expect((await send('GET', `${CHAT}/?model=m`, upgrade)).status).to.equal(405);
    expect(stub.seen).to.deep.equal([]);
  });

  it('is a path that leads elsewhere, as it was', async () => {
    const { send, stub } = await scene();
    for (const target of [
      '/v1/../v1/chat/completions',
      '/v1/%2e%2e/x',
      '/v1/x/%252e%252e/chat/completions',
      '/v1/./chat/completions',
    ])
      expect((await send('POST', target)).text, target).to.match(/^HTTP\/1\.1 400 [^]*invalid_proxy_path/);
    expect(stub.seen).to.deep.equal([]);
  });

  it('is a path that is too long to be read, or can be read in too many ways', async () => {
    const { send, stub } = await scene();
    const many = Array.from({ length: 7 }, (_each, at) => `;%${'25'.repeat(at)}3b%${'25'.repeat(at)}5c`).join('/');
    for (const target of [
      `/v1/chat${'/'.repeat(9000)}completions`,
      `${CHAT};${'x'.repeat(9000)}`,
      `/v1/x${many}%3Fy`,
      `/v1/${'%25'.repeat(20)}63hat/completions`,
    ])
      expect((await send('POST', target)).text, target.slice(0, 40)).to.match(/^HTTP\/1\.1 400 [^]*invalid_proxy_path/);
    expect(stub.seen).to.deep.equal([]);
  });
});

describe('a path that is not one of a route in any reading', () => {
  for (const [method, target] of [
    ['POST', '/v1/chat/completionsx'],
    ['POST', '/v1/fine_tuning/jobs'],
    ['GET', '/v1/vector_stores/vs%201'],
    ['GET', '/v1/chat/completions/chatcmpl-1/messages'],
    ['POST', '/v1/x//y/'],
    ['DELETE', '/v1/models/ft:gpt-4o:Acme%3Ax'],
    ['GET', '/v1/x;y=1/z'],
    ['GET', '/v1/files/file-1/'],
    ['GET', '/v1/responses/resp_1/'],
    ['GET', '/v1/%66iles/x'],
    ['POST', '/v1/uploads?chat/completions=/v1/chat/completions'],
    ['GET', '/v1/%E4%B8%80/%F0%9F%98%80'],
  ] as const) {
    it(`is forwarded as it was written: ${method} ${target}`, async () => {
      const { send, stub, t } = await scene();
      expect((await send(method, target)).status).to.equal(200);
      expect(stub.seen.map(({ url }) => url)).to.deep.equal([target.slice(3)]);
      expect(lineOf(t)).not.to.have.property('raw_path');
    });
  }

  it('names a model that is encoded', async () => {
    const { send } = await scene();
    expect((await send('GET', '/v1beta/models/a%2Fb')).text).to.include('a/b');
    expect(
      (await send('GET', '/v1/models/gemini-2%2E5-pro', `Authorization: Bearer ${MASTER_KEY}\r\n`)).status,
    ).to.equal(200);
  });

  for (const target of [
    '/V1/chat/completions',
    '/admin/%6beys',
    '/x//v1/chat/completions',
    '//x/v1/chat/completions',
    '//v1/fine_tuning/jobs',
  ]) {
    it(`is a plain 404: ${target}`, async () => {
      const { send, stub } = await scene();
      const { status, text } = await send('POST', target);
      expect([status, text.endsWith('404 page not found')]).to.deep.equal([404, true]);
      expect(stub.seen).to.deep.equal([]);
    });
  }

  it('has the rules of its family, however it is written', async () => {
    const { send, t } = await scene({ batch_target: undefined, responses_target: undefined });
    for (const target of ['/v1/Files', '/v1/%42ATCHES/b', '/v1/v1/files', '/v1/files;x/y', '/v1/x%3Fy']) {
      const { status } = await send('GET', target);
      expect(status, target).to.equal(target === '/v1/x%3Fy' ? 200 : 501);
    }
    expect((await send('GET', '/v1/Responses/resp_1')).status).to.equal(501);
    expect(t.lines.filter(({ msg }) => msg === 'panic recovered')).to.deep.equal([]);
  });
});
