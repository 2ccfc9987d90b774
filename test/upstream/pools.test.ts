import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import { Transport } from '../../host/upstream/transport.ts';
import type { UpstreamCall } from '../../host/upstream/upstream-call.ts';
import { sendHttp } from '../../host/upstream/send-http.ts';
import { systemClock } from '../../host/common/clock.ts';
import { atEnd, stubUpstream } from '../kit/index.ts';
import { silentServer } from './silent-server.ts';

function transport(): Transport {
  const made = new Transport();
  atEnd(() => made.close());
  return made;
}

function call(url: string, more: Partial<UpstreamCall> = {}): UpstreamCall {
  return {
    request: { method: 'GET', url, headers: {}, body: undefined },
    cancellation: new Cancellation(),
    connectTimeoutMs: 2000,
    headersTimeoutMs: 5000,
    ...more,
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setTimeout(2);
}

describe('connections to upstreams', () => {
  it('end without a fault where several are open', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.end('x');
    });
    const shared = transport();
    const rejected: unknown[] = [];
    const listen = (reason: unknown): void => {
      rejected.push(reason);
    };
    process.on('unhandledRejection', listen);
    atEnd(() => {
      process.off('unhandledRejection', listen);
    });
    await Promise.all(Array.from({ length: 8 }, () => shared.unary(call(upstream.url))));
    await shared.close();
    await setTimeout(20);
    expect(rejected).to.deep.equal([]);
  });

  it('are shared by calls of one origin, whatever time each of them allows', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.end('x');
    });
    const shared = transport();
    const send = sendHttp({ transport: shared, clock: systemClock });
    for (let turn = 0; turn < 20; turn += 1) {
      await send({ method: 'GET', url: `${upstream.url}/${turn}`, timeoutMs: 1000 + turn });
      await setImmediate(); // a connection is free once its reply has been handed over
      await shared.unary(call(upstream.url, { connectTimeoutMs: 2000 + turn }));
      await setImmediate();
    }
    expect(upstream.seen).to.have.length(40);
    expect([upstream.sockets.size, shared.origins]).to.deep.equal([1, 1]);
  });

  it('are forgotten with their origin once the last of them has closed', async () => {
    const shared = transport();
    const upstreams = await Promise.all(
      Array.from({ length: 5 }, () =>
        stubUpstream((_request, response) => {
          response.setHeader('connection', 'close').end('x');
        }),
      ),
    );
    const kept = await stubUpstream((_request, response) => {
      response.end('x');
    });
    for (const { url } of [...upstreams, kept]) await shared.unary(call(url));
    await until(() => shared.origins === 1);
    await setImmediate();
    await shared.unary(call(kept.url));
    expect(kept.sockets.size).to.equal(1);
    expect((await shared.unary(call(String(upstreams[0]?.url)))).status).to.equal(200);
    for (const socket of kept.sockets) socket.destroy();
    await until(() => shared.origins === 0);
  });

  it('are forgotten with their origin when none could be made', async () => {
    const shared = transport();
    const closed = await stubUpstream(() => {});
    await closed.close();
    for (let turn = 0; turn < 3; turn += 1) await shared.unary(call(closed.url)).catch(() => {});
    await until(() => shared.origins === 0);
    await shared.unary(call('http://nowhere.invalid')).catch(() => {});
    await until(() => shared.origins === 0);
  });

  it('stay while a call waits, though others of the origin have ended', async () => {
    const shared = transport();
    const held = Promise.withResolvers<void>();
    const upstream = await stubUpstream(async (request, response) => {
      if (request.url === '/held') await held.promise;
      response.setHeader('connection', 'close').end('x');
    });
    const waiting = shared.unary(call(`${upstream.url}/held`));
    for (let turn = 0; turn < 3; turn += 1) await shared.unary(call(`${upstream.url}/now`));
    expect(shared.origins).to.equal(1);
    held.resolve();
    expect((await waiting).status).to.equal(200);
    await until(() => shared.origins === 0);
  });

  it('are given up when they take longer than the call that needs them allows, and leave no socket', async () => {
    const { port, sockets } = await silentServer();
    const shared = transport();
    const calls = [30, 60_000].map((connectTimeoutMs) => {
      const cancellation = new Cancellation();
      return {
        cancellation,
        ended: shared
          .unary(call(`https://127.0.0.1:${port}`, { connectTimeoutMs, cancellation }))
          .catch((error: unknown) => error),
      };
    });
    expect(await calls[0]?.ended).to.include({ code: 'upstream_timeout', status: 504 });
    await until(() => sockets.size === 1); // the call with the longer limit waits on
    expect(shared.origins).to.equal(1);
    await shared.close();
    expect(await calls[1]?.ended).to.be.an('error');
    await until(() => sockets.size === 0);
  });
});
