import { expect } from 'chai';
import {
  ask,
  chatReply,
  MASTER_KEY,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const LISTED = 'https://app.example';

async function chatHost(variables: Record<string, string> = {}, options: TestHostOptions = {}): Promise<TestHost> {
  const stub = await stubUpstream((request, response) => {
    if (request.json()['stream'] === true) replyStream(response, ['hi']);
    else replyJson(response, 200, chatReply('hello'));
  });
  const config = { strategy: { mode: 'fallback' }, max_request_bytes: 1000, targets: [stub.target('a')] };
  return startHost(config, {
    ...options,
    variables: { CORS_ORIGINS: ` ${LISTED} , https://other.example:8443,,`, ...variables },
  });
}

const corsNames = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

function expectListed(headers: Headers, origin = LISTED): void {
  expect(headers.get('access-control-allow-origin')).to.equal(origin);
  expect(headers.get('access-control-allow-methods')).to.equal('GET, POST, PUT, DELETE, OPTIONS');
  expect(headers.get('access-control-max-age')).to.equal('86400');
  const allowed = (headers.get('access-control-allow-headers') ?? '').split(', ');
  expect(allowed, 'also what a provider reads').to.include('anthropic-beta');
  expect(allowed).to.include.members(['Content-Type', 'Authorization', 'X-Provider', 'X-Gateway-Metadata']);
  expect(headers.get('access-control-allow-credentials')).to.equal(null);
  expect(headers.get('vary')).to.equal('Origin');
}

describe('CORS', () => {
  it('lets listed origins read every kind of answer', async () => {
    const t = await chatHost();
    const origin = { origin: LISTED };
    expectListed((await t.post(CHAT, ask(), origin)).headers);
    expectListed((await t.post(CHAT, ask('hi', { stream: true }), origin)).headers);
    expectListed((await t.get('/livez', origin)).headers);
    expectListed(
      (await t.get('/livez', { origin: 'https://other.example:8443' })).headers,
      'https://other.example:8443',
    );
    const refused: [status: number, response: Response][] = [
      [401, await fetch(t.url + CHAT, { method: 'POST', headers: origin })],
      [405, await fetch(t.url + CHAT, { headers: { ...origin, authorization: `Bearer ${MASTER_KEY}` } })],
      [
        413,
        await fetch(t.url + CHAT, {
          method: 'POST',
          body: 'x'.repeat(1001),
          headers: { ...origin, authorization: `Bearer ${MASTER_KEY}` },
        }),
      ],
      [404, await fetch(`${t.url}/nowhere`, { headers: origin })],
      [501, await fetch(`${t.url}/nowhere`, { method: 'PROPFIND', headers: origin })],
      [405, await fetch(`${t.url}/livez`, { method: 'POST', headers: origin })],
    ];
    for (const [status, response] of refused) {
      expect(response.status).to.equal(status);
      expectListed(response.headers);
    }
  });

  it('lets a page of a listed origin read the version of the configuration, and write only over that', async () => {
    const t = await chatHost();
    const { headers } = await t.get('/admin/config', { origin: LISTED });
    expect(headers.get('etag')).to.equal('"0"');
    expect((headers.get('access-control-expose-headers') ?? '').split(', ')).to.include('ETag');
    expect((headers.get('access-control-allow-headers') ?? '').split(', ')).to.include('If-Match');
  });

  for (const origin of [
    'https://evil.example',
    'https://APP.example',
    'http://app.example',
    'https://app.example/',
    'https://app.example:443',
    'https://app.example.evil.example',
    'null',
  ]) {
    it(`tells nothing to ${origin}`, async () => {
      const t = await chatHost();
      const answer = await t.post(CHAT, ask(), { origin });
      expect(answer.status).to.equal(200);
      expect(corsNames(answer.headers)).to.deep.equal([]);
      expect(answer.headers.get('vary')).to.equal('Origin');
    });
  }

  it('varies by origin although none is sent, on every answer', async () => {
    const t = await chatHost();
    const answers = [
      await t.post(CHAT, ask()),
      await t.post(CHAT, ask('hi', { stream: true })),
      await t.get('/livez'),
      await t.get('/nowhere'),
      await t.get(CHAT),
    ];
    for (const { headers } of answers) {
      expect(headers.get('vary')).to.equal('Origin');
      expect(corsNames(headers)).to.deep.equal([]);
    }
  });

  it('has no wildcard', async () => {
    const t = await chatHost({ CORS_ORIGINS: '*, https://*.example.com' });
    for (const origin of ['https://a.example.com', '*', 'https://evil.example']) {
      expect(corsNames((await t.get('/livez', { origin })).headers), origin).to.deep.equal([]);
    }
  });
});

describe('a preflight', () => {
  const preflight = (t: TestHost, path: string, origin: string): Promise<Response> =>
    fetch(t.url + path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });

  for (const path of [CHAT, '/v1/unknown', '/nowhere', '/', '/livez', '/readyz', '/health']) {
    it(`is answered 204 and empty at ${path}, without a key`, async () => {
      const t = await chatHost();
      const listed = await preflight(t, path, LISTED);
      expect(listed.status).to.equal(204);
      expect(await listed.text()).to.equal('');
      expect(listed.headers.get('allow')).to.equal(null);
      expect(listed.headers.get('content-length')).to.equal(null);
      expectListed(listed.headers);
      const stranger = await preflight(t, path, 'https://evil.example');
      expect(stranger.status).to.equal(204);
      expect(corsNames(stranger.headers)).to.deep.equal([]);
      expect(stranger.headers.get('vary')).to.equal('Origin');
    });
  }

  it('is answered the same when no origin is configured', async () => {
    const t = await chatHost({ CORS_ORIGINS: '' });
    const answer = await preflight(t, CHAT, LISTED);
    expect(answer.status).to.equal(204);
    expect(corsNames(answer.headers)).to.deep.equal([]);
  });

  it('does not count as one without an origin', async () => {
    const t = await chatHost();
    expect((await fetch(t.url + CHAT, { method: 'OPTIONS' })).status).to.equal(401);
    const answer = await t.request('OPTIONS', CHAT);
    expect(answer.status).to.equal(405);
    expect(answer.headers.get('allow')).to.equal('POST');
    expect((await t.request('OPTIONS', '/nowhere')).text).to.equal('404 page not found');
  });
});
