import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { tlsFindings } from '../../builtins/cli/doctor/tls-findings.ts';
import { readEnvironment } from '../../host/environment/settings.ts';
import type { Listeners } from '../../host/start/open-listeners.ts';
import { openListeners } from '../../host/start/open-listeners.ts';
import {
  atEnd,
  expectSoon,
  fakeClock,
  type FakeClock,
  forSuite,
  MASTER_KEY,
  findTool,
  runGw,
  startGateway,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { answerTo, authority, type Authority, GET, type Made, presents, shake } from './tls-kit.ts';

const BASE = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };
const LOOK_MS = 10_000;

interface World {
  readonly folder: string;
  readonly ca: Authority;
  readonly other: Authority;
  readonly server: Made;
  readonly client: Made;
}

interface Secure extends TestHost {
  readonly listeners: Listeners;
  readonly clock: FakeClock;
  /** Two looks at the files. */
  look(): void;
}

async function startSecure(variables: Record<string, string>, config: object = BASE): Promise<Secure> {
  const clock = fakeClock(Date.now());
  const t = await startHost(config, { clock, variables: { PORT: '0', GW_ADDRESS: '127.0.0.1', ...variables } });
  const listeners = await openListeners(t.host);
  atEnd(() => listeners.close());
  const look = (): void => {
    clock.advance(LOOK_MS);
    clock.advance(LOOK_MS);
  };
  return { ...t, listeners, clock, look };
}

/** What the client of openssl says. Asynchronously: the server is this process. */
function asClient(args: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const child = execFile(findTool('openssl'), ['s_client', ...args], (_error, stdout, stderr) =>
    resolve(stdout + stderr),
  );
  child.stdin?.end();
  return promise;
}

const messagesOf = (t: TestHost, text: string): Record<string, any>[] => t.lines.filter(({ msg }) => msg === text);

describe('TLS of a listener', () => {
  const world = forSuite(async (): Promise<World> => {
    const folder = await temporaryFolder();
    const [ca, other] = [authority(folder, 'one'), authority(folder, 'two')];
    return { folder, ca, other, server: ca.sign('gateway'), client: ca.sign('client') };
  });
  const files = ({ cert, key }: Made = world().server): Record<string, string> => ({
    GW_TLS_CERT: cert,
    GW_TLS_KEY: key,
  });
  const trusts = (...all: readonly Authority[]) => ({ ca: all.map(({ cert }) => readFileSync(cert)) });

  /** Files of a certificate that can be replaced. */
  async function own(made: Made): Promise<{ readonly at: Made; put(next: Partial<Made>): void }> {
    const folder = await temporaryFolder();
    const at = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
    const put = ({ cert, key }: Partial<Made>): void => {
      if (cert !== undefined) copyFileSync(cert, at.cert);
      if (key !== undefined) copyFileSync(key, at.key);
    };
    put(made);
    return { at, put };
  }

  const serialOf = async (port: number): Promise<string> => {
    const socket = await shake(port, trusts(world().ca, world().other));
    if (typeof socket === 'string') return socket;
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };

  it('speaks TLS 1.2 and 1.3, and to plain HTTP and older versions nothing', async () => {
    const t = await startSecure(files());
    const { port } = t.listeners;
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = (await shake(port, {
        ...trusts(world().ca),
        minVersion: version,
        maxVersion: version,
      })) as TLSSocket;
      expect([socket.getProtocol(), socket.alpnProtocol, socket.authorized]).to.deep.equal([version, 'http/1.1', true]);
      socket.destroy();
    }
    expect(await answerTo(port, trusts(world().ca), GET('/livez'))).to.match(/^HTTP\/1\.1 200 /);
    const plain = connect(port, '127.0.0.1');
    let read = '';
    plain.on('data', (data) => (read += data.toString()));
    plain.on('error', () => {});
    plain.write(GET('/livez'));
    await once(plain, 'close');
    expect(read).not.to.include('HTTP/');
    const old = await asClient(['-connect', `127.0.0.1:${port}`, '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0']);
    expect(old).to.match(/Cipher is \(NONE\)|alert|error/i);
    await expectSoon(() => expect(messagesOf(t, 'tls handshake failed').length).to.be.greaterThan(1));
    expect(messagesOf(t, 'tls handshake failed')[0]).to.include({ listener: 'data' });
    const figures = (await t.get('/metrics')).text;
    const { notAfter } = t.host.certificates[0]!.loaded;
    expect(figures).to.include(`gateway_tls_not_after_seconds{listener="data"} ${Math.floor(notAfter / 1000)}`);
    expect(figures).to.match(/gateway_tls_handshake_failures_total\{listener="data"\} [1-9]/);
    await expectSoon(async () =>
      expect((await t.get('/metrics')).text).to.match(/gateway_server_connections_current\{state="idle"\} [01]\n/),
    );
  });

  it('asks for a certificate of clients as each listener is set, and a key is needed all the same', async () => {
    const { ca, other, client } = world();
    const stranger = other.sign('stranger');
    const past = ca.sign('past', { days: -1 });
    const cases: readonly (readonly [Record<string, string>, none: boolean, good: boolean, bad: boolean])[] = [
      [{}, true, true, true],
      [{ GW_TLS_CLIENT_CA: ca.cert }, false, true, false],
      [{ GW_TLS_CLIENT_CA: ca.cert, GW_TLS_CLIENT_AUTH: 'optional' }, true, true, false],
      [{ GW_TLS_CLIENT_CA: ca.cert, GW_TLS_CLIENT_AUTH: 'none' }, true, true, true],
    ];
    for (const [variables, ...expected] of cases) {
      const t = await startSecure({ ...files(), ...variables });
      const isServed = async (made: Made | undefined): Promise<boolean> =>
        /^HTTP\/1\.1 401 /.test(
          await answerTo(t.listeners.port, { ...trusts(ca), ...(made && presents(made)) }, GET('/v1/models')),
        );
      const found = [await isServed(undefined), await isServed(client), await isServed(stranger), await isServed(past)];
      expect(found, JSON.stringify(variables)).to.deep.equal([...expected, expected[2]]);
      const named = messagesOf(t, 'http request').flatMap(({ client_cert: name }) => name ?? []);
      const asks = variables['GW_TLS_CLIENT_CA'] !== undefined && variables['GW_TLS_CLIENT_AUTH'] !== 'none';
      expect(named).to.deep.equal(asks ? ['client'] : []);
      await t.close();
    }
  });

  it('is set for the control plane by itself', async () => {
    const { ca, client, other } = world();
    const admin = other.sign('admin');
    const asked = async (port: number, made?: Made): Promise<string> =>
      (await answerTo(port, { ...trusts(ca, other), ...(made && presents(made)) }, GET('/livez'))).slice(0, 12);
    const both = await startSecure({ ...files(), GW_ADMIN_PORT: '0', GW_ADMIN_TLS_CLIENT_CA: ca.cert });
    expect(await asked(both.listeners.port)).to.equal('HTTP/1.1 200');
    expect(await asked(both.listeners.adminPort!)).not.to.include('HTTP');
    expect(await asked(both.listeners.adminPort!, client)).to.equal('HTTP/1.1 200');
    const off = await startSecure({ ...files(), GW_ADMIN_PORT: '0', GW_ADMIN_TLS_CERT: 'off' });
    expect((await fetch(`http://127.0.0.1:${off.listeners.adminPort}/livez`)).status).to.equal(200);
    expect(await asked(off.listeners.port)).to.equal('HTTP/1.1 200');
    const alone = await startSecure({ GW_ADMIN_PORT: '0', GW_ADMIN_TLS_CERT: admin.cert, GW_ADMIN_TLS_KEY: admin.key });
    expect((await fetch(`http://127.0.0.1:${alone.listeners.port}/livez`)).status).to.equal(200);
    expect(await asked(alone.listeners.adminPort!)).to.equal('HTTP/1.1 200');
    expect(await serialOf(alone.listeners.adminPort!)).not.to.equal(await serialOf(both.listeners.adminPort!));
  });

  it('takes new files under running streams, when two looks have seen them', async () => {
    const { ca, server } = world();
    const next = ca.sign('next');
    const chunk = (text: string): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] })}\n\n`;
    let go = (): void => {};
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('before'));
      go = () => response.end(`${chunk('after')}data: [DONE]\n\n`);
    });
    const { at, put } = await own(server);
    const t = await startSecure(files(at), { strategy: { mode: 'single' }, targets: [upstream.target('a')] });
    const { port } = t.listeners;
    const first = await serialOf(port);
    const call = httpsRequest({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      ...trusts(ca),
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    });
    call.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }));
    const [response] = (await once(call, 'response')) as [import('node:http').IncomingMessage];
    let read = '';
    response.setEncoding('utf8').on('data', (data: string) => (read += data));
    await expectSoon(() => expect(read).to.include('before'));
    put(next);
    t.clock.advance(LOOK_MS);
    expect(await serialOf(port), 'seen once').to.equal(first);
    t.clock.advance(LOOK_MS);
    const second = await serialOf(port);
    expect(second).not.to.equal(first);
    expect(messagesOf(t, 'tls certificate reloaded')).to.have.length(1);
    expect(messagesOf(t, 'tls certificate reloaded')[0]).to.include({ listener: 'data', serial: second });
    go();
    await once(response, 'end');
    expect(read).to.match(/after[^]*\[DONE\]/);
  });

  it('follows the links that a mount of Kubernetes swaps', async () => {
    const { ca, server } = world();
    const folder = await temporaryFolder();
    const next = ca.sign('swapped');
    const data = (name: string, { cert, key }: Made): string => {
      const at = join(folder, name);
      execFileSync('mkdir', [at]);
      copyFileSync(cert, join(at, 'tls.crt'));
      copyFileSync(key, join(at, 'tls.key'));
      return at;
    };
    symlinkSync(data('first', server), join(folder, '..data'));
    for (const file of ['tls.crt', 'tls.key']) symlinkSync(join('..data', file), join(folder, file));
    const t = await startSecure(files({ cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }));
    const first = await serialOf(t.listeners.port);
    symlinkSync(data('second', next), join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    t.look();
    expect(await serialOf(t.listeners.port)).not.to.equal(first);
  });

  it('keeps what it has where new files cannot be used, and says so once', async () => {
    const { ca, other, server } = world();
    const next = ca.sign('later');
    const { at, put } = await own(server);
    const t = await startSecure(files(at));
    const { port } = t.listeners;
    const first = await serialOf(port);
    const half = readFileSync(next.cert).subarray(0, 200);
    for (const spoil of [
      () => writeFileSync(at.cert, half),
      () => put({ cert: next.cert }),
      () => writeFileSync(at.key, 'no key'),
      () => rmSync(at.cert),
      () => put({ cert: other.cert, key: next.key }),
    ]) {
      const before = messagesOf(t, 'tls certificate not reloaded').length;
      spoil();
      t.look();
      t.look();
      t.look();
      expect(await serialOf(port)).to.equal(first);
      const told = messagesOf(t, 'tls certificate not reloaded');
      expect(told).to.have.length(before + 1);
      expect(JSON.stringify(told.at(-1)))
        .to.include('GW_TLS_')
        .and.not.include('PRIVATE KEY');
      put(server);
      t.look();
      expect(messagesOf(t, 'tls certificate reloaded')).to.deep.equal([]);
    }
    put(next);
    t.look();
    expect(await serialOf(port)).not.to.equal(first);
  });

  it('lets clients of a former authority neither connect nor resume', async () => {
    const { ca, other, client } = world();
    const folder = await temporaryFolder();
    const clients = join(folder, 'clients.pem');
    copyFileSync(ca.cert, clients);
    const t = await startSecure({ ...files(), GW_TLS_CLIENT_CA: clients });
    const { port } = t.listeners;
    const socket = (await shake(port, { ...trusts(ca), ...presents(client) })) as TLSSocket;
    const sessions: Buffer[] = [];
    socket.on('session', (session: Buffer) => sessions.push(session));
    socket.resume().write(GET('/livez'));
    await once(socket, 'close');
    expect(sessions.length).to.be.greaterThan(0);
    const resumed = { ...trusts(ca), ...presents(client), session: sessions.at(-1)! };
    expect(await answerTo(port, resumed, GET('/livez'))).to.match(/^HTTP\/1\.1 200/);
    copyFileSync(other.cert, clients);
    t.look();
    expect(await answerTo(port, resumed, GET('/livez'))).not.to.include('HTTP/');
    expect(await answerTo(port, { ...trusts(ca), ...presents(client) }, GET('/livez'))).not.to.include('HTTP/');
    expect(await answerTo(port, { ...trusts(ca), ...presents(other.sign('new')) }, GET('/livez'))).to.match(
      /^HTTP\/1\.1 200/,
    );
  });

  it('serves requests as plain HTTP does: in a row, with an invitation, with a body that is refused', async () => {
    const t = await startSecure(files());
    const ask = (text: string): Promise<string> => answerTo(t.listeners.port, trusts(world().ca), text);
    const two = await ask(GET('/livez').replace('Connection: close\r\n', '') + GET('/readyz'));
    expect(two.match(/HTTP\/1\.1 200/g)).to.have.length(2);
    const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hello' }] });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    expect(await ask(`${head}Expect: 100-continue\r\nConnection: close\r\n\r\n${body}`)).to.match(
      /^HTTP\/1\.1 100 [^]*HTTP\/1\.1 200 [^]*hello/,
    );
    expect(await ask(`${head}Upgrade: websocket\r\nConnection: close, Upgrade\r\n\r\n${body}`)).to.match(
      /^HTTP\/1\.1 200 /,
    );
    expect(await ask('GET / HTTP/1.1\r\nNo Header\r\n\r\n')).to.match(/^HTTP\/1\.1 400 /);
    expect(await ask('CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n')).to.match(/^HTTP\/1\.1 404 /);
    expect(await ask(GET('/admin/keys', `Authorization: Bearer ${MASTER_KEY}\r\n`))).to.match(/^HTTP\/1\.1 200 /);
    await expectSoon(async () => {
      const { text } = await t.get('/metrics');
      expect(text).to.match(/gateway_server_connections_current\{state="active"\} 1\n/);
    });
  });

  it('has files that it cannot use stop the start, by the names of variable and file', async () => {
    const { folder, ca, other, server } = world();
    const at = (name: string, text: string | Buffer): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const locked = join(folder, 'locked.key');
    execFileSync(findTool('openssl'), ['ec', '-in', server.key, '-aes256', '-passout', 'pass:x', '-out', locked], {
      stdio: 'pipe',
    });
    for (const [variables, ...said] of [
      [{ ...files(), GW_TLS_CERT: '/nowhere/x.pem' }, 'GW_TLS_CERT', '/nowhere/x.pem', 'ENOENT'],
      [{ ...files(), GW_TLS_CERT: at('empty.pem', '') }, 'GW_TLS_CERT', 'empty.pem', 'no certificate'],
      [
        { ...files(), GW_TLS_CERT: at('bad.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n') },
        'GW_TLS_CERT',
        'bad.pem',
      ],
      [{ ...files(), GW_TLS_KEY: at('no.key', 'x') }, 'GW_TLS_KEY', 'no.key', 'no private key'],
      [{ ...files(), GW_TLS_KEY: locked }, 'GW_TLS_KEY', locked, 'passphrase'],
      [{ ...files(), GW_TLS_KEY: other.key }, 'GW_TLS_KEY', other.key, 'another certificate', server.cert],
      [{ ...files(), GW_TLS_CLIENT_CA: at('ca.txt', 'x') }, 'GW_TLS_CLIENT_CA', 'ca.txt', 'no certificate'],
      [{ ...files(), GW_ADMIN_PORT: '0', GW_ADMIN_TLS_KEY: ca.key }, 'GW_ADMIN_TLS_KEY', ca.key, 'another certificate'],
    ] as readonly [Record<string, string>, ...string[]][]) {
      const failed = await startSecure(variables).catch((error: unknown) => String(error));
      expect(failed, JSON.stringify(variables)).to.be.a('string');
      for (const text of said) expect(failed).to.include(text);
    }
    const ended = await runGw(['serve'], { variables: { PORT: '0', MASTER_KEY, ...files(), GW_TLS_KEY: other.key } });
    expect([ended.code, ended.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.includes('GW_TLS_KEY'),
    );
  });

  it('warns of a certificate that ends, once a day, and of a key that all may read', async () => {
    const { ca, folder } = world();
    const soon = ca.sign('soon', { days: 2 });
    const open = join(folder, 'open.key');
    copyFileSync(soon.key, open);
    chmodSync(open, 0o644);
    const t = await startSecure(files({ cert: soon.cert, key: open }));
    const warned = (): Record<string, any>[] => t.lines.filter(({ rule }) => rule === 'WN37');
    expect(warned()).to.have.length(1);
    expect(t.lines.filter(({ rule }) => rule === 'WN38').map(({ file }) => file)).to.deep.equal([open]);
    t.clock.advance(23 * 3_600_000);
    expect(warned()).to.have.length(1);
    t.clock.advance(2 * 3_600_000);
    expect(warned()).to.have.length(2);
    t.clock.advance(24 * 3_600_000);
    expect(warned().at(-1)?.['msg']).to.equal('the tls certificate has ended');
    const good = await startSecure(files());
    expect(good.lines.filter(({ rule }) => rule === 'WN37' || rule === 'WN38')).to.deep.equal([]);
  });

  it('is looked at by gw doctor, file by file', () => {
    const { ca, other, server } = world();
    const found = (variables: Record<string, string>): string[] =>
      tlsFindings(readEnvironment(variables).listeners.tls, Date.now()).map(({ level, text }) => `${level} ${text}`);
    expect(found({})).to.deep.equal([]);
    const [good = '', ...rest] = found({ ...files(), GW_ADMIN_PORT: '0' });
    expect([good.startsWith(`good ${server.cert} (GW_TLS_CERT) ends 20`), rest]).to.deep.equal([true, []]);
    expect(found(files(ca.sign('ends', { days: 3 }))).join()).to.match(/^warning .*\(GW_TLS_CERT\) ends /);
    expect(found(files(ca.sign('ended', { days: -1 }))).join()).to.match(/^warning .*\(GW_TLS_CERT\) has ended /);
    const wrong = found({
      ...files(),
      GW_ADMIN_PORT: '0',
      GW_ADMIN_TLS_CERT: other.cert,
      GW_ADMIN_TLS_KEY: server.key,
    });
    expect(wrong.map((line) => line.split(' ')[0])).to.deep.equal(['good', 'bad']);
  });

  it('is what a whole gateway speaks, as its banner says', async () => {
    const { ca } = world();
    const gateway = await startGateway({ variables: { ...files(), GW_ADMIN_PORT: '0' } });
    const started = gateway.lines.find(({ msg }) => msg === 'gw started') ?? {};
    const adminPort = Number(/:(\d+)$/.exec(String(started['admin_addr']))?.[1]);
    expect(gateway.stderr()).to.include(`Dashboard:  https://localhost:${adminPort}/`);
    for (const port of [Number(new URL(gateway.url).port), adminPort])
      expect(await answerTo(port, trusts(ca), GET('/livez'))).to.match(/^HTTP\/1\.1 200/);
    expect(await gateway.stop()).to.equal(0);
  });
});
