import { gzipSync } from 'node:zlib';
import { request as ask } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import {
  eventually,
  MASTER_KEY,
  rawClient,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { bareUpstream } from '../pipeline/bare-upstream.ts';

const ABLE = { passthrough: true, responses: true };
const PATH = '/v1/fine_tuning/jobs';
const CREDENTIAL = 'stub-key-0123456789';

/** One target `a` that may be forwarded to, with model m, and an echo of what it was asked. */
async function forwarding(config: object = {}, target: object = {}): Promise<{ t: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream((request, response) => {
    replyJson(response, 200, { method: request.method, url: request.url, body: request.text });
  });
  const t = await startHost(
    { targets: [upstream.target('a', target, ABLE)], ...config },
    { variables: { STUB_API_KEY: CREDENTIAL } },
  );
  return { t, upstream };
}

describe('a request that no route takes', () => {
  it('goes to the provider that owns its model, as it was written', async () => {
    const { t, upstream } = await forwarding();
    const body = '{ "x": [1, {"model": "inner"}],\n "model":"m", "n": 1.0 }';
    const answer = await t.request('POST', `${PATH}/..x//a%2Fb?after=%20z&after=2`, body);
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({
      method: 'POST',
      url: '/fine_tuning/jobs/..x//a%2Fb?after=%20z&after=2',
      body,
    });
    expect(answer.headers.get('x-gateway-provider')).to.equal('a');
    for (const name of ['x-gateway-target', 'x-gateway-model', 'x-gateway-attempts', 'server-timing'])
      expect(answer.headers.get(name), name).to.equal(null);
    expect(upstream.seen[0]?.headers.authorization).to.equal(`Bearer ${CREDENTIAL}`);
    expect(JSON.stringify(upstream.seen[0]?.headers)).not.to.contain(MASTER_KEY);
  });

  const resolutions: readonly (readonly [
    what: string,
    method: string,
    body: string | undefined,
    headers: Record<string, string>,
    status: number,
    code: string,
  ])[] = [
    ['names an unknown provider', 'GET', undefined, { 'x-provider': 'unheard-of' }, 404, 'provider_not_found'],
    [
      'names an unknown provider, with a model that is owned',
      'POST',
      '{"model":"m"}',
      { 'x-provider': 'unheard-of' },
      404,
      'provider_not_found',
    ],
    ['names a model without an owner', 'POST', '{"model":"other"}', {}, 404, 'model_not_found'],
    ['names nothing', 'GET', undefined, {}, 400, 'provider_not_resolved'],
    ['names a model inside', 'POST', '{"a":{"model":"m"}}', {}, 400, 'provider_not_resolved'],
    ['names no text', 'POST', '{"model":7}', {}, 400, 'provider_not_resolved'],
    ['names an empty model', 'POST', '{"model":""}', {}, 400, 'provider_not_resolved'],
    ['is not JSON', 'POST', 'model=m', {}, 400, 'provider_not_resolved'],
    ['is broken JSON', 'POST', '{"model":"m"', {}, 400, 'provider_not_resolved'],
    ['is a list', 'POST', '["model","m"]', {}, 400, 'provider_not_resolved'],
    ['writes the name in capitals', 'POST', '{"Model":"m"}', {}, 400, 'provider_not_resolved'],
    ['names a model twice', 'POST', '{"model":"m","model":"m"}', {}, 400, 'invalid_request'],
    ['names a model twice, once escaped', 'POST', '{"model":"m","mo\\u0064el":"other"}', {}, 400, 'invalid_request'],
    [
      'names a provider that cannot be forwarded to',
      'GET',
      undefined,
      { 'x-provider': 'native' },
      501,
      'proxy_not_supported',
    ],
    ['names a provider without support', 'GET', undefined, { 'x-provider': 'closed' }, 501, 'proxy_not_supported'],
  ];
  for (const [what, method, body, headers, status, code] of resolutions) {
    it(`is ${status} ${code} when it ${what}, and nothing is sent`, async () => {
      const upstream = await stubUpstream((_request, response) => replyJson(response, 200, {}));
      const native = { ...ABLE, wire: 'native' as const };
      const t = await startHost({
        strategy: { mode: 'fallback' },
        targets: [
          upstream.target('a', {}, ABLE),
          upstream.target('native', { models: ['n'] }, native),
          upstream.target('closed', { models: ['c'] }),
        ],
      });
      const answer = await t.request(method, PATH, body, headers);
      expect([answer.status, answer.json().error.code]).to.deep.equal([status, code]);
      expect(answer.headers.get('x-gateway-provider')).to.equal(null);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('may name its model by an alias, which is not rewritten', async () => {
    const { t, upstream } = await forwarding({ aliases: { quick: 'm' } }, { model_map: { m: 'real' } });
    expect((await t.post(PATH, { model: 'quick' })).status).to.equal(200);
    expect(upstream.seen[0]?.json()).to.deep.equal({ model: 'quick' });
  });

  it('may name its provider, whatever the body is', async () => {
    const { t, upstream } = await forwarding();
    const bytes = Buffer.from([0, 255, 128, 10]);
    expect(
      (await t.request('PUT', PATH, bytes, { 'x-provider': 'a', 'content-type': 'application/octet-stream' })).status,
    ).to.equal(200);
    expect(upstream.seen[0]?.headers['content-type']).to.equal('application/octet-stream');
    expect(upstream.seen[0]?.headers['x-provider']).to.equal(undefined);
  });

  it("carries none of the client's credentials and claims", async () => {
    const { t, upstream } = await forwarding();
    const dropped = {
      cookie: 'a=b',
      'x-api-key': 'one',
      'api-key': 'two',
      'x-goog-api-key': 'three',
      'x-auth-token': 'four',
      'x-amz-security-token': 'five',
      'proxy-authorization': 'six',
      forwarded: 'for=9.9.9.9',
      'x-forwarded-host': 'evil',
      'x-forwarded-prefix': '/x',
      'x-gateway-metadata': '{}',
      'x-gateway-session': 's',
      x_gateway_session: 's',
      'x-gateway-affinity': 'off',
      'x-gateway-tags': 'nightly',
      'x-user-id': 'u',
      'x-session-id': 's',
      baggage: 'a=b',
      tracestate: 'a=b',
      'x-own': `token ${MASTER_KEY}`,
    };
    const kept = {
      'x-custom': 'yes',
      'idempotency-key': 'k',
      'openai-beta': 'assistants=v2',
      'accept-encoding': 'gzip',
    };
    await t.request('GET', PATH, undefined, { ...dropped, ...kept, 'x-provider': 'a' });
    const { headers } = upstream.seen[0]!;
    expect(headers).to.include(kept);
    expect(headers).to.include({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': new URL(t.url).host,
      'x-forwarded-proto': 'http',
      host: new URL(upstream.url).host,
    });
    for (const [name, value] of Object.entries(dropped)) expect(headers[name], name).not.to.equal(value);
  });

  it('keeps the bytes of its headers, empty ones too', async () => {
    const { t, upstream } = await forwarding();
    const client = await rawClient(t.url);
    client.send(
      `GET ${PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nConnection: close\r\nX-Name: ${Buffer.from('é 港').toString('latin1')}\r\nX-Latin: \xe9\r\nX-Empty:\r\n\r\n`,
    );
    expect(await client.closed()).to.match(/^HTTP\/1\.1 200 /);
    expect(upstream.seen[0]?.headers).to.include({
      'x-name': Buffer.from('é 港').toString('latin1'),
      'x-latin': '\xe9',
      'x-empty': '',
    });
  });

  it('keeps headers that the client tied to its connection from going on', async () => {
    const { t, upstream } = await forwarding();
    const client = await rawClient(t.url);
    client.send(
      `GET ${PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nConnection: close, authorization, x-mine\r\nX-Mine: 1\r\nTE: trailers\r\nKeep-Alive: 5\r\n\r\n`,
    );
    await client.closed();
    const { headers } = upstream.seen[0]!;
    expect(headers.authorization).to.equal(`Bearer ${CREDENTIAL}`);
    for (const name of ['x-mine', 'te', 'keep-alive']) expect(headers[name], name).to.equal(undefined);
  });

  it('is not served by TRACE, which would show the credential', async () => {
    const { t, upstream } = await forwarding();
    const client = await rawClient(t.url);
    client.send(
      `TRACE ${PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nConnection: close\r\n\r\n`,
    );
    expect(await client.closed()).to.match(/^HTTP\/1\.1 405 /);
    expect(upstream.seen).to.have.length(0);
  });

  it('is 413 over the limit, without a call', async () => {
    const { t, upstream } = await forwarding({ max_request_bytes: 1000 });
    const answer = await t.request('POST', PATH, 'x'.repeat(1001), { 'x-provider': 'a' });
    expect([answer.status, answer.json().error.code]).to.deep.equal([413, 'request_too_large']);
    expect(upstream.seen).to.have.length(0);
  });

  it('is answered at 200,000 levels of nesting', async () => {
    const { t, upstream } = await forwarding();
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},"model":"m"}`;
    expect((await t.request('POST', PATH, deep)).status).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(deep);
  });

  it('streams both ways', async () => {
    const upstream = await bareUpstream();
    const target = upstream.target('a');
    for (const key of Object.getOwnPropertySymbols(target))
      Object.assign(target, { [key]: { ...(target as never as Record<symbol, object>)[key], ...ABLE } });
    const t = await startHost({ targets: [target] });
    const call = ask(t.url + PATH, { method: 'POST', headers: { authorization: `Bearer ${MASTER_KEY}` } });
    call.write('{"model":"m","input":"fi');
    const { request, response } = await upstream.next();
    const [piece] = (await once(request, 'data')) as [Buffer];
    expect(piece.toString()).to.equal('{"model":"m","input":"fi');
    response.writeHead(200, { 'content-type': 'text/plain' }).write('early');
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(first.toString()).to.equal('early');
    call.end('rst"}');
    await once(request, 'end');
    response.end();
    answer.resume();
    await once(answer, 'end');
  });
});

describe('an answer that is sent on', () => {
  async function answering(
    status: number,
    headers: Record<string, string | string[]>,
    body: string | Buffer,
  ): Promise<TestHost> {
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(status, headers).end(body);
    });
    return startHost(
      { targets: [upstream.target('a', {}, ABLE)] },
      { variables: { STUB_API_KEY: CREDENTIAL, OTHER_SECRET: 'environment-secret-1' } },
    );
  }
  const fetchFrom = (t: TestHost): Promise<Response> =>
    fetch(t.url + PATH, { headers: { authorization: `Bearer ${MASTER_KEY}`, 'x-provider': 'a' }, redirect: 'manual' });

  for (const status of [200, 201, 404, 409, 429, 500, 503]) {
    it(`keeps its status ${status} and its body`, async () => {
      const t = await answering(
        status,
        { 'content-type': 'application/x-own', 'x-own': 'yes', 'retry-after': '7' },
        'words of its own',
      );
      const answer = await fetchFrom(t);
      expect([
        answer.status,
        answer.headers.get('content-type'),
        answer.headers.get('x-own'),
        answer.headers.get('retry-after'),
        await answer.text(),
      ]).to.deep.equal([status, 'application/x-own', 'yes', '7', 'words of its own']);
      expect(answer.headers.get('x-gateway-provider')).to.equal('a');
      const line = t.lines.find(({ msg }) => String(msg).startsWith('pass-through request'));
      expect(line).to.include({
        msg: status < 400 ? 'pass-through request completed' : 'pass-through request failed',
        target: 'a',
      });
    });
  }

  it('shows no credential in headers, nor in the body of a refusal', async () => {
    const t = await answering(
      401,
      {
        'x-echo': ['one ' + CREDENTIAL, 'two environment-secret-1'],
        'x-gateway-provider': 'forged',
        'x-request-id': 'theirs',
        location: `https://x/?k=${CREDENTIAL}`,
      },
      JSON.stringify({ error: { message: `key Bearer ${CREDENTIAL} and environment-secret-1` } }),
    );
    const answer = await fetchFrom(t);
    const text = await answer.text();
    expect(answer.status).to.equal(401);
    expect(text).to.contain('[REDACTED:GATEWAY_CREDENTIAL]').and.to.contain('[REDACTED:OTHER_SECRET]');
    const all = JSON.stringify([...answer.headers]) + text;
    expect(all).not.to.contain(CREDENTIAL).and.not.to.contain('environment-secret-1');
    expect(answer.headers.get('x-gateway-provider')).to.equal('a');
    expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f]{32}$/);
    expect(answer.headers.get('content-length')).to.equal(String(Buffer.byteLength(text)));
  });

  it('loses what looks like a credential in the body of a refusal, and in headers what is known to be one alone', async () => {
    const body = (key: string, mail: string, password: string, bearer: string, secret: string): string =>
      `{"e":"ask ${mail} or http://u:${password}@host, not ${key}, not Bearer ${bearer}, not ${secret}, \u00e9"}`;
    const looks = body(
      `sk-proj-${'a'.repeat(40)}`,
      'ada@example.org',
      'p4ssw0rd',
      'b'.repeat(30),
      `${CREDENTIAL} nor environment-secret-1`,
    );
    const answer = await fetchFrom(
      await answering(404, { 'content-type': 'application/json', 'x-like': looks.slice(0, 100) }, looks),
    );
    expect(await answer.text()).to.equal(
      body(
        '[REDACTED_OPENAI_KEY]',
        '[REDACTED_EMAIL]',
        '[REDACTED]',
        '[REDACTED_BEARER_TOKEN]',
        '[REDACTED:GATEWAY_CREDENTIAL] nor [REDACTED:OTHER_SECRET]',
      ),
    );
    expect(answer.headers.get('x-like')).to.equal(looks.slice(0, 100));
    const fine = await fetchFrom(
      await answering(200, { 'content-type': 'application/json' }, looks.replaceAll(CREDENTIAL, 'x')),
    );
    expect(await fine.text()).to.equal(looks.replaceAll(CREDENTIAL, 'x'));
  });

  it('says once that it depends on the origin, and what else the upstream says that it depends on', async () => {
    const vary = async (value: string | string[]): Promise<string> =>
      (await fetchFrom(await answering(200, { vary: value }, 'x'))).headers.get('vary') ?? '';
    expect([
      await vary('origin'),
      await vary('Accept-Encoding, Origin'),
      await vary(['Origin', 'X-Origin', '*']),
    ]).to.deep.equal(['Origin', 'Origin, Accept-Encoding', 'Origin, X-Origin, *']);
  });

  for (const status of [200, 204, 404]) {
    it(`keeps the bytes of its headers, long and beyond ASCII, with status ${status}`, async () => {
      const long = 'x'.repeat(100_000);
      const t = await answering(
        status,
        { 'x-name': Buffer.from('é 港').toString('latin1'), 'x-latin': '\xe9', 'x-empty': '', 'x-long': long },
        status === 204 ? '' : 'ü',
      );
      const client = await rawClient(t.url);
      client.send(
        `GET ${PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nConnection: close\r\n\r\n`,
      );
      const text = await client.closed();
      expect(text)
        .to.match(new RegExp(`^HTTP/1\\.1 ${status} `))
        .and.to.contain(`x-name: ${Buffer.from('é 港').toString('latin1')}\r\n`)
        .and.to.contain('x-latin: \xe9\r\n')
        .and.to.contain('x-empty: \r\n')
        .and.to.contain(`x-long: ${long}\r\n`);
      if (status !== 204) expect(text).to.contain(Buffer.from('ü').toString('latin1'));
    });
  }

  it('is not scanned when it is 2xx, byte for byte', async () => {
    const bytes = gzipSync('{"a":1}');
    const t = await answering(200, { 'content-encoding': 'gzip', 'x-echo': CREDENTIAL }, bytes);
    const client = await rawClient(t.url);
    client.send(
      `GET ${PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nConnection: close\r\n\r\n`,
    );
    const text = await client.closed();
    expect(text).to.contain(bytes.toString('latin1'));
    expect(text).to.contain('x-echo: [REDACTED:GATEWAY_CREDENTIAL]');
  });

  for (const [what, headers, body] of [
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync(CREDENTIAL)],
    ['too long', {}, 'x'.repeat(256 * 1024 + 1)],
  ] as const) {
    it(`gets another body when it is a refusal that is ${what}`, async () => {
      const t = await answering(400, headers, body);
      const answer = await fetchFrom(t);
      expect(answer.status).to.equal(400);
      expect(await answer.json()).to.have.nested.property('error.code', 'upstream_error');
      expect(answer.headers.get('content-type')).to.equal('application/json');
      expect(answer.headers.get('content-encoding')).to.equal(null);
    });
  }

  it('is a redirect when the provider sent one', async () => {
    const t = await answering(302, { location: 'https://elsewhere.example/x' }, 'moved');
    const answer = await fetchFrom(t);
    expect([answer.status, answer.headers.get('location'), await answer.text()]).to.deep.equal([
      302,
      'https://elsewhere.example/x',
      'moved',
    ]);
  });

  it('is 502 when the provider cannot be reached, and says which', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.socket?.destroy();
    });
    const t = await startHost({ targets: [upstream.target('a', {}, ABLE)] });
    const answer = await t.get(PATH, { 'x-provider': 'a' });
    expect([
      answer.status,
      answer.json().error.type,
      answer.json().error.code,
      answer.headers.get('x-gateway-provider'),
      answer.headers.get('x-gateway-target'),
    ]).to.deep.equal([502, 'upstream_error', 'upstream_error', 'a', null]);
    await eventually(() =>
      t.samples.some(({ name, labels }) => name === 'gateway_provider_errors_total' && labels['provider'] === 'a'),
    );
  });
});
