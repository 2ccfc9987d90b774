import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { MASTER_KEY } from '../kit/index.ts';
import { as, ECHO, forBackends, NOBODY, refusal } from './kit.ts';

type Method = 'DELETE' | 'GET' | 'POST' | 'PUT';

/** Every route of keys, usage, sessions and audit (docs/admin.md#routes). */
const ROUTES: readonly (readonly [Method, string, 'admin' | 'read_only'])[] = [
  ['DELETE', '/admin/session', 'read_only'],
  ['GET', '/admin/sessions', 'read_only'],
  ['DELETE', '/admin/sessions', 'admin'],
  ['DELETE', '/admin/sessions/x', 'admin'],
  ['GET', '/admin/keys', 'read_only'],
  ['POST', '/admin/keys', 'admin'],
  ['GET', '/admin/keys/usage', 'read_only'],
  ['GET', '/admin/keys/x', 'read_only'],
  ['PUT', '/admin/keys/x', 'admin'],
  ['DELETE', '/admin/keys/x', 'admin'],
  ['POST', '/admin/keys/x/revoke', 'admin'],
  ['POST', '/admin/keys/x/rotate', 'admin'],
  ['GET', '/admin/audit', 'read_only'],
];

forBackends('the admin API', (start) => {
  for (const [method, path, scope] of ROUTES) {
    it(`${method} ${path} needs a credential, and the scope ${scope}`, async () => {
      const t = await start();
      const reader = await t.makeKey();
      expect(refusal(await t.request(method, path, undefined, NOBODY))).to.deep.equal([401, 'missing_api_key']);
      expect(refusal(await t.request(method, path, undefined, as('gw_unknown')))).to.deep.equal([
        401,
        'invalid_api_key',
      ]);
      const { status } = await t.request(method, `${path}?limit=0`, '{', as(reader.key)).catch(() => ({ status: 0 }));
      if (scope === 'admin') expect(status).to.equal(403);
      else expect(status).not.to.equal(403);
    });
  }

  it('looks at the credential, then at path and method, then at the scope, then at parameters and the body', async () => {
    const t = await start();
    const reader = as((await t.makeKey()).key);
    expect((await t.get('/admin/nowhere', NOBODY)).status).to.equal(401);
    expect((await t.request('PATCH', '/admin/keys', undefined, NOBODY)).status).to.equal(401);
    expect((await t.get('/admin/session', NOBODY)).status).to.equal(401);
    expect(refusal(await t.request('PATCH', '/admin/keys', undefined, reader))).to.deep.equal([
      405,
      'method_not_supported',
    ]);
    expect(refusal(await t.post('/admin/keys', '{', reader))).to.deep.equal([403, 'insufficient_scope']);
    expect(refusal(await t.post('/admin/keys', 'x'.repeat(11_000_000), reader))).to.deep.equal([
      403,
      'insufficient_scope',
    ]);
  });

  it('names the methods of a path', async () => {
    const t = await start();
    const allowed = async (path: string): Promise<string | null> => {
      const answer = await t.request('PATCH', path);
      expect(refusal(answer), path).to.deep.equal([405, 'method_not_supported']);
      return answer.headers.get('allow');
    };
    expect(
      await Promise.all(
        [
          '/admin/session',
          '/admin/sessions',
          '/admin/sessions/x',
          '/admin/keys',
          '/admin/keys/usage',
          '/admin/keys/x',
          '/admin/keys/x/revoke',
          '/admin/keys/x/rotate',
          '/admin/audit',
        ].map(allowed),
      ),
    ).to.deep.equal([
      'POST, DELETE',
      'GET, HEAD, DELETE',
      'DELETE',
      'GET, HEAD, POST',
      'GET, HEAD',
      'GET, HEAD, PUT, DELETE',
      'POST',
      'POST',
      'GET, HEAD',
    ]);
    expect((await t.request('DELETE', '/admin/keys/usage')).status).to.equal(405);
  });

  it('answers HEAD as GET, without a body', async () => {
    const t = await start();
    for (const path of ['/admin/keys', '/admin/keys/usage', '/admin/sessions', '/admin/audit']) {
      const [head, get] = [await t.request('HEAD', path), await t.get(path)];
      expect([head.status, head.text, head.headers.get('content-length')], path).to.deep.equal([
        200,
        '',
        get.headers.get('content-length'),
      ]);
      expect((await t.request('HEAD', path, undefined, NOBODY)).status).to.equal(401);
    }
  });

  it('forbids to keep an answer: no-store on every one, whatever it is', async () => {
    const t = await start({ variables: { CORS_ORIGINS: 'https://app.example' } });
    const answers = [
      await t.get('/admin/keys'),
      await t.post('/admin/keys', { name: 'n' }),
      await t.post('/admin/keys', '{'),
      await t.get('/admin/keys', NOBODY),
      await t.get('/admin/keys/x'),
      await t.request('PATCH', '/admin/keys'),
      await t.get('/admin/nowhere'),
      await t.get('/admin/nowhere', { accept: 'text/html' }),
      await t.post('/admin/session', undefined, NOBODY),
      await t.request('DELETE', '/admin/session'),
      await t.get('/admin/keys/%zz'),
      await t.request('OPTIONS', '/admin/keys', undefined, { origin: 'https://app.example' }),
      await t.post('/admin/keys', 'x'.repeat(11_000_000)),
      await t.request('DELETE', '/admin/sessions/x'),
      await t.request('HEAD', '/admin/keys'),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([
      200, 201, 400, 401, 404, 405, 404, 200, 401, 400, 400, 204, 413, 204, 200,
    ]);
    expect(answers.map(({ headers }) => headers.get('cache-control'))).to.deep.equal(answers.map(() => 'no-store'));
    expect((await t.get('/nowhere')).headers.get('cache-control')).to.equal(null);
  });

  it('has no route for other paths: plain text, or the page of a browser', async () => {
    const t = await start();
    for (const path of [
      '/admin/',
      '/admin/x',
      '/admin/keys/',
      '/admin/Keys',
      '/admin/keys/x/y',
      '/admin/keys/x/revoke/',
    ]) {
      const answer = await t.get(path);
      expect([answer.status, answer.text, answer.headers.get('content-type')], path).to.deep.equal([
        404,
        '404 page not found',
        'text/plain; charset=utf-8',
      ]);
      expect((await t.get(path, { accept: 'text/html' })).headers.get('content-type'), path).to.include('text/html');
      expect((await t.get(path, { accept: 'text/html', ...NOBODY })).status, path).to.equal(401);
    }
    expect((await t.get('/admin', NOBODY)).status).to.equal(404);
  });

  it('stays closed while the proxy is open to anybody', async () => {
    const t = await start({ variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    for (const [method, path] of ROUTES)
      expect((await t.request(method, path, undefined, NOBODY)).status, path).to.equal(401);
  });

  it('takes bodies up to max_request_bytes of the configuration in force', async () => {
    const t = await start();
    const body = JSON.stringify({ name: 'x', unknown: 'x'.repeat(2000) });
    expect((await t.post('/admin/keys', body)).status).to.equal(201);
    await t.apply({ ...ECHO, max_request_bytes: 1000 });
    expect(refusal(await t.post('/admin/keys', body))).to.deep.equal([413, 'request_too_large']);
    expect(refusal(await t.post('/admin/keys', `{"name":"x"}${' '.repeat(1000)}`))).to.deep.equal([
      413,
      'request_too_large',
    ]);
    expect(refusal(await t.request('PUT', '/admin/keys/x', body))).to.deep.equal([413, 'request_too_large']);
    await t.apply({ ...ECHO, max_request_bytes: 4000 });
    expect((await t.post('/admin/keys', body)).status).to.equal(201);
  });

  it('takes no credential but a bearer: no cookie, no query, no other header', async () => {
    const t = await start();
    const headers = { cookie: `token=${MASTER_KEY}`, 'x-api-key': MASTER_KEY, ...NOBODY };
    expect(refusal(await t.get(`/admin/keys?api_key=${MASTER_KEY}&token=${MASTER_KEY}`, headers))).to.deep.equal([
      401,
      'missing_api_key',
    ]);
    for (const header of [`Basic ${MASTER_KEY}`, 'Bearer', `Bearer${MASTER_KEY}`, MASTER_KEY]) {
      expect(refusal(await t.get('/admin/keys', { authorization: header })), header).to.deep.equal([
        401,
        'missing_api_key',
      ]);
    }
    expect(refusal(await t.get('/admin/keys', { authorization: `Bearer  ${MASTER_KEY}` }))).to.deep.equal([
      401,
      'invalid_api_key',
    ]);
  });

  it('takes the first of several Authorization headers, and a comma as part of a credential', async () => {
    const t = await start();
    const status = async (...values: readonly string[]): Promise<number | undefined> => {
      const sent = httpRequest(`${t.url}/admin/keys`, {
        headers: { authorization: [...values] } as Record<string, string[]>,
      }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    const [good, bad] = [`Bearer ${MASTER_KEY}`, 'Bearer gw_unknown'];
    expect(
      await Promise.all([status(good, bad), status(bad, good), status(`${good}, ${bad}`), status('Basic x', good)]),
    ).to.deep.equal([200, 401, 401, 401]);
  });
});
