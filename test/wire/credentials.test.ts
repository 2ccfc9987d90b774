import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { type BuiltinModule, defineBuiltin, ORDER } from '../../host/builtin.ts';
import { contextOf } from '../../host/http/context.ts';
import { sendJson } from '../../host/http/reply.ts';
import type { ClientWire } from '../../host/wire/client-wire.ts';
import { ask, MASTER_KEY, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

const ROOT = '/v1beta/planted';
const SHARED = '/v1/planted-shared';

const WIRE: ClientWire = {
  error: ({ status, code, message }) => ({ contentType: 'text/x-planted', body: `${status} ${code} ${message}` }),
  noRoute: ({ code }) => ({ contentType: 'text/x-planted', body: `404 ${code}` }),
  reply: () => ({}),
  openStream: () => {
    throw new Error('not streamed');
  },
  credentials: [{ header: 'x-planted-key' }, 'bearer', { query: 'pk' }],
  namesScheme: false,
  headers: (id) => ['x-planted-id', id],
  errorHeaders: ({ code }) => ['x-planted-code', code],
};

const planted: BuiltinModule = defineBuiltin({
  name: 'planted credentials',
  apply: ({ hooks }) => {
    hooks.clientWires.tap('planted credentials', (wires) => {
      wires.claim(ROOT, WIRE);
      wires.claim(SHARED, WIRE, (headers) => headers['x-planted'] !== undefined);
    });
    hooks.mount.tap({ name: 'planted credentials', stage: ORDER.listings }, (router) => {
      const answer = (request: IncomingMessage, response: ServerResponse): void =>
        sendJson(response, 200, { by: contextOf(response).principal?.id, url: request.url });
      router.get(ROOT, answer);
      router.get(SHARED, answer);
    });
  },
});

const start = async (): Promise<TestHost> => {
  const upstream = await stubUpstream((_request, response) => {
    response.end();
  });
  return startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')] }, { builtins: [planted] });
};

const NONE = { authorization: '' };
const INVALID = { authorization: 'Bearer wrong' };

describe('the credentials of a wire', () => {
  for (const [what, path, headers] of [
    ['the bearer', ROOT, {}],
    ['its own header', ROOT, { ...NONE, 'x-planted-key': MASTER_KEY }],
    ['its own header beside a bearer that is not known', ROOT, { ...INVALID, 'x-planted-key': MASTER_KEY }],
    ['the bearer beside a header that is not known', ROOT, { 'x-planted-key': 'wrong' }],
    ['the query', `${ROOT}?pk=${MASTER_KEY}`, NONE],
    ['the query, encoded', `${ROOT}?a=1&%70k=${MASTER_KEY.replace('_', '%5F')}`, NONE],
    ['its own header on a path that it shares', SHARED, { ...NONE, 'x-planted': '1', 'x-planted-key': MASTER_KEY }],
  ] as const)
    it(`are valid in ${what}`, async () => {
      const host = await start();
      const answer = await host.get(path, headers);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.json().by).to.match(/^master-key:/);
      expect(answer.headers.get('x-planted-id')).to.equal(answer.headers.get('x-request-id'));
    });

  for (const [what, path, headers, code] of [
    ['are missing', ROOT, NONE, 'missing_api_key'],
    ['are not known', ROOT, { ...INVALID, 'x-planted-key': 'wrong' }, 'invalid_api_key'],
    ['stand in the query twice', `${ROOT}?pk=${MASTER_KEY}&pk=${MASTER_KEY}`, {}, 'invalid_api_key'],
  ] as const)
    it(`are refused where they ${what}`, async () => {
      const host = await start();
      const answer = await host.get(path, headers);
      expect(answer.status).to.equal(401);
      expect(answer.text.startsWith(`401 ${code} `), answer.text).to.equal(true);
      expect(answer.headers.get('www-authenticate')).to.equal(null);
      expect(answer.headers.get('x-planted-code')).to.equal(code);
      if (code === 'missing_api_key')
        for (const name of ['x-planted-key', 'Authorization', 'pk']) expect(answer.text).to.include(name);
    });

  it('count in their places on the paths of the wire alone', async () => {
    const host = await start();
    for (const [path, headers] of [
      ['/v1/models', { ...NONE, 'x-planted-key': MASTER_KEY }],
      [`/v1/models?pk=${MASTER_KEY}`, NONE],
      [SHARED, { ...NONE, 'x-planted-key': MASTER_KEY }],
    ] as const) {
      const answer = await host.get(path, headers);
      expect(answer.status, path).to.equal(401);
      expect(answer.json().error.code).to.equal('missing_api_key');
      expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
    }
    expect((await host.post('/v1/chat/completions', ask(), { ...NONE, 'x-planted-key': MASTER_KEY })).status).to.equal(
      401,
    );
  });

  it('leave no trace of the query in the address or a log line', async () => {
    const host = await start();
    const answer = await host.get(`${ROOT}?alt=sse&pk=${MASTER_KEY}&b=%2F`, NONE);
    expect(answer.json().url).to.equal(`${ROOT}?alt=sse&b=%2F`);
    await host.get(`${ROOT}?pk=wrong-key-of-a-query`, NONE);
    expect(host.texts.join('')).to.not.include(MASTER_KEY).and.not.include('wrong-key-of-a-query');
  });

  it('are wanted below /v1beta/ although no route is there', async () => {
    const host = await start();
    expect((await host.get('/v1beta/nothing', NONE)).status).to.equal(401);
    expect((await host.get(`${ROOT}/nothing`)).text).to.equal('404 resource_not_found');
  });
});
