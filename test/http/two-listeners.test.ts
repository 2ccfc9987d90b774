import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { once } from 'node:events';
import { expect } from 'chai';
import { defineBuiltin } from '../../host/builtin.ts';
import { createApp } from '../../host/http/app.ts';
import { routesOf } from '../../host/http/router.ts';
import { createHttpServer, listen } from '../../host/http/server.ts';
import { atEnd, MASTER_KEY, rawClient, runGw, startGateway, startHost, type TestHost } from '../kit/index.ts';

const CONFIG = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };
const AUTH = { authorization: `Bearer ${MASTER_KEY}` };

interface Two extends TestHost {
  readonly data: string;
  readonly admin: string;
}

/** One gateway behind its two listeners. */
async function startTwo(variables: Record<string, string> = {}): Promise<Two> {
  const host = await startHost(CONFIG, { variables });
  const app = createApp(host.host);
  const urls: string[] = [];
  for (const listener of ['data', 'admin'] as const) {
    const server = createHttpServer(app.of(listener), host.host);
    urls.push(`http://127.0.0.1:${await listen(server, '0', { address: '127.0.0.1' })}`);
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  const [data = '', admin = ''] = urls;
  return { ...host, data, admin };
}

/** Every path that the router has a route for, with something for each parameter. */
async function mountedPaths(): Promise<readonly string[]> {
  const paths: string[] = [];
  await startHost(CONFIG, {
    builtins: [
      defineBuiltin({
        name: 'routes',
        apply: ({ hooks }) =>
          hooks.mount.tap({ name: 'routes', stage: 10_000 }, (router) => {
            paths.push(...routesOf(router).map(({ path }) => path.replace(/[:*]\w+/g, 'x').replaceAll('\\', '')));
          }),
      }),
    ],
  });
  return [...new Set(paths)];
}

const isOfData = (path: string): boolean =>
  /^\/v1(?:beta)?\//.test(path) || ['/mcp', '/health', '/livez', '/readyz'].includes(path);

const SPELLINGS = [
  '/Admin/keys',
  '//admin/keys',
  '/%61dmin/keys',
  '/admin//keys',
  '/admin/keys/',
  '/./admin/keys',
  '/x/../admin/keys',
  '/admin%2Fkeys',
  '/admin;x/keys',
  '/admin/keys?key=gw_secret',
  '/metrics/',
  '/METRICS',
  '//metrics',
  '/openapi.json/',
  '/health/',
  '/v1',
  '/v1beta',
  '/v1admin/keys',
  '/mcp/',
  '//mcp',
  '/V1/models',
  '//v1/models',
  '/%761/models',
  '/',
  '/index.html',
  '/keys',
  '*',
];

describe('the listener for models, where the control plane has its own', () => {
  it('serves models, tools and probes, and of every other route a plain 404', async () => {
    const two = await startTwo();
    const paths = await mountedPaths();
    expect(paths.filter((path) => isOfData(path))).to.include.members(['/v1/models', '/mcp', '/readyz']);
    expect(paths.filter((path) => !isOfData(path))).to.include.members(['/admin/keys', '/metrics', '/openapi.json']);
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const answer = await fetch(`${two.data}${path}`, { method, headers: { ...AUTH, accept: 'text/html' } });
        const text = await answer.text();
        const isAbsent = answer.status === 404 && text === '404 page not found';
        if (isOfData(path)) continue;
        expect(isAbsent, `${method} ${path}: ${answer.status} ${text.slice(0, 80)}`).to.equal(true);
        expect(answer.headers.get('content-type')).to.match(/^text\/plain/);
        expect(answer.headers.get('www-authenticate')).to.equal(null);
        expect(answer.headers.get('cache-control')).to.equal(null);
        expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f]{32}$/);
        expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
      }
    }
    const listed = async (url: string): Promise<unknown> => (await fetch(`${url}/v1/models`, { headers: AUTH })).json();
    expect(await listed(two.data)).to.deep.equal(await listed(two.url));
  });

  it('serves a path that is written otherwise no more than others, and looks at no credential of it', async () => {
    const two = await startTwo();
    const { key, id } = (await two.post('/admin/keys', { name: 'a', scopes: ['admin'] })).json() as {
      key: string;
      id: string;
    };
    for (const path of SPELLINGS) {
      for (const target of path === '*' ? [path] : [path, `http://h${path}`]) {
        const client = await rawClient(two.data);
        const method = path === '*' ? 'OPTIONS' : 'GET';
        client.send(
          `${method} ${target} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
        );
        const text = await client.closed();
        expect([target, text.slice(0, 12), text.endsWith('404 page not found')]).to.deep.equal([
          target,
          'HTTP/1.1 404',
          true,
        ]);
      }
    }
    const { data } = (await two.get('/admin/keys/usage')).json() as { data: { id: string; usage_count?: number }[] };
    expect(data.find((one) => one.id === id)?.usage_count).to.equal(0);
    expect(two.texts.join('\n')).not.to.include('gw_secret');
  });

  it('leaves what climbs out of /v1 a path of /v1', async () => {
    const two = await startTwo();
    const asked = async (headers: string): Promise<string> => {
      const client = await rawClient(two.data);
      client.send(`GET /v1/../admin/keys HTTP/1.1\r\nHost: h\r\n${headers}Connection: close\r\n\r\n`);
      return client.closed();
    };
    expect(await asked('')).to.match(/^HTTP\/1\.1 401/);
    expect(await asked(`Authorization: Bearer ${MASTER_KEY}\r\n`)).to.match(/^HTTP\/1\.1 400[^]*invalid_proxy_path/);
  });

  it('upgrades nothing that it does not serve', async () => {
    const two = await startTwo();
    const client = await rawClient(two.data);
    client.send(
      `GET /admin/keys HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    client.send('GET /admin/keys HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    expect(await client.closed()).to.match(/^HTTP\/1\.1 404[^]*404 page not found/);
  });

  it('answers what browsers ask first as the other does', async () => {
    const two = await startTwo({ CORS_ORIGINS: 'https://app.example' });
    const heads = await Promise.all(
      [two.data, two.admin, two.url].map(async (url) => {
        const answer = await fetch(`${url}/admin/keys`, {
          method: 'OPTIONS',
          headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
        });
        const {
          date: _date,
          'x-request-id': _id,
          'cache-control': _route,
          ...rest
        } = Object.fromEntries(answer.headers);
        return [answer.status, rest];
      }),
    );
    expect(heads[0]).to.deep.equal(heads[1]).and.to.deep.equal(heads[2]);
  });

  it('counts what it refuses against the limit of the address, which both share', async () => {
    const two = await startTwo({ RATE_LIMIT_RPS: '0.001', RATE_LIMIT_BURST: '4' });
    const statuses: number[] = [];
    for (const url of [two.data, two.admin, two.data, two.admin, two.data, two.admin])
      statuses.push((await fetch(`${url}/admin/keys`, { headers: AUTH })).status);
    expect(statuses).to.deep.equal([404, 200, 404, 200, 429, 429]);
    expect((await fetch(`${two.data}/readyz`)).status).to.equal(200);
  });

  it('says in the line of a request where it came', async () => {
    const two = await startTwo();
    for (const url of [two.data, two.admin, two.url]) await fetch(`${url}/admin/keys?a=b`, { headers: AUTH });
    await fetch(`${two.data}/openapi.json`);
    const seen = two.lines
      .filter(({ msg }) => msg === 'http request')
      .map(({ path, status, listener }) => [path, status, listener]);
    expect(seen).to.have.deep.members([
      ['/admin/keys', 404, 'data'],
      ['/admin/keys', 200, 'admin'],
      ['/admin/keys', 200, undefined],
      ['/openapi.json', 404, 'data'],
    ]);
  });
});

describe('GW_ADMIN_PORT', () => {
  /** Somewhere else than loopback, where this machine has such an address. */
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  it('gives the control plane a listener of its own on loopback, and both end together', async () => {
    const gateway = await startGateway({ variables: { GW_ADMIN_PORT: '0' } });
    const started = gateway.lines.find(({ msg }) => msg === 'gw started') ?? {};
    expect(started['admin_addr']).to.match(/^127\.0\.0\.1:\d+$/);
    const port = /:(\d+)$/.exec(String(started['admin_addr']))?.[1] ?? '';
    expect(gateway.stderr()).to.include(`Dashboard:  http://localhost:${port}/`);
    const asked = async (url: string): Promise<number> => (await fetch(`${url}/admin/keys`, { headers: AUTH })).status;
    expect(await asked(gateway.url)).to.equal(404);
    expect(await asked(`http://127.0.0.1:${port}`)).to.equal(200);
    if (outside !== undefined) {
      const failed = await asked(`http://${outside}:${port}`).catch(() => 'refused');
      expect(failed).to.equal('refused');
    }
    const listed = await runGw(['admin', 'keys', 'list', '--gateway-url', gateway.url, '--api-key', MASTER_KEY]);
    expect(listed.code).to.equal(1);
    expect(listed.stderr).to.include(
      '404 page not found; the admin API of this gateway may be on another port, see GW_ADMIN_PORT; set GW_URL',
    );
    expect(await gateway.stop()).to.equal(0);
  });

  it('that is in use ends the start, and nothing listens', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    atEnd(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const ended = await runGw(['serve'], { variables: { PORT: '0', MASTER_KEY, GW_ADMIN_PORT: String(port) } });
    expect(ended.code).to.equal(1);
    expect(ended.stderr).to.include(`admin port ${port} is in use; set GW_ADMIN_PORT to a free one`);
  });
});

describe('GW_ADDRESS', () => {
  it('is the only address that is listened on', async () => {
    const gateway = await startGateway({ variables: { GW_ADDRESS: '127.0.0.1' } });
    const port = new URL(gateway.url).port;
    expect(gateway.lines.find(({ msg }) => msg === 'gw started')).to.include({ addr: `127.0.0.1:${port}` });
    expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
    const failed = await fetch(`http://[::1]:${port}/livez`).catch(() => 'refused');
    expect(failed).to.equal('refused');
  });

  it('that this machine does not have ends the start', async () => {
    const ended = await runGw(['serve'], { variables: { PORT: '0', MASTER_KEY, GW_ADDRESS: '192.0.2.1' } });
    expect([ended.code, ended.stderr]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === 1 && text.includes('192.0.2.1 is not an address of this machine; set GW_ADDRESS to one'),
    );
  });
});
