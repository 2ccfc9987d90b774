import { GatewayError, type Principal, type Scope } from 'gw/contract';
import { expect } from 'chai';
import { type BuiltinModule, defineBuiltin, ORDER } from '../../host/builtin.ts';
import { type JsonRoute, mountJson, mountJsonBeside } from '../../host/http/json-route.ts';
import type { ProtectedPath } from '../../host/http/protection.ts';
import { digestOf, PrincipalTable } from '../../host/stores/principals.ts';
import { startHost, type TestHost } from '../kit/index.ts';

const KEYS: Readonly<Record<string, readonly Scope[]>> = {
  gw_reader: ['read_only'],
  gw_admin: ['admin'],
  gw_nothing: [],
};

interface Mounted {
  readonly routes?: readonly JsonRoute[];
  readonly beside?: JsonRoute;
  readonly protected?: readonly ProtectedPath[];
  readonly variables?: Readonly<Record<string, string>>;
}

/** A gateway with routes of the test's own, and a credential for each set of scopes. */
async function mounted({ routes = [], beside, protected: paths = [], variables = {} }: Mounted): Promise<TestHost> {
  const builtin: BuiltinModule = defineBuiltin({
    name: 'test-routes',
    apply: ({ hooks }) => {
      hooks.protect.tap('test-routes', (protection) => {
        for (const path of paths) protection.add(path);
      });
      hooks.open.tapPromise('test-routes', async ({ stores }) => {
        const table = new PrincipalTable();
        for (const [key, scopes] of Object.entries(KEYS)) table.set(digestOf(key), { id: key, name: key, scopes });
        stores.principals.supply(table);
      });
      hooks.mount.tap({ name: 'test-routes', stage: ORDER.listings }, (router, host) => {
        if (beside) mountJsonBeside(router, host, beside);
        mountJson(router, host, routes);
      });
    },
  });
  return startHost({ targets: [{ virtual_key: 'echo' }] }, { builtins: [builtin], variables });
}

const as = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const ADMIN: ProtectedPath = { prefix: '/admin/' };
const ok = (): { status: number; body: object } => ({ status: 200, body: { ok: true } });
const none = { authorization: '' };

describe('a JSON route', () => {
  it('answers as its handler says: status, body, headers, or nothing but a status', async () => {
    const headers = ['Cache-Control', 'no-store'];
    const t = await mounted({
      routes: [
        {
          method: 'GET',
          path: '/x/:id',
          scope: 'open',
          headers,
          answer: ({ parameter }) => ({
            status: 201,
            body: { id: parameter('id'), none: parameter('other') },
            headers: ['ETag', '"1"'],
          }),
        },
        { method: 'DELETE', path: '/x/:id', scope: 'open', headers, answer: async () => ({ status: 204 }) },
      ],
    });
    const read = await t.get('/x/a%20b', none);
    expect([read.status, read.json(), read.headers.get('etag'), read.headers.get('cache-control')]).to.deep.equal([
      201,
      { id: 'a b', none: '' },
      '"1"',
      'no-store',
    ]);
    const head = await t.request('HEAD', '/x/a', undefined, none);
    expect([head.status, head.text, head.headers.get('content-length')]).to.deep.equal([201, '', '20']);
    const gone = await t.request('DELETE', '/x/a', undefined, none);
    expect([gone.status, gone.text, gone.headers.get('cache-control')]).to.deep.equal([204, '', 'no-store']);
  });

  it('refuses every other method of its path, and names those it takes', async () => {
    const t = await mounted({
      routes: [
        { method: 'GET', path: '/x', scope: 'open', answer: ok },
        { method: 'PUT', path: '/x', scope: 'open', answer: ok },
        { method: 'POST', path: '/y', scope: 'open', answer: ok },
      ],
    });
    const refused = await t.post('/x', {}, none);
    expect([refused.status, refused.headers.get('allow'), refused.json().error.code]).to.deep.equal([
      405,
      'GET, HEAD, PUT',
      'method_not_supported',
    ]);
    expect((await t.get('/y')).headers.get('allow')).to.equal('POST');
  });

  it('leaves a request to other routes when its handler returns nothing', async () => {
    const beside: JsonRoute = {
      method: 'GET',
      path: '/x/*id',
      scope: 'open',
      answer: ({ request, parameter }) =>
        request.headers['x-provider'] === undefined ? { status: 200, body: parameter('id') } : undefined,
    };
    const t = await mounted({ beside });
    expect((await t.get('/x/a/b%2Fc')).json()).to.equal('a/b/c');
    expect((await t.get('/x/a', { 'x-provider': 'p' })).status).to.equal(404);
    expect((await t.request('DELETE', '/x/a')).status).to.equal(404);
  });

  const scopes: readonly [JsonRoute['scope'], Readonly<Record<string, number>>][] = [
    ['open', { gw_reader: 200, gw_admin: 200, gw_nothing: 200 }],
    ['admitted', { gw_reader: 200, gw_admin: 200, gw_nothing: 200 }],
    ['read_only', { gw_reader: 200, gw_admin: 200, gw_nothing: 403 }],
    ['admin', { gw_reader: 403, gw_admin: 200, gw_nothing: 403 }],
  ];
  for (const [scope, statuses] of scopes) {
    it(`with the scope ${scope} serves who has it`, async () => {
      let served = 0;
      const t = await mounted({
        protected: [ADMIN],
        routes: [
          {
            method: 'GET',
            path: '/admin/x',
            scope,
            answer: () => {
              served += 1;
              return ok();
            },
          },
        ],
      });
      for (const [key, status] of Object.entries(statuses)) {
        const answer = await t.get('/admin/x', as(key));
        expect(answer.status, key).to.equal(status);
        if (status === 403)
          expect(answer.json().error).to.include({ code: 'insufficient_scope', type: 'permission_error' });
      }
      expect((await t.get('/admin/x', as('gw_other'))).json().error.code).to.equal('invalid_api_key');
      expect((await t.get('/admin/x', none)).json().error.code).to.equal('missing_api_key');
      expect(served).to.equal(Object.values(statuses).filter((status) => status === 200).length);
    });
  }

  it('is served only when its scope is open, where no authentication comes before it', async () => {
    const t = await mounted({
      routes: (['open', 'admitted', 'read_only'] as const).map((scope) => ({
        method: 'GET',
        path: `/${scope}`,
        scope,
        answer: ok,
      })),
    });
    const answers = await Promise.all(['/open', '/admitted', '/read_only'].map((path) => t.get(path)));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 401, 401]);
    expect(answers[2]?.json().error.code).to.equal('authentication_required');
  });

  it('says who calls, and reads a body up to its cap, asked each time', async () => {
    let cap = 20;
    const called: [Principal | undefined, object][] = [];
    const t = await mounted({
      protected: [ADMIN],
      routes: [
        {
          method: 'PUT',
          path: '/admin/x',
          scope: 'admin',
          maxBytes: () => cap,
          answer: ({ principal, json }) => {
            called.push([principal, json()]);
            return ok();
          },
        },
      ],
    });
    expect((await t.request('PUT', '/admin/x', '{"a":1}', as('gw_admin'))).status).to.equal(200);
    expect(called).to.deep.equal([[{ id: 'gw_admin', name: 'gw_admin', scopes: ['admin'] }, { a: 1 }]]);
    const long = await t.request('PUT', '/admin/x', `{"a":${'1'.repeat(20)}}`, as('gw_admin'));
    expect([long.status, long.json().error.code]).to.deep.equal([413, 'request_too_large']);
    cap = 100;
    expect((await t.request('PUT', '/admin/x', `{"a":${'1'.repeat(20)}}`, as('gw_admin'))).status).to.equal(200);
    for (const body of ['', '[]', 'x', '"x"'])
      expect((await t.request('PUT', '/admin/x', body, as('gw_admin'))).json().error.code, body).to.equal(
        'invalid_request',
      );
    expect(called).to.have.length(2);
  });

  it('looks at the scope before the body', async () => {
    const t = await mounted({
      protected: [ADMIN],
      routes: [{ method: 'PUT', path: '/admin/x', scope: 'admin', maxBytes: () => 1, answer: ok }],
    });
    expect((await t.request('PUT', '/admin/x', '{"a":1}', as('gw_reader'))).status).to.equal(403);
  });

  for (const [way, answer] of [
    [
      'at once',
      () => {
        throw new GatewayError('last_admin_key', 'the key gw_reader is the last one');
      },
    ],
    [
      'later',
      async () => {
        await Promise.resolve();
        throw new GatewayError('last_admin_key', 'the key gw_reader is the last one');
      },
    ],
  ] as const) {
    it(`tells an error of its handler as it is, when it comes ${way}`, async () => {
      const t = await mounted({
        routes: [{ method: 'GET', path: '/x', scope: 'open', headers: ['Cache-Control', 'no-store'], answer }],
      });
      const refused = await t.get('/x');
      expect([refused.status, refused.headers.get('cache-control'), refused.json().error.code]).to.deep.equal([
        409,
        'no-store',
        'last_admin_key',
      ]);
      expect(t.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
    });

    it(`hides an unexpected error, when it comes ${way}`, async () => {
      const fault =
        way === 'later'
          ? async (): Promise<never> => {
              await Promise.resolve();
              throw new Error('secret');
            }
          : (): never => {
              throw new Error('secret');
            };
      const t = await mounted({ routes: [{ method: 'GET', path: '/x', scope: 'open', answer: fault }] });
      const failed = await t.get('/x');
      expect([failed.status, failed.json().error]).to.deep.equal([
        500,
        { message: 'the gateway failed', type: 'server_error', code: 'internal_error' },
      ]);
      expect(t.lines.find(({ msg }) => msg === 'panic recovered')).to.include({ panic: 'secret' });
    });
  }
});

describe('a protected path', () => {
  it('needs a credential whatever stands there, with or without a route', async () => {
    const t = await mounted({ protected: [ADMIN, { prefix: '/alone' }] });
    for (const path of ['/admin/', '/admin/x', '/admin/x/y', '/alone']) {
      expect((await t.get(path, none)).status, path).to.equal(401);
      expect((await t.get(path, none)).headers.get('www-authenticate'), path).to.equal('Bearer');
      expect((await t.get(path)).status, path).to.equal(404);
    }
    for (const path of ['/admin', '/adminx', '/alone/', '/alonex', '/x/admin/'])
      expect((await t.get(path, none)).status, path).to.equal(404);
  });

  it('may ask for a scope by itself', async () => {
    const t = await mounted({
      protected: [
        { prefix: '/inside/', scope: 'admin' },
        { prefix: '/alone', scope: 'read_only' },
      ],
    });
    const statuses = async (path: string): Promise<number[]> =>
      Promise.all(Object.keys(KEYS).map(async (key) => (await t.get(path, as(key))).status));
    expect(await statuses('/inside/x')).to.deep.equal([403, 404, 403]);
    expect(await statuses('/alone')).to.deep.equal([404, 404, 403]);
  });

  it('is open with ALLOW_UNAUTHENTICATED_PROXY only where it may be', async () => {
    const t = await mounted({ protected: [ADMIN], variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    expect((await t.get('/v1/models', none)).status).to.equal(200);
    expect((await t.get('/admin/x', none)).status).to.equal(401);
  });

  it('shows a browser a page, unless it is one of machines', async () => {
    const t = await mounted({ protected: [ADMIN, { prefix: '/api/', hasPages: false }] });
    const page = { accept: 'text/html' };
    expect((await t.get('/admin/x', page)).headers.get('content-type')).to.include('text/html');
    expect((await t.get('/api/x', page)).headers.get('content-type')).to.include('text/plain');
    expect((await t.get('/v1/x', page)).headers.get('content-type')).to.equal('application/json');
  });
});

describe('recovery', () => {
  const throwing = (error: Error): BuiltinModule =>
    defineBuiltin({
      name: 'throwing',
      apply: ({ hooks }) =>
        hooks.mount.tap({ name: 'throwing', stage: ORDER.listings }, (router) => {
          router.get('/x', () => {
            throw error;
          });
        }),
    });

  it('answers an error that was made for the client as itself, redacted, without a panic in the log', async () => {
    const t = await startHost(
      { targets: [{ virtual_key: 'echo' }] },
      {
        builtins: [
          throwing(
            new GatewayError('store_unavailable', 'the store does not answer: stub-key-of-some-length', {
              retryAfterMs: 2000,
            }),
          ),
        ],
        variables: { STUB_API_KEY: 'stub-key-of-some-length' },
      },
    );
    const answer = await t.get('/x');
    expect([answer.status, answer.headers.get('retry-after'), answer.json().error.code]).to.deep.equal([
      503,
      '2',
      'store_unavailable',
    ]);
    expect(answer.json().error.message).to.equal('the store does not answer: [REDACTED:STUB_API_KEY]');
    expect(t.lines.filter(({ msg }) => msg === 'panic recovered')).to.deep.equal([]);
  });
});
