import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { Agent, fetch as undiciFetch, request as undiciRequest } from 'undici';
import {
  ask,
  atEnd,
  cases,
  forSuite,
  type GatewayProcess,
  MASTER_KEY,
  rawClient,
  requireTool,
  some,
  startGateway,
  startNginx,
  temporaryFolder,
} from '../kit/index.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('clients/refused.py', import.meta.url));
const CHAT = '/v1/chat/completions';
const KEY = { Authorization: `Bearer ${MASTER_KEY}` };
/** Rounds of each of six refusals. */
const ROUNDS = cases(20);
/** Rounds of what is sent by hand. */
const BY_HAND = cases(30, 15);
/** More than a connection holds, and more than the gateways below take. */
const BODY_BYTES = 6_000_000;
const MAX_BYTES = 100_000;

/** A request whose body is not read before the answer. */
interface Refusal {
  readonly status: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a client got: the status, and whether the body of the answer was whole. Or what went wrong. */
type Got = readonly [status: number, isWhole: boolean] | string;

interface Refusing {
  readonly gateway: GatewayProcess;
  readonly refusals: readonly Refusal[];
}

/** A gateway that refuses for many reasons, and one that refuses by rate. */
async function startRefusing(): Promise<Refusing> {
  const cwd = await temporaryFolder();
  const GATEWAY_CONFIG = join(cwd, 'config.yaml');
  await writeFile(
    GATEWAY_CONFIG,
    `strategy: {mode: single}\ntargets: [{virtual_key: echo}]\nmax_request_bytes: ${MAX_BYTES}\n`,
  );
  const [gateway, limited] = await Promise.all([
    startGateway({ cwd, variables: { GATEWAY_CONFIG } }),
    startGateway({ cwd, variables: { GATEWAY_CONFIG, RATE_LIMIT_RPS: '0.0001', RATE_LIMIT_BURST: '1' } }),
  ]);
  await fetch(`${limited.url}/`); // takes the one token
  const refusal = (
    status: number,
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    { url } = gateway,
  ): Refusal => ({ status, method, headers, url: url + path });
  return {
    gateway,
    refusals: [
      refusal(413, 'POST', CHAT, KEY),
      refusal(400, 'POST', '/v1/audio/transcriptions', { ...KEY, 'Content-Type': 'application/json' }),
      refusal(401, 'POST', CHAT, {}),
      refusal(404, 'POST', '/nowhere', {}),
      refusal(405, 'PUT', CHAT, KEY),
      refusal(429, 'POST', CHAT, KEY, limited),
    ],
  };
}

function isWhole(text: string): boolean {
  if (text === '404 page not found') return true;
  try {
    return 'error' in JSON.parse(text);
  } catch {
    return false;
  }
}

const body = (): Buffer => Buffer.alloc(BODY_BYTES, 'x');

/** Asks by one function, again and again. */
function each(call: (refusal: Refusal) => Promise<Got>) {
  return async (_test: Context, refusals: readonly Refusal[]): Promise<Got[][]> => {
    const all: Got[][] = [];
    for (const refusal of refusals) {
      const got: Got[] = [];
      for (let round = 0; round < ROUNDS; round += 1) got.push(await call(refusal).catch(String));
      all.push(got);
    }
    return all;
  };
}

/** One connection a call. */
const clients: Readonly<Record<string, (test: Context, refusals: readonly Refusal[]) => Promise<Got[][]>>> = {
  'a socket of Python that speaks HTTP/1.0': byPython('socket-1.0'),
  'a socket of Python that closes': byPython('socket-close'),
  'http.client of Python': byPython('http.client'),
  'urllib of Python': byPython('urllib'),
  curl: byCurl('--http1.1'),
  'curl with HTTP/1.0': byCurl('--http1.0'),
  'curl that waits for no invitation': byCurl('--http1.1', '-H', 'Expect:'),
  'node:http without keep-alive': each(byNode),
  'fetch without keep-alive': each(async ({ url, method, headers }) => {
    const response = await undiciFetch(url, { method, headers, body: body(), dispatcher: closing() });
    return [response.status, isWhole(await response.text())];
  }),
  'undici without keep-alive': each(async ({ url, method, headers }) => {
    const response = await undiciRequest(url, {
      method: method as 'POST',
      headers,
      body: body(),
      dispatcher: closing(),
    });
    return [response.statusCode, isWhole(await response.body.text())];
  }),
};

/** Undici asks for the end of its connection when it may not send a second request by it. */
function closing(): Agent {
  const agent = new Agent({ pipelining: 0 });
  atEnd(() => agent.destroy());
  return agent;
}

function byPython(client: string) {
  return async (test: Context, refusals: readonly Refusal[]): Promise<Got[][]> => {
    const requests = refusals.map(({ url, method, headers }) => ({ url, method, headers }));
    const { stdout } = await run(requireTool(test, 'python3'), [
      SCRIPT,
      client,
      String(ROUNDS),
      String(BODY_BYTES),
      JSON.stringify(requests),
    ]);
    return JSON.parse(stdout) as Got[][];
  };
}

function byCurl(...options: readonly string[]) {
  return async (test: Context, refusals: readonly Refusal[]): Promise<Got[][]> => {
    const curl = requireTool(test, 'curl');
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'body'), body());
    return Promise.all(
      refusals.map(async ({ url, method, headers }) => {
        const given = Object.entries({ ...headers, Connection: 'close' }).flatMap(([name, value]) => [
          '-H',
          `${name}: ${value}`,
        ]);
        const { stdout } = await run(curl, [
          '-sS',
          '-X',
          method,
          '--data-binary',
          `@${join(folder, 'body')}`,
          ...given,
          ...options,
          '-w',
          '\n%{http_code}\n',
          `${url}?[1-${ROUNDS}]`,
        ]);
        const lines = stdout.trim().split('\n');
        return Array.from({ length: ROUNDS }, (_, round): Got => [
          Number(lines[round * 2 + 1]),
          isWhole(lines[round * 2] ?? ''),
        ]);
      }),
    );
  };
}

function byNode({ url, method, headers }: Omit<Refusal, 'status'>, payload = body()): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>();
  const request = httpRequest(
    url,
    { method, headers: { 'Content-Length': payload.length, ...headers }, agent: new HttpAgent({ keepAlive: false }) },
    (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          text += piece;
        })
        .on('error', reject)
        .on('end', () => resolve([response.statusCode ?? 0, isWhole(text)]));
    },
  );
  request.on('error', reject).end(payload);
  return promise;
}

describe('a refusal that comes before its body was read', function refusals() {
  this.timeout(60_000);
  const refusing = forSuite(startRefusing);

  for (const [name, call] of some(Object.entries(clients), { every: 2 })) {
    it(`reaches ${name}`, async function reaches() {
      const { refusals } = refusing();
      const got = await call(this, refusals);
      expect(got).to.deep.equal(refusals.map(({ status }) => Array.from({ length: ROUNDS }, () => [status, true])));
    });
  }

  const PARSED: readonly [what: string, head: string, status: number][] = [
    ['a header that is none', 'POST / HTTP/1.1\r\nHost: h\r\nnonsense\r\n\r\n', 400],
    ['headers that are too long', `POST / HTTP/1.1\r\nHost: h\r\nX: ${'a'.repeat(1_100_000)}\r\n\r\n`, 431],
    ['a method that HTTP does not know', 'FOO / HTTP/1.1\r\nHost: h\r\n\r\n', 501],
    ['a tunnel', 'CONNECT other:80 HTTP/1.1\r\nHost: h\r\n\r\n', 404],
    [
      'a chunk that is none',
      `POST ${CHAT} HTTP/1.1\r\nHost: h\r\nAuthorization: ${KEY.Authorization}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
    [
      'two hosts, before more requests',
      `GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\nPOST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`,
      400,
    ],
  ];
  for (const [what, head, status] of PARSED) {
    it(`reaches a client that first sends everything: ${what}`, async () => {
      const { gateway } = refusing();
      for (let round = 0; round < BY_HAND; round += 1) {
        const client = await rawClient(gateway.url);
        client.socket.pause();
        client.send(head);
        await new Promise((resolve) => {
          client.socket.write(body(), resolve);
        });
        client.socket.resume();
        expect(await client.closed(), `round ${round}`).to.match(new RegExp(`^HTTP/1\\.1 ${status} [^]*(\\}|found)$`));
      }
    });
  }

  it('reaches a client behind nginx, which goes on asking the gateway for everybody else', async function behindNginx() {
    const nginx = requireTool(this, 'nginx');
    const { gateway, refusals } = refusing();
    const { host, port } = new URL(gateway.url);
    const url = await startNginx(nginx, [host, `127.0.0.2:${port}`]); // two, because nginx never gives up on an only one
    const payload = Buffer.alloc(1_000_000, 'x'); // nginx itself refuses more than a mebibyte
    const own = refusals.filter((refusal) => refusal.url.startsWith(gateway.url));
    for (let round = 0; round < cases(20); round += 1) {
      for (const { status, method, headers, url: direct } of own) {
        expect(await byNode({ method, headers, url: direct.replace(gateway.url, url) }, payload)).to.deep.equal([
          status,
          true,
        ]);
        const answer = await fetch(url + CHAT, {
          method: 'POST',
          headers: KEY,
          body: JSON.stringify(ask('hi', { model: 'echo' })),
        });
        expect(answer.status, 'another client').to.equal(200);
        await answer.text();
      }
    }
  });

  it('reaches a client whose connection ends because the gateway shuts down', async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder() });
    const slow = await rawClient(gateway.url);
    const question = JSON.stringify(ask('word '.repeat(2000), { model: 'echo-slow', stream: true }));
    slow.send(
      `POST ${CHAT} HTTP/1.1\r\nHost: h\r\nAuthorization: ${KEY.Authorization}\r\nContent-Length: ${question.length}\r\n\r\n${question}`,
    );
    await slow.until(/data: /); // holds the shutdown up
    const stopped = gateway.stop('SIGTERM');
    while ((await fetch(`${gateway.url}/readyz`)).status === 200)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    const agent = new HttpAgent({ keepAlive: true });
    for (let round = 0; round < BY_HAND; round += 1) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const request = httpRequest(
        gateway.url + CHAT,
        { method: 'POST', agent, headers: { 'Content-Length': BODY_BYTES } },
        (response) => {
          let text = '';
          response
            .setEncoding('utf8')
            .on('data', (piece: string) => {
              text += piece;
            })
            .on('error', reject)
            .on('end', () => resolve([response.statusCode, response.headers.connection, isWhole(text)]));
        },
      );
      request.on('error', reject).end(body());
      expect(await promise).to.deep.equal([401, 'close', true]);
    }
    slow.socket.destroy();
    expect(await stopped).to.equal(0);
  });
});
