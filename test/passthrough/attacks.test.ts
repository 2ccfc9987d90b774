import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import {
  atEnd,
  eventually,
  forSuite,
  type GatewayProcess,
  MASTER_KEY,
  startGateway,
  temporaryFolder,
} from '../kit/index.ts';
import { DECOY, type Vector, VECTORS } from './support/vectors.ts';

const CREDENTIAL = 'upstream-key-3f91c2d4';
const ROOT = '/api/v1';
const AT_ONCE = 16;

interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

interface Setup {
  readonly gateway: GatewayProcess;
  readonly host: string;
  readonly arrived: Arrived[];
}

async function setUp(): Promise<Setup> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        arrived.push({ method: request.method ?? '', url: request.url ?? '', rawHeaders: request.rawHeaders, body });
        response.setHeader('content-type', 'application/json').end('{}');
      },
      () => {},
    );
  });
  server.on('upgrade', (request, socket) => {
    arrived.push({ method: 'UPGRADE', url: request.url ?? '', rawHeaders: request.rawHeaders, body: '' });
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cwd = await temporaryFolder();
  await writeFile(
    join(cwd, 'config.yaml'),
    'strategy: {mode: fallback}\ntargets: [{virtual_key: openai, models: [m]}]\nbatch_target: openai\nresponses_target: openai\n',
  );
  const gateway = await startGateway({
    cwd,
    variables: { OPENAI_API_KEY: CREDENTIAL, OPENAI_BASE_URL: `http://${host}${ROOT}`, ANTHROPIC_API_KEY: CREDENTIAL },
  });
  return { gateway, host, arrived };
}

/** Sends one vector on a connection of its own; resolves with what came back, when the other side has closed. */
async function strike(url: string, bytes: string): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  let answer = '';
  socket.on('data', (piece) => {
    answer += piece.toString('latin1');
    if (/\r\n\r\n/.test(answer)) socket.end(); // some of them leave the connection open
  });
  socket.on('error', () => {});
  socket.write(Buffer.from(bytes, 'latin1'));
  await once(socket, 'close');
  return answer;
}

/** What is wrong with a request that the upstream got. */
function fault({ url, rawHeaders, body }: Arrived, host: string): string | undefined {
  const names = rawHeaders.filter((_each, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const valuesOf = (name: string): string[] =>
    rawHeaders.filter((_value, at) => at % 2 === 1 && names[(at - 1) / 2] === name);
  const all = `${url}\n${rawHeaders.join('\n')}`;
  if (
    url.includes('smuggled') ||
    !url.startsWith(`${ROOT}/`) ||
    /(?:^|[/\\])\.{1,2}(?:[/\\;?]|$)/.test(url.replace(/\?.*/, ''))
  )
    return `its address is ${url}`;
  if (valuesOf('host').join() !== host) return `its hosts are ${valuesOf('host').join()}`;
  if (valuesOf('authorization').join() !== `Bearer ${CREDENTIAL}`)
    return `its credentials are ${valuesOf('authorization').join()}`;
  if (all.includes(MASTER_KEY) || all.includes(DECOY)) return 'it holds a credential or a claim of the client';
  if (valuesOf('x-forwarded-for').join() !== '127.0.0.1' || valuesOf('x-forwarded-proto').join() !== 'http')
    return `it comes from ${valuesOf('x-forwarded-for').join()}`;
  if (valuesOf('content-length').length + valuesOf('transfer-encoding').length > 1) return 'its length is given twice';
  const hop = [
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'trailers',
    'upgrade',
    'http2-settings',
    'x-provider',
    'x_provider',
    'x-tied',
    'transfer_encoding',
    'content_length',
    'expect',
  ].find((name) => names.includes(name));
  if (hop !== undefined) return `it has the header ${hop}`;
  if (body !== '' && !/^\{"model":"m"\}$|^GET \/v1\/smuggled /.test(body)) return `its body is ${body.slice(0, 40)}`;
  return undefined;
}

describe('attacks on raw sockets', () => {
  const setup = forSuite(setUp);

  it(`of ${VECTORS.length} vectors none gets the gateway's credential to where it must not be`, async () => {
    expect(VECTORS.length).to.be.above(300);
    const { gateway, host, arrived } = setup();
    const answers = new Map<Vector, string>();
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let at = next++; at < VECTORS.length; at = next++)
        answers.set(VECTORS[at]!, await strike(gateway.url, VECTORS[at]!.bytes.replaceAll('v=ID', `v=${at}`)));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await eventually(async () => Object.keys(await gateway.held()).length === 0);
    const found: string[] = [];
    for (const [at, vector] of VECTORS.entries()) {
      const { what, isRefused } = vector;
      const answer = answers.get(vector) ?? '';
      const reached = arrived.filter(({ url }) => new RegExp(`[?&]v=${at}(?:$|[&])`).test(url));
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
      if (reached.length > (isRefused ? 0 : 1)) found.push(`${what}: reached the upstream ${reached.length} times`);
      if (isRefused && !(status >= 400 && status < 600)) found.push(`${what}: is answered with ${answer.slice(0, 60)}`);
      if (what.startsWith('path: ') && !/^HTTP\/1\.1 400 [^]*invalid_proxy_path/.test(answer))
        found.push(`${what}: is not an invalid path: ${answer.slice(0, 30)}`);
      found.push(...reached.flatMap((request) => fault(request, host) ?? []).map((problem) => `${what}: ${problem}`));
    }
    found.push(
      ...arrived
        .filter(({ url }) => !/[?&]v=\d+/.test(url))
        .map(({ method, url }) => `a request that was not sent: ${method} ${url}`),
    );
    expect(found).to.deep.equal([]);
    expect(arrived.length, 'of those that may be served, most are').to.be.above(90);
  }).timeout(120_000);

  it('the gateway serves on', async () => {
    const { gateway, arrived } = setup();
    for (const path of [
      '/v1/file..name',
      '/v1/...',
      '/v1/a%2Fb%3Ac',
      '/v1//x//y',
      '/v1/100%25-ready',
      '/v1/..x',
      '/v1/x?a=../..&b=%2e%2e',
    ]) {
      arrived.length = 0;
      const answer = await strike(
        gateway.url,
        `GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: openai\r\nConnection: close\r\n\r\n`,
      );
      expect(answer, path).to.match(/^HTTP\/1\.1 200 /);
      expect(arrived.map(({ url }) => url)).to.deep.equal([`/api${path}`]);
    }
  });
});
