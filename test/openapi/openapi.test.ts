import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { Router } from 'express';
import { OPERATIONS } from '../../builtins/openapi/operations.ts';
import { SCHEMAS } from '../../builtins/openapi/schemas.ts';
import type { Host } from '../../host/host.ts';
import { NOBODY, startAdmin } from '../admin/kit.ts';

/** Forwarded as they are, without a route of their own. */
const FORWARDED = /^\/v1\/(responses|files|batches)(\/|$)/;

interface Layer {
  readonly route?: { readonly path: string; readonly stack: readonly { readonly method?: string }[] };
}

/** Methods and paths as they are mounted, in the notation of the document. */
function mounted(host: Host): string[] {
  const router = Router({ caseSensitive: true, strict: true });
  host.hooks.mount.call(router, host);
  return (router.stack as readonly Layer[]).flatMap(({ route }) =>
    route
      ? route.stack
          .filter(({ method }) => method !== undefined)
          .map(({ method }) => `${method} ${route.path.replace(/(?<!\\)[:*](\w+)/g, '{$1}').replaceAll('\\', '')}`)
      : [],
  );
}

/** With the name of a parameter left open. */
const anonymous = (route: string): string => route.replace(/\{\w+\}/g, '{}');

/** Queries of routes that need one, or that show more with one. */
const QUERIES: Readonly<Record<string, string>> = {
  '/admin/logs/export': '?format=csv',
  '/admin/logs/values': '?field=model',
  '/admin/logs/stats': '?since=2026-01-01T00:00:00Z&buckets=3',
  '/admin/rules': '?provider=openai&model=gpt-5.6-sol',
};

describe('GET /openapi.json', () => {
  it('is there for everybody, as the probes are', async () => {
    const t = await startAdmin({ variables: { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1' } });
    for (let at = 0; at < 5; at += 1) expect((await t.get('/openapi.json', NOBODY)).status).to.equal(200);
    const head = await t.request('HEAD', '/openapi.json', undefined, NOBODY);
    expect([head.status, head.text, head.headers.get('content-type')]).to.deep.equal([200, '', 'application/json']);
    const wrong = await t.post('/openapi.json', {}, NOBODY);
    expect([wrong.status, wrong.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    expect(t.lines.filter(({ path }) => path === '/openapi.json')).to.deep.equal([]);
  });

  it('is a valid OpenAPI 3.1 document', async () => {
    const t = await startAdmin();
    const document = (await t.get('/openapi.json', NOBODY)).json();
    expect(document.openapi).to.match(/^3\.1\./);
    const result = await new Validator().validate(document);
    expect(result.errors ?? []).to.deep.equal([]);
    expect(result.valid).to.equal(true);
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('has every route that is mounted, and only those and what is forwarded', async () => {
    const { host } = await startAdmin({ variables: { ENABLE_PPROF: 'true' } });
    const documented = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    const routes = mounted(host);
    expect(routes.length).to.be.greaterThan(40);
    expect(routes.filter((route) => !documented.map(anonymous).includes(anonymous(route)))).to.deep.equal([]);
    const unknown = documented.filter(
      (route) => !FORWARDED.test(route.split(' ')[1] ?? '') && !routes.map(anonymous).includes(anonymous(route)),
    );
    expect(unknown).to.deep.equal([]);
    expect(new Set(documented).size).to.equal(documented.length);
  });

  it('states the scope that each route of /admin asks for', async () => {
    const t = await startAdmin();
    const reader = { authorization: `Bearer ${(await t.makeKey()).key}` };
    for (const { method, path, scope } of OPERATIONS) {
      if (!path.startsWith('/admin/') || path === '/admin/session') continue;
      const url = path.replace(/\{\w+\}/, 'x');
      expect((await t.request(method.toUpperCase(), url, undefined, NOBODY)).status, path).to.equal(401);
      expect(
        (await t.request(method.toUpperCase(), url, undefined, reader)).status === 403,
        `${method} ${path}`,
      ).to.equal(scope === 'admin');
    }
  });

  it('says what the admin API answers', async () => {
    const t = await startAdmin({
      variables: { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: ':memory:' },
    });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'gw', components: { schemas: SCHEMAS } });
    const problemsOf = (name: string, body: unknown): unknown => {
      const validate = ajv.getSchema(`gw#/components/schemas/${name}`)!;
      return validate(body) ? [] : validate.errors;
    };
    const key = await t.makeKey({ models: ['m'], expires_at: '2099-01-01T00:00:00Z' });
    const account = { path: '/acme', budgets: [{ usd: 5, every: 'day' }], child_default: { rpm: 5 } };
    const { id: accountId } = (await t.post('/admin/accounts', account)).json();
    await t.signIn(key.key);
    for (const stage of ['after_request', 'on_error'] as const)
      t.host.stores.requestLog.value!.append({
        trace_id: 'x',
        stage,
        model: 'm',
        created_at: Date.now(),
        duration_ms: 1,
        target: 'a',
        attempts: 1,
        error_message: stage === 'on_error' ? 'e' : '',
      });
    await t.request('PUT', '/admin/config', { targets: [{ virtual_key: 'echo' }] });
    const identityId = `oidc:${'0'.repeat(32)}`;
    await t.post(`/admin/identities/${identityId}/block`, {});
    const reads = OPERATIONS.filter(
      ({ method, path, answer }) => method === 'get' && answer !== undefined && !path.startsWith('/v1/'),
    );
    for (const { path, answer = '' } of reads) {
      const url = path
        .replace('{trace_id}', 'x')
        .replace('{version}', '1')
        .replace(
          '{id}',
          path.includes('explain')
            ? 'x'
            : path.includes('accounts')
              ? accountId
              : path.includes('identities')
                ? identityId
                : key.id,
        );
      const shown = await t.get(url + (QUERIES[path] ?? ''));
      expect(shown.status, `${path} ${shown.text}`).to.equal(200);
      expect(problemsOf(answer, shown.json()), path).to.deep.equal([]);
    }
    const purged = await t.request('DELETE', '/admin/logs?before=2099-01-01T00:00:00Z');
    expect(problemsOf('PurgedLogs', purged.json())).to.deep.equal([]);
    expect(problemsOf('Error', (await t.get('/admin/logs?limit=0')).json())).to.deep.equal([]);
    expect(problemsOf('Key', { id: 1 })).not.to.deep.equal([]);
  });
});
