import { mkdir, rename, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { chooseVariant, type FileVariants, type Variant } from '../../builtins/dashboard/variants.ts';
import { MASTER_KEY, NO_DASHBOARD, startHost, temporaryFolder, type TestHost } from '../kit/index.ts';

const FOREVER = 'public, max-age=31536000, immutable';
const PAGE = '<!doctype html><title>the page</title>';
const SCRIPT = `const text = ${JSON.stringify('all the same '.repeat(20_000))};`; // leaves in several pieces
const ICON = Buffer.from([0x89, 0x50, 0, 255, 10, 13]);
const BROWSER = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

const FILES: Readonly<Record<string, string | Buffer>> = {
  'index.html': PAGE,
  'config.json': '{"gatewayBaseUrl": ""}',
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/main-a1b2.js': SCRIPT,
  'assets/main-a1b2.js.br': brotliCompressSync(SCRIPT),
  'assets/main-a1b2.js.gz': gzipSync(SCRIPT),
  'assets/style-c3.css': 'body{}',
  'assets/icon-d4.png': ICON,
  '.stamp': 'of the build',
};

async function built(): Promise<TestHost> {
  return serving(await builtFolder());
}

const serving = (folder: string): Promise<TestHost> =>
  startHost({ targets: [{ virtual_key: 'echo' }] }, { installDirectory: folder });

async function builtFolder(): Promise<string> {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(FILES)) {
    const file = join(folder, 'builtins/dashboard/dist', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  await writeFile(join(folder, 'secret.txt'), 'a secret beside the bundle');
  return folder;
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** Sends path and headers as they are written, without a credential; `fetch` cleans the one and adds the others. */
function send(t: TestHost, method: string, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  httpRequest(t.url, { method, path, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        resolve({
          status: response.statusCode,
          headers: response.headers as Reply['headers'],
          body: Buffer.concat(chunks),
        });
      });
  })
    .on('error', reject)
    .end();
  return promise;
}

const typeOf = ({ status, headers }: Reply): unknown[] => [status, headers['content-type'], headers['cache-control']];

describe('the files of the dashboard', () => {
  it('are served whatever is accepted, hashed ones for ever and all others never kept', async () => {
    const t = await built();
    for (const [path, type, caching] of [
      ['/index.html', 'text/html; charset=utf-8', 'no-store'],
      ['/config.json', 'application/json', 'no-store'],
      ['/favicon.svg', 'image/svg+xml', 'no-store'],
      ['/assets/main-a1b2.js', 'text/javascript; charset=utf-8', FOREVER],
      ['/assets/style-c3.css', 'text/css; charset=utf-8', FOREVER],
      ['/assets/icon-d4.png', 'image/png', FOREVER],
    ] as const) {
      for (const headers of [{}, BROWSER, { accept: 'application/json' }]) {
        const reply = await send(t, 'GET', `${path}?v=1`, headers);
        expect(typeOf(reply), path).to.deep.equal([200, type, caching]);
        expect(reply.body.equals(Buffer.from(FILES[path.slice(1)] ?? '')), path).to.equal(true);
      }
    }
  });

  it('have on HEAD the headers of GET and no body', async () => {
    const t = await built();
    for (const path of ['/assets/main-a1b2.js', '/config.json', '/']) {
      const [got, head] = [await send(t, 'GET', path, BROWSER), await send(t, 'HEAD', path, BROWSER)];
      expect([head.status, head.body.length, head.headers['content-length']], path).to.deep.equal([
        200,
        0,
        String(got.body.length),
      ]);
      for (const name of ['content-type', 'cache-control', 'etag', 'vary'])
        expect(head.headers[name], name).to.equal(got.headers[name]);
    }
  });

  it('leave compressed for clients that take it, each coding with a tag of its own', async () => {
    const t = await built();
    const path = '/assets/main-a1b2.js';
    const plain = await send(t, 'GET', path);
    const [br, gzip] = [
      await send(t, 'GET', path, { 'accept-encoding': 'gzip, deflate, br, zstd' }),
      await send(t, 'GET', path, { 'accept-encoding': 'gzip' }),
    ];
    expect([plain, br, gzip].map(({ headers }) => headers['content-encoding'])).to.deep.equal([
      undefined,
      'br',
      'gzip',
    ]);
    for (const { headers } of [plain, br, gzip]) expect(headers['vary']).to.equal('Origin, Accept-Encoding');
    expect(br.body.equals(FILES['assets/main-a1b2.js.br'] as Buffer)).to.equal(true);
    expect(gunzipSync(gzip.body).toString()).to.equal(SCRIPT);
    expect(gzip.headers['content-type']).to.equal('text/javascript; charset=utf-8');
    expect(new Set([plain, br, gzip].map(({ headers }) => headers['etag'])).size).to.equal(3);
    expect((await send(t, 'GET', '/config.json', { 'accept-encoding': 'br' })).headers['content-encoding']).to.equal(
      undefined,
    );
    expect((await send(t, 'GET', `${path}.br`)).status).to.equal(404);
  });

  it('are 304 for a client that has them', async () => {
    const t = await built();
    const {
      headers: { etag = '' },
    } = await send(t, 'GET', '/assets/style-c3.css');
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await send(t, 'GET', '/assets/style-c3.css', { 'if-none-match': known });
      expect(
        [
          reply.status,
          reply.body.length,
          reply.headers['etag'],
          reply.headers['cache-control'],
          reply.headers['content-type'],
        ],
        known,
      ).to.deep.equal([304, 0, etag, FOREVER, undefined]);
    }
    expect((await send(t, 'GET', '/assets/style-c3.css', { 'if-none-match': '"other"' })).status).to.equal(200);
  });

  it('are found by a path that another client writes differently, and nothing beside them is', async () => {
    const t = await built();
    for (const path of [
      '/assets/../config.json',
      '/./config.json',
      '//config.json',
      '/%63onfig.json',
      '/assets/%2e%2e/config.json',
    ])
      expect((await send(t, 'GET', path)).body.toString(), path).to.equal(FILES['config.json']);
    const outside = [
      '/../../../secret.txt',
      '/assets/../../../../secret.txt',
      '/%2e%2e/%2e%2e/%2e%2e/secret.txt',
      '/..%2f..%2f..%2fsecret.txt',
      '/assets',
      '/assets/',
      '/.stamp',
      '/%2estamp',
      '/%',
      '/assets/%00',
      '/config.json/',
      '/CONFIG.JSON',
      '/constructor',
      '/__proto__',
    ];
    for (const path of outside) {
      const reply = await send(t, 'GET', path);
      expect([reply.status, reply.body.toString()], path).to.deep.equal([404, '404 page not found']);
      const page = await send(t, 'GET', path, BROWSER);
      expect([page.status, page.body.toString()], path).to.deep.equal([200, PAGE]);
    }
  });

  it('are for GET and HEAD', async () => {
    const t = await built();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const reply = await send(t, method, '/config.json', BROWSER);
      expect([reply.status, reply.headers['content-type'], reply.body.toString()], method).to.deep.equal([
        404,
        'text/plain; charset=utf-8',
        '404 page not found',
      ]);
    }
  });
});

describe('the page of the dashboard', () => {
  it('answers a browser on every path without a route, and is never kept', async () => {
    const t = await built();
    for (const path of ['/', '/overview', '/logs?offset=50', '/v1', '/assets/gone-e5.js', '/deep/link.html']) {
      const reply = await send(t, 'GET', path, BROWSER);
      expect(typeOf(reply), path).to.deep.equal([200, 'text/html; charset=utf-8', 'no-store']);
      expect(reply.body.toString()).to.equal(PAGE);
    }
  });

  it('has no say where there are routes, nor where a credential is missing', async () => {
    const t = await built();
    const withKey = { ...BROWSER, authorization: `Bearer ${MASTER_KEY}` };
    expect((await send(t, 'GET', '/livez', BROWSER)).headers['content-type']).to.equal('application/json');
    expect((await send(t, 'GET', '/openapi.json', BROWSER)).headers['content-type']).to.equal('application/json');
    expect((await send(t, 'GET', '/v1/nowhere', withKey)).headers['content-type']).to.equal('application/json');
    for (const path of ['/admin/nowhere', '/v1/nowhere', '/debug/nowhere', '/metrics'])
      expect((await send(t, 'GET', path, BROWSER)).status, path).to.equal(401);
    expect((await send(t, 'GET', '/debug/nowhere', withKey)).headers['content-type']).to.equal(
      'text/plain; charset=utf-8',
    );
    expect(typeOf(await send(t, 'GET', '/admin/nowhere', withKey))).to.deep.equal([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
  });
});

describe('a gateway whose dashboard is not built', () => {
  it('says so to browsers, and warns at the start', async () => {
    const t = await startHost({ targets: [{ virtual_key: 'echo' }] }, { installDirectory: NO_DASHBOARD });
    expect(t.lines.filter(({ rule }) => rule === 'WN14').map(({ level }) => level)).to.deep.equal(['WARN']);
    const reply = await send(t, 'GET', '/', BROWSER);
    expect(typeOf(reply)).to.deep.equal([503, 'text/html; charset=utf-8', 'no-store']);
    expect(reply.body.toString())
      .to.include('dashboard bundle is not built')
      .and.not.match(/<script|<style|style=/);
    const head = await send(t, 'HEAD', '/', BROWSER);
    expect([head.status, head.body.length]).to.deep.equal([503, 0]);
    for (const [path, headers] of [
      ['/', {}],
      ['/config.json', {}],
      ['/assets/a.js', { accept: '*/*' }],
    ] as const)
      expect((await send(t, 'GET', path, headers)).status, path).to.equal(404);
  });

  it('does not warn when there is one', async () => {
    expect((await built()).lines.filter(({ rule }) => rule === 'WN14')).to.deep.equal([]);
  });

  it('is one whose files cannot be read, until they can', async () => {
    const folder = await builtFolder();
    const t = await serving(folder);
    const [place, aside] = [join(folder, 'builtins/dashboard/dist'), join(folder, 'aside')];
    await rename(place, aside);
    const statuses = await Promise.all([
      send(t, 'GET', '/nowhere'),
      send(t, 'GET', '/config.json'),
      send(t, 'GET', '/', BROWSER),
      send(t, 'HEAD', '/', BROWSER),
      send(t, 'POST', '/'),
    ]);
    expect(statuses.map(({ status }) => status)).to.deep.equal([404, 404, 503, 503, 404]);
    expect(
      t.lines
        .filter(({ level }) => level === 'ERROR')
        .map(({ msg }) => msg as string)
        .filter((line) => !line.startsWith('the dashboard bundle cannot be read') && line !== 'http request'),
    ).to.deep.equal([]);
    await mkdir(place); // a build has begun, which writes its page last
    expect((await send(t, 'GET', '/', BROWSER)).status).to.equal(503);
    await rename(aside, place);
    expect((await send(t, 'GET', '/', BROWSER)).status).to.equal(200);
  });
});

describe('the coding of an answer', () => {
  const variant = (coding: Variant['coding']): Variant => ({
    coding,
    body: Buffer.alloc(0),
    tag: '',
    description: [],
    validators: [],
  });
  const file: FileVariants = { plain: variant(undefined), compressed: [variant('br'), variant('gzip')] };
  const cases: [accepted: string | undefined, coding: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['br;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['deflate, zstd', undefined],
    ['br;q=nonsense', undefined],
    ['br ; q=0.3 , gzip ; q=0.2', 'br'],
  ];
  for (const [accepted, coding] of cases)
    it(`is ${coding ?? 'none'} for ${JSON.stringify(accepted)}`, () => {
      expect(chooseVariant(file, accepted).coding).to.equal(coding);
    });

  it('is none where the build made none', () => {
    expect(chooseVariant({ plain: file.plain, compressed: [] }, 'br').coding).to.equal(undefined);
  });
});
