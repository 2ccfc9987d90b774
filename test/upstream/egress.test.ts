import dns from 'node:dns';
import { rename, writeFile } from 'node:fs/promises';
import { createServer as createTls } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import { withInstanceHeaders } from '../../host/upstream/egress/instance-headers.ts';
import { Egress, type EgressSettings } from '../../host/upstream/egress/egress.ts';
import { ProxyRefused } from '../../host/upstream/egress/refusals.ts';
import { sendHttp } from '../../host/upstream/send-http.ts';
import { WatchedFiles } from '../../host/upstream/secrets/watched-files.ts';
import { AuthorityFile } from '../../host/upstream/egress/authorities.ts';
import { Transport } from '../../host/upstream/transport.ts';
import type { CollectedReply, UpstreamCall } from '../../host/upstream/upstream-call.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { atEnd, eventually, fakeClock, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { selfSigned } from './certificate.ts';
import { testProxy } from './proxy.ts';
import { silentServer } from './silent-server.ts';

type Settings = Partial<Omit<EgressSettings, 'provider'>> & {
  readonly caFile?: string;
  readonly password?: string;
  readonly secrets?: Readonly<Record<string, string>>;
};

async function bench() {
  const folder = await temporaryFolder();
  const redactor = createRedactor({});
  const lines: object[] = [];
  const write =
    (level: string) =>
    (message: string, attributes: object = {}): void => {
      lines.push({ level, message, ...attributes });
    };
  const log = { warn: write('warn'), info: write('info') };
  const files = new WatchedFiles(fakeClock());
  const transport = new Transport();
  atEnd(async () => {
    files.close();
    await transport.close();
  });
  const open = async ({ caFile, password, secrets = {}, ...settings }: Settings = {}): Promise<Egress> =>
    new Egress(
      { provider: 'one', ...settings },
      {
        secretOf: (header) => secrets[header],
        proxyPassword: password,
        authorities:
          caFile === undefined ? undefined : await AuthorityFile.open(caFile, { files, provider: 'one', log }),
        redactor,
        log,
      },
    );
  const get = (url: string, egress?: Egress, more: Partial<UpstreamCall> = {}): Promise<CollectedReply> =>
    transport.unary({
      request: { method: 'GET', url, headers: {}, body: undefined },
      cancellation: new Cancellation(),
      egress,
      connectTimeoutMs: 2000,
      headersTimeoutMs: 5000,
      ...more,
    });
  return { folder, redactor, lines, files, transport, open, get };
}

const echo = () =>
  stubUpstream((_request, response) => {
    response.end('reached');
  });

async function tlsUpstream(hosts: readonly string[], credentials = selfSigned(...hosts)) {
  const sockets = new Set<object>();
  const server = createTls(credentials, (_request, response) => response.end('reached'));
  server.on('secureConnection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, cert: credentials.cert, sockets };
}

const failed = async (reply: Promise<CollectedReply>): Promise<any> =>
  reply.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the proxy of an instance', () => {
  it('is asked for a way to an http upstream, with its user and password', async () => {
    const { open, get, redactor } = await bench();
    const [upstream, proxy] = await Promise.all([echo(), testProxy()]);
    const egress = await open({ proxy: { url: proxy.url, username: 'gw' }, password: 'sesame-open-12345' });
    expect((await get(`${upstream.url}/a`, egress)).body.toString()).to.equal('reached');
    const place = upstream.url.slice('http://'.length);
    const token = Buffer.from('gw:sesame-open-12345').toString('base64');
    expect(proxy.heads).to.deep.equal([
      `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\nProxy-Authorization: Basic ${token}`,
    ]);
    expect(upstream.seen[0]?.headers).not.to.have.property('proxy-authorization');
    expect(redactor.redact(`x ${token}`)).not.to.contain(token.slice(4));
  });

  it('is asked once for calls that follow each other, and by no other instance', async () => {
    const { open, get, transport } = await bench();
    const [upstream, first, second] = await Promise.all([echo(), testProxy(), testProxy()]);
    const ways = [
      await open({ proxy: { url: first.url } }),
      await open({ proxy: { url: second.url } }),
      await open(),
      undefined,
    ];
    for (let turn = 0; turn < 3; turn += 1) for (const way of ways) await get(upstream.url, way);
    expect([first.heads.length, second.heads.length, upstream.sockets.size]).to.deep.equal([1, 1, 4]);
    expect(transport.origins).to.equal(4);
  });

  it('is asked by each user for itself', async () => {
    const { open, get } = await bench();
    const [upstream, proxy] = await Promise.all([echo(), testProxy()]);
    for (const password of ['first-password-1', 'second-password-2', 'first-password-1'])
      await get(upstream.url, await open({ proxy: { url: proxy.url, username: 'gw' }, password }));
    const users = proxy.heads.map((head) => head.split('Basic ')[1]);
    expect([users.length, new Set(users).size, upstream.sockets.size]).to.deep.equal([2, 2, 2]);
  });

  it('leads to an https upstream, whose certificate is checked behind it', async () => {
    const { open, get, folder } = await bench();
    const [upstream, proxy] = await Promise.all([tlsUpstream(['127.0.0.1']), testProxy()]);
    const untrusting = await open({ proxy: { url: proxy.url } });
    expect(await failed(get(upstream.url, untrusting))).to.include({ code: 'upstream_error', status: 502 });
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, upstream.cert);
    const trusting = await open({ proxy: { url: proxy.url }, caFile });
    expect((await get(upstream.url, trusting)).body.toString()).to.equal('reached');
  });

  it('may itself speak TLS, with a certificate of the authorities', async () => {
    const { open, get, folder } = await bench();
    const tls = selfSigned('127.0.0.1');
    const [upstream, proxy] = await Promise.all([echo(), testProxy({ tls })]);
    expect(await failed(get(upstream.url, await open({ proxy: { url: proxy.url } })))).to.include({ status: 502 });
    expect(proxy.heads).to.deep.equal([]);
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, tls.cert);
    const egress = await open({ proxy: { url: proxy.url }, caFile });
    expect((await get(upstream.url, egress)).body.toString()).to.equal('reached');
  });

  for (const [what, answer, status] of [
    ['407', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 407],
    ['403 with a body', 'HTTP/1.0 403 Forbidden\r\ncontent-length: 3\r\n\r\nno!', 403],
    ['what is not HTTP', 'SSH-2.0-x\r\n\r\n', undefined],
    ['nothing', '', undefined],
    ['half a head', 'HTTP/1.1 200 OK\r\n', undefined],
    ['an endless head', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(5000)}`, undefined],
  ] as const) {
    it(`that answers ${what} ends the call, which is not sent`, async () => {
      const { open, get, transport } = await bench();
      const [upstream, proxy] = await Promise.all([echo(), testProxy({ answer: () => answer })]);
      const error = await failed(get(upstream.url, await open({ proxy: { url: proxy.url } })));
      expect(error).to.include({ code: 'upstream_error', status: 502, message: 'the provider cannot be reached' });
      expect(error.cause).to.be.instanceOf(ProxyRefused);
      expect(error.cause.status).to.equal(status);
      expect([upstream.seen.length, proxy.heads.length]).to.deep.equal([0, 1]);
      while (transport.origins > 0) await setTimeout(2);
    });
  }

  it('that cannot be reached, or never answers, ends the call in its time', async () => {
    const { open, get } = await bench();
    const upstream = await echo();
    const closed = await open({ proxy: { url: 'http://127.0.0.1:1' } });
    expect(await failed(get(upstream.url, closed))).to.include({ code: 'upstream_error', status: 502 });
    const silent = await testProxy({ answer: () => undefined });
    const nowhere = await stubUpstream(() => {});
    const held = await open({ proxy: { url: nowhere.url } }); // an HTTP server that does not answer CONNECT
    expect(await failed(get(upstream.url, held, { connectTimeoutMs: 50 }))).to.include({ status: 502 });
    const egress = await open({ proxy: { url: silent.url } });
    expect((await get(upstream.url, egress)).status).to.equal(200);
  });

  it('has the time of the call to connect, for the way and for TLS behind it', async () => {
    const { open, get, transport } = await bench();
    const silent = await silentServer();
    const opens = await testProxy();
    const short = { connectTimeoutMs: 50 };
    const late = { code: 'upstream_timeout', status: 504 };
    const asked = await open({ proxy: { url: `http://127.0.0.1:${silent.port}` } });
    expect(await failed(get('http://127.0.0.1:9/', asked, short))).to.include(late);
    const opened = await open({ proxy: { url: opens.url } });
    expect(await failed(get(`https://127.0.0.1:${silent.port}/`, opened, short))).to.include(late);
    await eventually(() => silent.sockets.size + opens.sockets.size + transport.origins === 0);
    expect([silent.sockets.size, opens.sockets.size, transport.origins]).to.deep.equal([0, 0, 0]);
  });

  it('leads to a host by its name, which its certificate is for', async () => {
    const { open, get, folder } = await bench();
    const [upstream, proxy] = await Promise.all([tlsUpstream(['localhost']), testProxy()]);
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, upstream.cert);
    const egress = await open({ proxy: { url: proxy.url }, caFile });
    const url = upstream.url.replace('127.0.0.1', 'localhost');
    expect((await get(url, egress)).body.toString()).to.equal('reached');
    expect(await failed(get(upstream.url, egress))).to.include({ code: 'upstream_error', status: 502 });
    expect(proxy.heads.map((head) => head.split(' ')[1])).to.deep.equal([
      url.slice('https://'.length),
      upstream.url.slice('https://'.length),
    ]);
  });

  it('ends with the call that was cancelled while it was asked', async () => {
    const { open, get } = await bench();
    const asked = Promise.withResolvers<void>();
    const proxy = await testProxy({
      answer: () => {
        asked.resolve();
        return 'HTTP/1.1 200 OK\r\n'; // and no end of the head
      },
    });
    const upstream = await echo();
    const cancellation = new Cancellation();
    const reply = failed(get(upstream.url, await open({ proxy: { url: proxy.url } }), { cancellation }));
    await asked.promise;
    cancellation.cancel(Object.assign(new Error('gone')) as never);
    expect(await reply).to.have.property('message', 'gone');
    while (proxy.sockets.size > 0) await setTimeout(2);
  });

  it('is what a module fetches its tokens through', async () => {
    const { open, transport } = await bench();
    const [upstream, proxy] = await Promise.all([echo(), testProxy()]);
    const send = sendHttp({ transport, clock: fakeClock(), egress: await open({ proxy: { url: proxy.url } }) });
    expect((await send({ method: 'POST', url: `${upstream.url}/token`, body: 'x' })).status).to.equal(200);
    expect(proxy.heads).to.have.length(1);
  });
});

describe('the authorities of an instance', () => {
  it('are trusted by that instance alone, and not for other hosts', async () => {
    const { open, get, folder } = await bench();
    const upstream = await tlsUpstream(['127.0.0.1']);
    const elsewhere = await tlsUpstream(['other.example']);
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, `comment\n${upstream.cert}${elsewhere.cert}`);
    const egress = await open({ caFile });
    expect((await get(upstream.url, egress)).body.toString()).to.equal('reached');
    for (const other of [undefined, await open()])
      expect(await failed(get(upstream.url, other))).to.include({ status: 502 });
    expect(await failed(get(elsewhere.url, egress))).to.include({ status: 502 });
    expect([upstream.sockets.size, elsewhere.sockets.size]).to.deep.equal([1, 0]);
  });

  it('are renewed with their file, and stay where it cannot be read', async () => {
    const { open, get, folder, files, lines } = await bench();
    const [before, after] = [await tlsUpstream(['127.0.0.1']), await tlsUpstream(['127.0.0.1'])];
    const caFile = join(folder, 'ca.pem');
    const write = async (text: string): Promise<void> => {
      await writeFile(`${caFile}.new`, text);
      await rename(`${caFile}.new`, caFile);
      await files.look();
    };
    await writeFile(caFile, before.cert);
    const egress = await open({ caFile });
    expect((await get(before.url, egress)).status).to.equal(200);
    await write(after.cert);
    expect((await get(after.url, egress)).status).to.equal(200);
    expect(await failed(get(before.url, egress))).to.include({ status: 502 });
    for (const text of ['nothing', 'nothing', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', ''])
      await write(text);
    expect((await get(after.url, egress)).status).to.equal(200);
    const failure = {
      level: 'warn',
      message: 'credential refresh failed',
      rule: 'WN18',
      provider: 'one',
      reference: caFile,
    };
    expect(lines).to.deep.equal([
      { level: 'info', message: 'authorities refreshed', provider: 'one', path: caFile },
      { ...failure, reason: 'it holds no certificate in PEM' },
      { ...failure, reason: 'its certificate 1 cannot be read' },
      { ...failure, reason: 'empty' },
    ]);
  });

  it('keep the instance from opening where they cannot be read', async () => {
    const { open, folder, files } = await bench();
    const caFile = join(folder, 'ca.pem');
    for (const [text, problem] of [
      [undefined, 'no such file'],
      ['x'.repeat(1024 * 1024 + 1), 'too large'],
      ['no certificate', 'it holds no certificate in PEM'],
    ] as const) {
      if (text !== undefined) await writeFile(caFile, text);
      const error: any = await open({ caFile }).catch((thrown: unknown) => thrown);
      expect(error.message).to.equal(`the authorities of "${caFile}" cannot be read`);
      expect(error.cause.message).to.equal(problem);
    }
    expect(files.size).to.equal(0);
  });
});

describe('an address of an instance', () => {
  it('that is link-local is not connected to, with or without a proxy', async () => {
    const { open, get, lines, transport } = await bench();
    const proxy = await testProxy();
    for (const egress of [await open(), await open({ proxy: { url: proxy.url } })]) {
      for (const host of [
        '169.254.169.254',
        '0xa9fea9fe',
        '[fe80::1]',
        '[::ffff:169.254.1.1]',
        'metadata.google.internal',
      ])
        expect(await failed(get(`http://${host}:9/latest`, egress)), host).to.include({
          code: 'upstream_error',
          status: 502,
        });
    }
    const behind = await open({ proxy: { url: 'http://169.254.1.1:3128' } });
    expect(await failed(get('http://127.0.0.1:9/', behind))).to.include({ status: 502 });
    expect(proxy.heads).to.deep.equal([]);
    expect(lines).to.have.length(11);
    expect(lines[0]).to.deep.equal({
      level: 'warn',
      message: 'address refused',
      provider: 'one',
      host: '169.254.169.254',
    });
    while (transport.origins > 0) await setTimeout(2);
  });

  it('that resolves to a link-local one is not connected to either; other addresses of a name are', async () => {
    const { open, get, lines } = await bench();
    const upstream = await echo();
    const answers: Record<string, string[]> = {
      'meta.test': ['169.254.169.254', 'fe80::1'],
      'both.test': ['169.254.169.254', '127.0.0.1'],
    };
    const { lookup } = dns;
    (dns as any).lookup = (name: string, options: any, callback: any) => {
      const found = answers[name];
      if (!found) return lookup(name, options, callback);
      const all = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      return queueMicrotask(() =>
        options.all ? callback(null, all) : callback(null, all[0]?.address, all[0]?.family),
      );
    };
    syncBuiltinESMExports();
    atEnd(() => {
      dns.lookup = lookup;
      syncBuiltinESMExports();
    });
    const egress = await open();
    const { port } = new URL(upstream.url);
    expect(await failed(get(`http://meta.test:${port}/`, egress))).to.include({ code: 'upstream_error', status: 502 });
    expect(lines).to.deep.equal([{ level: 'warn', message: 'address refused', provider: 'one', host: 'meta.test' }]);
    expect((await get(`http://both.test:${port}/`, egress)).body.toString()).to.equal('reached');
    expect(upstream.sockets.size).to.equal(1);
  });
});

describe('the headers of an instance', () => {
  it('are literal, a secret, or a scheme word and a secret', async () => {
    const { open } = await bench();
    const egress = await open({
      headers: { 'X-Tenant': 'blue', 'X-Key': '${X}', 'X-Token': 'Bearer ${file:/run/secrets/y}' },
      secrets: { 'X-Key': 'one', 'X-Token': 'two' },
    });
    expect(egress.headers).to.deep.equal({ 'x-tenant': 'blue', 'x-key': 'one', 'x-token': 'Bearer two' });
    expect((await open({ headers: {} })).headers).to.equal(undefined);
  });

  it('stand in the place of others with their names, in any case of letters, and extend a list of betas', () => {
    const own = { 'x-tenant': 'blue', 'anthropic-beta': 'b, c' };
    expect(withInstanceHeaders({ 'X-Tenant': 'red', accept: '*/*' }, own)).to.deep.equal({
      accept: '*/*',
      'x-tenant': 'blue',
      'anthropic-beta': 'b,c',
    });
    expect(withInstanceHeaders({ 'anthropic-beta': 'a,b' }, own)).to.include({ 'anthropic-beta': 'a,b,c' });
    const headers = { accept: '*/*' };
    expect(withInstanceHeaders(headers, undefined)).to.equal(headers);
  });
});
