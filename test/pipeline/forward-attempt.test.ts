import { once } from 'node:events';
import { type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { GatewayError } from 'gw/contract';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { Host } from '../../host/host.ts';
import { arrivingBody } from '../../host/http/body/arriving-body.ts';
import { sendRelayed } from '../../host/http/send-answer.ts';
import { answerExchange, type Serving } from '../../host/http/surface-route.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import { forwardAttempt } from '../../host/pipeline/attempts/forward-attempt.ts';
import { run } from '../../host/pipeline/run.ts';
import type { VerbatimReply } from '../../host/upstream/reply-body.ts';
import {
  eventually,
  fakeClock,
  type FakeClock,
  MASTER_KEY,
  rawClient,
  startHost,
  type TestHost,
} from '../kit/index.ts';
import { type Bare, bareUpstream } from './bare-upstream.ts';

const PATH = '/v1/forwarded';
const KEY = `Authorization: Bearer ${MASTER_KEY}\r\n`;

interface Setup {
  readonly t: TestHost;
  readonly settled: Attempt[];
  readonly outcomes: unknown[];
  readonly clock: FakeClock;
}

/** A route that forwards to target `a` what it is asked, as it is. */
function forwarding(settled: Attempt[], outcomes: unknown[]) {
  const serve = (host: Host, request: IncomingMessage, response: ServerResponse): void => {
    let reply: VerbatimReply | undefined;
    const serving: Serving = {
      run: (exchange, generation) =>
        run(exchange, generation, async () => {
          const target = generation.targets.get('a')!;
          const { method = '', headers } = request;
          const outgoing = {
            method,
            url: `${target.provider!.root}/forwarded`,
            headers: { 'x-kept': String(headers['x-kept']) },
            body: method === 'GET' ? undefined : arrivingBody(request, 1024 * 1024, host.services),
          };
          reply = await forwardAttempt(exchange, { target, provider: target.provider!, request: outgoing }, generation);
          return undefined;
        }),
      send: (_read, exchange, generation, to) => {
        const headers = reply!.rawHeaders.flatMap((name, at, all) =>
          at % 2 === 0 && !/^(connection|keep-alive|date|transfer-encoding)$/i.test(name) ? [name, all[at + 1]!] : [],
        );
        return sendRelayed(
          { status: reply!.status, headers, body: reply!.body, isHeadFirst: true },
          exchange,
          generation,
          to,
        );
      },
    };
    void answerExchange(host, 'passthrough', { request: {}, streaming: false }, response, serving);
  };
  return defineBuiltin({
    name: 'forwarding',
    apply: ({ hooks }) => {
      hooks.mount.tap({ name: 'forwarding', stage: ORDER.listings }, (router, host) => {
        router.all(PATH, (request, response) => serve(host, request, response));
      });
      hooks.assemble.tapPromise('forwarding', async ({ hooks: pipeline }) => {
        pipeline.settled.tap('forwarding', (attempt) => void settled.push(attempt));
        pipeline.finished.tap('forwarding', (_exchange, outcome) => void outcomes.push(outcome));
      });
    },
  });
}

async function setUp(upstream: Bare, target: object = {}, config: object = {}): Promise<Setup> {
  const settled: Attempt[] = [];
  const outcomes: unknown[] = [];
  const clock = fakeClock();
  const t = await startHost(
    { strategy: { mode: 'single' }, targets: [upstream.target('a', target)], ...config },
    { builtins: [forwarding(settled, outcomes)], clock },
  );
  return { t, settled, outcomes, clock };
}

const LIMITED = { concurrency: { max_concurrency: 1, queue_size: 1 } };
const told = (settled: readonly Attempt[]): unknown[] =>
  settled.map(({ number, outcome, error }) => [number, outcome, error?.code]);

describe('an attempt that forwards bytes', () => {
  it('sends them as they come and gives them back as they came, and is an attempt until the last byte', async () => {
    const upstream = await bareUpstream();
    const { t, settled, outcomes } = await setUp(upstream, LIMITED);
    const call = ask(t.url + PATH, {
      method: 'PUT',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'x-kept': 'yes' },
    });
    call.write('first ');
    const { request, response } = await upstream.next();
    expect([request.method, request.url, request.headers['x-kept'], request.headers['authorization']]).to.deep.equal([
      'PUT',
      '/forwarded',
      'yes',
      'Bearer stub-key',
    ]);
    const [piece] = (await once(request, 'data')) as [Buffer];
    expect(piece.toString(), 'the rest has not been sent').to.equal('first ');
    call.end('second');
    let rest = '';
    for await (const more of request) rest += String(more);
    expect(rest).to.equal('second');

    const packed = gzipSync('answer');
    response.writeHead(201, ['Content-Encoding', 'gzip', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']);
    response.flushHeaders();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    expect([answer.statusCode, answer.headers['set-cookie']], 'before its first byte').to.deep.equal([
      201,
      ['a=1', 'b=2'],
    ]);
    const waiting = ask(t.url + PATH, { headers: { authorization: `Bearer ${MASTER_KEY}` } });
    waiting.end();
    await eventually(() => t.host.slot.leases === 2);
    expect([settled.length, upstream.waiting], 'the slot is held').to.deep.equal([0, 0]);
    response.end(packed);
    const received: Buffer[] = [];
    for await (const more of answer) received.push(more as Buffer);
    expect(Buffer.concat(received).equals(packed)).to.equal(true);
    (await upstream.next()).response.end();
    await once(waiting, 'response').then(([message]) => {
      (message as IncomingMessage).resume();
    });
    await eventually(() => outcomes.length === 2);
    expect(told(settled)).to.deep.equal([
      [1, 'success', undefined],
      [1, 'success', undefined],
    ]);
    expect([outcomes, t.host.slot.leases]).to.deep.equal([['success', 'success'], 0]);
  });

  for (const [status, outcome] of [
    [200, 'success'],
    [302, 'success'],
    [401, 'success'],
    [404, 'success'],
    [429, 'success'],
    [500, 'failure'],
    [503, 'failure'],
  ] as const) {
    it(`is a ${outcome} when it is answered with ${status}, which goes on as it is`, async () => {
      const upstream = await bareUpstream();
      const { t, settled, clock } = await setUp(upstream, { request_timeout: '2s' }, { request_timeout: '3s' });
      const pending = fetch(t.url + PATH, { headers: { authorization: `Bearer ${MASTER_KEY}` }, redirect: 'manual' });
      (await upstream.next()).response.writeHead(status, { 'x-own': 'kept' }).end('words');
      const answer = await pending;
      expect([answer.status, answer.headers.get('x-own'), await answer.text()]).to.deep.equal([
        status,
        'kept',
        'words',
      ]);
      await eventually(() => settled.length === 1 && clock.waiting === 0);
      expect(clock.waiting, 'timers').to.equal(0);
      expect([settled[0]!.outcome, settled[0]!.error?.fault?.status]).to.deep.equal([
        outcome,
        status < 400 ? undefined : status,
      ]);
    });
  }

  it('is over when the client leaves, whether it sends, waits or reads, and counts for neither side', async () => {
    const upstream = await bareUpstream();
    const { t, settled, outcomes } = await setUp(upstream, LIMITED);
    for (const when of ['it sends', 'it waits', 'it reads']) {
      const client = await rawClient(t.url);
      client.send(
        `POST ${PATH} HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: 5\r\n\r\n${when === 'it sends' ? 'ab' : 'abcde'}`,
      );
      const { request, response } = await upstream.next();
      request.on('error', () => {}).resume();
      if (when === 'it reads') {
        response.writeHead(200).write('half');
        await client.until(/half/);
      }
      client.socket.destroy();
      await once(response, 'close');
      await eventually(() => outcomes.length > 0 && t.host.slot.leases === 0);
      expect([when, told(settled.splice(0)), outcomes.splice(0)]).to.deep.equal([
        when,
        [[1, 'ignored', 'client_canceled']],
        ['client_canceled'],
      ]);
    }
  });

  it('is a failure when its body breaks off, and the client sees it broken', async () => {
    const upstream = await bareUpstream();
    const { t, settled, outcomes } = await setUp(upstream);
    const client = await rawClient(t.url);
    client.send(`GET ${PATH} HTTP/1.1\r\nHost: h\r\n${KEY}\r\n`);
    const { response } = await upstream.next();
    response.writeHead(200).write('half');
    await client.until(/half/);
    response.destroy();
    expect(await client.closed()).not.to.match(/\r\n0\r\n\r\n$/);
    await eventually(() => outcomes.length === 1);
    expect([told(settled), outcomes]).to.deep.equal([[[1, 'failure', 'upstream_error']], ['error']]);
  });

  it('may be answered before all was sent, and the connection serves on', async () => {
    const upstream = await bareUpstream();
    const { t, settled } = await setUp(upstream);
    const client = await rawClient(t.url);
    client.send(`POST ${PATH} HTTP/1.1\r\nHost: h\r\n${KEY}Content-Length: 10\r\n\r\nabcde`);
    (await upstream.next()).response.writeHead(413, { 'content-length': '3' }).end('big');
    await client.until(/ 413 [^]*big$/);
    client.send('fghijGET /livez HTTP/1.1\r\nHost: h\r\n\r\n');
    await client.until(/"ok"\}$/);
    expect(told(settled)).to.deep.equal([[1, 'success', 'upstream_error']]);
  });

  it('is refused beyond the limit of the body, and not blamed on the upstream', async () => {
    const upstream = await bareUpstream();
    const { t, settled } = await setUp(upstream);
    const answer = await t.request('POST', PATH, 'x'.repeat(1024 * 1024 + 1));
    expect([answer.status, answer.json().error.code]).to.deep.equal([413, 'request_too_large']);
    expect(told(settled)).to.deep.equal([[1, 'ignored', 'request_too_large']]);
  });

  it('ends by the deadlines of target and request, which bound the body too', async () => {
    for (const [target, config, message] of [
      [{ request_timeout: '2s' }, {}, /provider did not answer within 2000 ms/],
      [{}, { request_timeout: '2s' }, /request did not finish within 2000 ms/],
    ] as const) {
      const upstream = await bareUpstream();
      const { t, settled, clock } = await setUp(upstream, target, config);
      const client = await rawClient(t.url);
      client.send(`GET ${PATH} HTTP/1.1\r\nHost: h\r\n${KEY}\r\n`);
      const { response } = await upstream.next();
      response.writeHead(200).write('half');
      await client.until(/half/);
      clock.advance(2000);
      await client.closed();
      await eventually(() => settled.length === 1);
      expect(told(settled)).to.deep.equal([[1, 'failure', 'gateway_timeout']]);
      expect(settled[0]!.error).to.be.instanceOf(GatewayError).with.property('message').that.matches(message);
    }
  });

  it('is refused by an open circuit, as a translated one is', async () => {
    const upstream = await bareUpstream();
    const { t, settled } = await setUp(upstream, { circuit_breaker: { failure_threshold: 1 } });
    const pending = t.get(PATH);
    (await upstream.next()).response.writeHead(500).end();
    expect((await pending).status).to.equal(500);
    const refused = await t.get(PATH);
    expect([refused.status, refused.json().error.code]).to.deep.equal([503, 'upstream_unavailable']);
    expect(told(settled)).to.deep.equal([
      [1, 'failure', 'upstream_error'],
      [1, 'ignored', 'upstream_unavailable'],
    ]);
  });
});
