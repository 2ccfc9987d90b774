import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { GatewayError } from 'gw/contract';
import { defineBuiltin } from '../../host/builtin.ts';
import { rawPath } from '../../host/http/context.ts';
import type { TakeUpgrade, Upgrade } from '../../host/http/connections/upgrades.ts';
import {
  eventually,
  fakeClock,
  MASTER_KEY,
  rawClient,
  startHost,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { PLANTED, ROOT, TYPE } from '../wire/planted-wire.ts';

const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;
const ASK = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const ID = '0123456789abcdef0123456789abcdef';
const upgradeOf = (path: string, headers = KEY): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n${headers}${ASK}\r\n`;

/** What a route may do with a connection, by path. */
const SPOKEN: Readonly<Record<string, TakeUpgrade>> = {
  '/v1/echo': ({ socket, head }) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${ASK}\r\n`);
    socket.write(head);
    (socket as Duplex).pipe(socket);
  },
  '/v1/refusing': ({ refuse }) =>
    refuse({ error: new GatewayError('provider_not_found', 'not spoken here'), headers: ['X-Test', 'yes'] }),
  '/v1/throwing': () => {
    throw new Error('broken');
  },
  '/v1/late': ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    setImmediate(() => socket.destroy());
  },
  '/open': ({ context, socket }) => {
    socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${context.id} ${context.address}`);
  },
  [`${ROOT}/realtime`]: ({ refuse }) => refuse({ error: new GatewayError('resource_not_found', 'not here') }),
};

const speaking = (taken: Upgrade[] = []) =>
  defineBuiltin({
    name: 'speaking',
    apply: ({ hooks }) =>
      hooks.upgrade.tap('speaking', (request) => {
        const take = Object.hasOwn(SPOKEN, rawPath(request)) ? SPOKEN[rawPath(request)] : undefined;
        return (
          take &&
          ((upgrade) => {
            taken.push(upgrade);
            take(upgrade);
          })
        );
      }),
  });

const start = (options: TestHostOptions = {}, taken: Upgrade[] = []): Promise<TestHost> =>
  startHost(
    { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] },
    { builtins: [speaking(taken), ...PLANTED], ...options },
  );

/** Everything until the gateway has closed its side. */
async function answerTo(
  host: TestHost,
  bytes: string,
): Promise<{ readonly status: number; readonly head: string; readonly body: string }> {
  const client = await rawClient(host.url);
  client.send(bytes);
  const text = await client.closed();
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body };
}

describe('a request that asks for another protocol', () => {
  it('is taken over behind shell and authentication, with what came behind it', async () => {
    const taken: Upgrade[] = [];
    const host = await start({}, taken);
    const client = await rawClient(host.url);
    client.send(`${upgradeOf('/v1/echo', `${KEY}X-Request-ID: ${ID}\r\n`)}first`);
    await client.until(/101 Switching[^]*first$/);
    expect(
      taken.map(({ context }) => [context.id, context.address, context.principal?.name, context.isAdmitted]),
    ).to.deep.equal([[ID, '127.0.0.1', host.host.stores.principals.find(MASTER_KEY)?.name, true]]);
    expect(host.host.activity.count, 'a shutdown waits for it').to.equal(1);
    client.send(' second');
    await client.until(/first second$/);
    client.socket.end();
    await client.closed();
    await eventually(() => host.host.activity.count === 0);
    expect(
      host.lines.filter(({ msg }) => msg === 'http request'),
      'no line: it left HTTP',
    ).to.deep.equal([]);
  });

  it('waits where its credential must be looked up, and is refused or taken over then', async () => {
    const host = await start();
    const { key } = await host.host.stores.keys.create({ name: 'new', scopes: ['read_only'] });
    const client = await rawClient(host.url);
    client.send(upgradeOf('/v1/echo', `Authorization: Bearer ${key}\r\n`));
    await client.until(/101 Switching/);
    client.socket.end();
    await client.closed();
    const refused = await answerTo(host, upgradeOf('/v1/echo', `Authorization: Bearer ${key}0\r\n`));
    expect([refused.status, JSON.parse(refused.body).error.code]).to.deep.equal([401, 'invalid_api_key']);
    expect(refused.head).to.match(/WWW-Authenticate: Bearer/i);
  });

  it('may come as a whole address, or to a path without authentication', async () => {
    const host = await start();
    const { body } = await answerTo(host, `GET http://h/open HTTP/1.1\r\nHost: h\r\nX-Request-ID: ${ID}\r\n${ASK}\r\n`);
    expect(body).to.equal(`${ID} 127.0.0.1`);
  });

  const refusals: readonly (readonly [
    what: string,
    bytes: string,
    status: number,
    code: string,
    headers: readonly RegExp[],
  ])[] = [
    [
      'without a credential',
      upgradeOf('/v1/echo', `X-Request-ID: ${ID}\r\nOrigin: https://a.example\r\n`),
      401,
      'missing_api_key',
      [
        /^WWW-Authenticate: Bearer\r$/m,
        new RegExp(`^X-Request-ID: ${ID}\r$`, 'm'),
        /^Vary: Origin\r$/m,
        /^Access-Control-Allow-Origin: https:\/\/a\.example\r$/m,
      ],
    ],
    ['with a wrong credential', upgradeOf('/v1/echo', 'Authorization: Bearer unknown\r\n'), 401, 'invalid_api_key', []],
    ['that its route refuses', upgradeOf('/v1/refusing'), 404, 'provider_not_found', [/^X-Test: yes\r$/m]],
    ['that its route fails on', upgradeOf('/v1/throwing'), 500, 'internal_error', []],
    ['without a host', `GET /v1/echo HTTP/1.1\r\n${KEY}${ASK}\r\n`, 400, 'invalid_request', []],
    [
      'with a body',
      `POST /v1/refusing HTTP/1.1\r\nHost: h\r\n${KEY}${ASK}Content-Length: 5\r\n\r\nabcdeand more`,
      404,
      'provider_not_found',
      [],
    ],
  ];
  for (const [what, bytes, status, code, headers] of refusals) {
    it(`is answered as plain HTTP, and closed: one ${what}`, async () => {
      const host = await start({ variables: { CORS_ORIGINS: 'https://a.example' } });
      const answer = await answerTo(host, bytes);
      expect(answer.status).to.equal(status);
      expect(JSON.parse(answer.body)).to.have.nested.property('error.code', code);
      for (const header of [
        /^Connection: close\r?$/m,
        /^X-Frame-Options: DENY\r?$/m,
        /^X-Request-ID: [0-9a-f]{32}\r?$/m,
        /^Content-Type: application\/json\r?$/m,
        ...headers,
      ])
        expect(answer.head).to.match(header);
      await eventually(() => host.host.activity.count === 0);
      expect(host.lines.filter(({ msg }) => msg === 'http request').map((line) => line['status'])).to.deep.equal(
        status === 400 ? [] : [status],
      );
    });
  }

  it('counts against the limit of its address', async () => {
    const host = await start({ clock: fakeClock(), variables: { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1' } });
    expect((await answerTo(host, upgradeOf('/v1/late'))).status).to.equal(101);
    const { status, head, body } = await answerTo(host, upgradeOf('/v1/late'));
    expect([status, JSON.parse(body).error.code]).to.deep.equal([429, 'rate_limit_exceeded']);
    expect(head).to.match(/^Retry-After: 1\r$/m);
    expect(host.samples.filter(({ name }) => name === 'gateway_rate_limit_rejections_total')).to.have.lengthOf(1);
  });

  it('is refused in the wire of its path', async () => {
    const host = await start();
    const { status, head, body } = await answerTo(host, upgradeOf(`${ROOT}/realtime`, `X-Request-ID: ${ID}\r\n`));
    expect([status, body]).to.deep.equal([
      401,
      `401 missing_api_key ${ID} - the Authorization header is missing, or its scheme is not Bearer`,
    ]);
    expect(head).to.contain(`Content-Type: ${TYPE}`);
    expect((await answerTo(host, upgradeOf(`${ROOT}/realtime`))).body).to.match(
      /^404 resource_not_found \w+ - not here$/,
    );
  });

  it('behind a request that is not answered yet is served as any other, and both answers leave whole', async () => {
    const host = await start();
    const client = await rawClient(host.url);
    client.send(`GET /livez HTTP/1.1\r\nHost: h\r\n\r\n${upgradeOf('/v1/echo')}`);
    const text = await client.until(/provider_not_resolved"\}\}$/);
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).to.deep.equal(['200', '400']);
  });

  for (const isSpoken of [true, false]) {
    it(`is served as any other where it is not spoken on its path${isSpoken ? ', though on others' : ''}`, async () => {
      const host = await start(isSpoken ? {} : { builtins: [] });
      const client = await rawClient(host.url);
      let sent = 0;
      for (const [path, headers, end] of [
        ['/livez', '', /"ok"\}$/],
        ['/v1/models', KEY, /\]\}$/],
        ['/realtime', KEY, /404 page not found$/],
        ['/realtime', '', /404 page not found$/],
        ['/livez', '', /"ok"\}$/],
      ] as const) {
        client.send(upgradeOf(path, headers));
        sent += 1;
        await client.until(new RegExp(`(?:HTTP/1\\.1 [^]*){${sent}}${end.source}`)); // each after the one before was answered
      }
      expect([...client.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).to.deep.equal([
        200, 200, 404, 404, 200,
      ]);
    });
  }

  const BODY = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hi' }] });
  const CHUNKED = `Transfer-Encoding: chunked\r\n${ASK}\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
  const behind: readonly (readonly [what: string, bytes: string, statuses: readonly number[]])[] = [
    ['one without a body', upgradeOf('/livez'), [200]],
    [
      'one with a length',
      `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: ${BODY.length}\r\n${ASK}\r\n${BODY}`,
      [200],
    ],
    ['one in chunks', `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEY}${CHUNKED}`, [200]],
    ['one behind another', `GET /livez HTTP/1.1\r\nHost: h\r\n\r\n${upgradeOf('/livez')}`, [200, 200]],
    [
      'one that speaks HTTP/2',
      'GET /livez HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n',
      [200],
    ],
  ];
  for (const [what, bytes, statuses] of behind) {
    for (const isSpoken of [true, false]) {
      it(`ends its connection with its answer where more came right behind it, which Node's parser throws away: ${what}${isSpoken ? '' : ', where nothing is spoken'}`, async () => {
        const host = await start(
          isSpoken ? { variables: { RATE_LIMIT_RPS: '0' } } : { builtins: [], variables: { RATE_LIMIT_RPS: '0' } },
        );
        const client = await rawClient(host.url);
        client.send(`${bytes}GET /v1/models HTTP/1.1\r\nHost: h\r\n${KEY}\r\n`);
        const text = await client.closed();
        expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).to.deep.equal(statuses);
        expect(text.slice(text.lastIndexOf('HTTP/1.1'))).to.match(/^Connection: close\r$/m);
      });
    }
  }

  it('keeps its connection where it is served as any other and nothing came behind it, with a body too', async () => {
    const host = await start();
    const client = await rawClient(host.url);
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: ${BODY.length}\r\n${ASK}\r\n`;
    for (let sent = 1; sent <= 2; sent += 1) {
      client.send(head);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      client.send(BODY);
      await client.until(new RegExp(`(?:HTTP/1\\.1 200 [^]*){${sent}}\\}$`));
    }
    expect(client.received()).not.to.match(/^Connection: close/m);
  });

  it('outlives a client that resets it', async () => {
    const host = await start();
    const client = await rawClient(host.url);
    client.send(upgradeOf('/v1/echo'));
    await client.until(/101/);
    client.socket.resetAndDestroy();
    await once(client.socket, 'close');
    await eventually(() => host.host.activity.count === 0);
    expect((await host.get('/livez')).status).to.equal(200);
  });
});
