import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  MASTER_KEY,
  NO_DASHBOARD,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

async function chatHost(options: TestHostOptions = {}): Promise<{ t: TestHost; stub: StubUpstream }> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return { t: await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] }, options), stub };
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** `fetch` refuses some methods; this one sends any. */
function send(t: TestHost, method: string, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const call = httpRequest(t.url, { method, path, headers, agent: false }, (response) => {
    let text = '';
    response
      .setEncoding('utf8')
      .on('data', (piece: string) => {
        text += piece;
      })
      .on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
  });
  call.on('error', reject).end();
  return promise;
}

const withKey = { authorization: `Bearer ${MASTER_KEY}` };

describe('methods of a native route', () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
    it(`refuses ${method} with 401 and no Allow without a key, with 405 and Allow with one`, async () => {
      const { t, stub } = await chatHost();
      const stranger = await send(t, method, CHAT);
      expect(stranger.status).to.equal(401);
      expect(stranger.headers).not.to.have.property('allow');
      const known = await send(t, method, CHAT, withKey);
      expect(known.status).to.equal(405);
      expect(known.headers['allow']).to.equal('POST');
      expect(known.headers['content-type']).to.equal('application/json');
      const { error } = JSON.parse(known.text);
      expect(error).to.include({ type: 'invalid_request_error', code: 'method_not_supported' });
      expect(error.message).to.include('POST').and.include(CHAT);
      expect(stub.seen).to.have.length(0);
    });
  }

  it('refuses HEAD on a POST route with 405 and no body', async () => {
    const { t } = await chatHost();
    expect((await send(t, 'HEAD', CHAT)).status).to.equal(401);
    const answer = await send(t, 'HEAD', CHAT, withKey);
    expect(answer.status).to.equal(405);
    expect(answer.headers['allow']).to.equal('POST');
    expect(answer.text).to.equal('');
  });

  for (const method of ['PROPFIND', 'MKCOL', 'PURGE', 'M-SEARCH']) {
    it(`answers ${method} with 501 everywhere, before authentication and without Allow`, async () => {
      const { t } = await chatHost();
      for (const path of [CHAT, '/livez', '/nowhere']) {
        for (const headers of [{}, withKey]) {
          const answer = await send(t, method, path, headers);
          expect(answer.status, path).to.equal(501);
          expect(answer.headers).not.to.have.property('allow');
          expect(JSON.parse(answer.text).error).to.include({
            type: 'invalid_request_error',
            code: 'method_not_supported',
          });
        }
      }
    });
  }
});

describe('paths', () => {
  it('are matched with their query left aside', async () => {
    const { t } = await chatHost();
    expect((await t.post(`${CHAT}?trace=1`, ask())).status).to.equal(200);
  });

  for (const path of ['/V1/chat/completions', '/x/v1/chat/completions', '/v1']) {
    it(`know no route at ${path}`, async () => {
      const { t, stub } = await chatHost();
      const answer = await send(t, 'POST', path, withKey);
      expect(answer.status).to.equal(404);
      expect(answer.text).to.equal('404 page not found');
      expect(stub.seen).to.have.length(0);
    });
  }

  it('take an absolute-form target as its path', async () => {
    const { t } = await chatHost();
    expect((await send(t, 'GET', 'http://elsewhere.example/livez')).text).to.equal('{"status":"ok"}');
    expect((await send(t, 'GET', 'http://elsewhere.example/v1/chat/completions')).status).to.equal(401);
    expect((await send(t, 'GET', 'HTTPS://elsewhere.example/v1/chat/completions?x', withKey)).status).to.equal(405);
    expect(t.lines.filter(({ msg }) => msg === 'http request').map(({ path }) => path)).to.deep.equal([CHAT, CHAT]);
  });
});

describe('what no route takes', () => {
  it('is a plain 404 for everything but a browser that asks for a page', async () => {
    const { t } = await chatHost();
    const cases: [method: string, path: string, accept: string | undefined][] = [
      ['GET', '/nowhere', undefined],
      ['GET', '/', '*/*'],
      ['GET', '/nowhere', 'application/json'],
      ['POST', '/nowhere', 'text/html'],
      ['PUT', '/', 'text/html'],
      ['DELETE', '/nowhere', 'text/html'],
      ['OPTIONS', '/nowhere', 'text/html'],
    ];
    for (const [method, path, accept] of cases) {
      const answer = await send(t, method, path, accept === undefined ? {} : { accept });
      expect(answer.status, `${method} ${path} ${accept}`).to.equal(404);
      expect(answer.headers['content-type']).to.equal('text/plain; charset=utf-8');
      expect(answer.text).to.equal('404 page not found');
    }
  });

  it('is the place of the dashboard for a browser, which a build without one says is empty', async () => {
    const { t } = await chatHost({ installDirectory: NO_DASHBOARD });
    for (const path of ['/', '/keys', '/some/deep/link']) {
      const answer = await send(t, 'GET', path, { accept: 'text/html,application/xhtml+xml;q=0.9' });
      expect(answer.status, path).to.equal(503);
      expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(answer.headers['cache-control']).to.equal('no-store');
      expect(answer.text).to.match(/^<!doctype html>/i);
      const head = await send(t, 'HEAD', path, { accept: 'text/html' });
      expect(head.status).to.equal(503);
      expect(head.headers['content-length']).to.equal(String(Buffer.byteLength(answer.text)));
      expect(head.text).to.equal('');
    }
  });

  it('never shows a page under /v1', async () => {
    const { t } = await chatHost();
    expect((await send(t, 'GET', '/v1/unknown', { accept: 'text/html' })).status).to.equal(401);
    const answer = await send(t, 'GET', '/v1/unknown', { accept: 'text/html', ...withKey });
    expect(answer.headers['content-type']).not.to.include('text/html');
  });
});
