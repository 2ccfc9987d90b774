import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import { MAX_REPLY_BYTES } from '../../host/upstream/limits.ts';
import { Transport } from '../../host/upstream/transport.ts';
import type { CollectedReply, ReplyControl, ReplySink, UpstreamCall } from '../../host/upstream/upstream-call.ts';
import { atEnd, eventually, MOST_TURNS, type StubHandler, stubUpstream, turnsUntil } from '../kit/index.ts';
import { selfSigned } from './certificate.ts';

function transport(): Transport {
  const made = new Transport();
  atEnd(() => made.close());
  return made;
}

function call(url: string, more: Partial<UpstreamCall> = {}): UpstreamCall {
  return {
    request: { method: 'POST', url, headers: { 'content-type': 'text/plain' }, body: 'ping' },
    cancellation: new Cancellation(),
    connectTimeoutMs: 2000,
    headersTimeoutMs: 5000,
    ...more,
  };
}

async function unary(handler: StubHandler, more: Partial<UpstreamCall> = {}): Promise<CollectedReply> {
  const upstream = await stubUpstream(handler);
  return transport().unary(call(`${upstream.url}/x?y=1`, more));
}

async function failure(pending: Promise<unknown>): Promise<GatewayError> {
  try {
    await pending;
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError);
    return error as GatewayError;
  }
  throw new Error('the call succeeded');
}

/** A server that answers each connection with these bytes, and then calls `then`. */
async function rawServer(answer: string, then: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(answer);
      setImmediate(() => then(socket));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(() => {
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('transport, whole replies', () => {
  it('sends path, query, headers and body as they are', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.end('pong');
    });
    const reply = await transport().unary(call(`${upstream.url}/a%2Fb?c=%20d`));
    expect(reply.body.toString()).to.equal('pong');
    expect(upstream.seen[0]).to.include({ method: 'POST', url: '/a%2Fb?c=%20d', text: 'ping' });
    expect(upstream.seen[0]?.headers['content-type']).to.equal('text/plain');
  });

  it('resolves on any status, and follows no redirect', async () => {
    for (const status of [204, 301, 307, 400, 500]) {
      const reply = await unary((request, response) => {
        response.writeHead(request.url.startsWith('/x') ? status : 200, { location: '/elsewhere' }).end();
      });
      expect(reply.status).to.equal(status);
    }
  });

  it('joins headers that come more than once, under lower-case names', async () => {
    const reply = await unary((_request, response) => {
      response.setHeader('X-Twice', ['a', 'b']).end();
    });
    expect(reply.headers['x-twice']).to.equal('a, b');
  });

  it('passes over informational replies', async () => {
    const reply = await unary((_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.end('final');
    });
    expect(reply).to.include({ status: 200 });
  });

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    it(`decodes a body in ${encoding}`, async () => {
      const reply = await unary((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(compress('unpacked'));
      });
      expect(reply.body.toString()).to.equal('unpacked');
    });
  }

  it('decodes a body that was compressed more than once, and its errors are those of every step', async () => {
    const packed = brotliCompressSync(gzipSync(deflateSync('unpacked'.repeat(50_000))));
    for (const [encoding, body] of [
      ['deflate, gzip, br', packed],
      [' Deflate,identity, GZIP ,br,', packed],
      ['gzip, gzip', gzipSync(gzipSync('unpacked'.repeat(50_000)))],
    ] as const) {
      const reply = await unary((_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(body);
      });
      expect(reply.body.toString(), encoding).to.equal('unpacked'.repeat(50_000));
    }
    const broken = [
      gzipSync('no gzip at all'),
      gzipSync(gzipSync('x'.repeat(10_000)).subarray(0, 30)),
      gzipSync(gzipSync('x')).subarray(0, 20),
    ];
    for (const body of broken)
      expect(
        (
          await failure(
            unary((_request, response) => {
              response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(body);
            }),
          )
        ).fault?.kind,
      ).to.equal('reply');
    const fourfold = [1, 2, 3, 4].reduce((body) => gzipSync(body), Buffer.from('far in'));
    expect(
      (
        await unary((_request, response) => {
          response.writeHead(200, { 'content-encoding': 'gzip, gzip, gzip, gzip' }).end(fourfold);
        })
      ).body,
    ).to.deep.equal(fourfold);
  });

  it('stops reading what is compressed twice to more than 50 MiB', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(MAX_REPLY_BYTES + 1)));
    expect(
      (
        await failure(
          unary((_request, response) => {
            response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb);
          }),
        )
      ).fault?.kind,
    ).to.equal('reply');
  });

  it('fails on a compressed body that is broken or cut off', async () => {
    for (const body of [Buffer.from('no gzip at all'), gzipSync('x'.repeat(10_000)).subarray(0, 30)]) {
      const error = await failure(
        unary((_request, response) => {
          response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
        }),
      );
      expect(error).to.include({ code: 'upstream_error', status: 502 });
      expect(error.fault?.kind).to.equal('reply');
    }
  });

  it('fails on a body over 50 MiB, compressed or not, and stops reading it', async () => {
    const bomb = gzipSync(Buffer.alloc(MAX_REPLY_BYTES + 1));
    expect(
      (
        await failure(
          unary((_request, response) => {
            response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
          }),
        )
      ).fault?.kind,
    ).to.equal('reply');
    const closed = Promise.withResolvers<void>();
    const endless: StubHandler = (_request, response) => {
      const piece = Buffer.alloc(1024 * 1024);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more).on('close', closed.resolve);
      more();
    };
    expect((await failure(unary(endless))).fault?.kind).to.equal('reply');
    await closed.promise;
  });
});

describe('transport, failures', () => {
  it('cannot reach a closed port', async () => {
    const upstream = await stubUpstream(() => {});
    await upstream.close();
    const error = await failure(transport().unary(call(upstream.url)));
    expect(error).to.include({ code: 'upstream_error', status: 502 });
    expect(error.fault).to.deep.equal({ kind: 'transport' });
    expect(error.message).to.not.match(/127\.0\.0\.1|ECONN/);
  });

  it("trusts no certificate without an authority, whatever Node's settings are", async () => {
    let requests = 0;
    const server = createHttpsServer(selfSigned(), (_request, response) => {
      requests += 1;
      response.end('pong');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    atEnd(() => {
      server.close();
    });
    const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env;
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const error = await failure(
        transport().unary(call(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)),
      );
      expect([error.code, (error.cause as { code?: string }).code]).to.deep.equal([
        'upstream_error',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
      ]);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
    expect(requests).to.equal(0);
  });

  it('offers HTTP/1.1 alone: another version would not be spoken', async () => {
    const offers: string[][] = [];
    const server = createHttpsServer({
      ...selfSigned(),
      ALPNCallback: ({ protocols }) => {
        offers.push(protocols);
        return 'http/1.1';
      },
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    atEnd(() => {
      server.close();
    });
    await failure(transport().unary(call(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)));
    expect(offers).to.deep.equal([['http/1.1']]);
  });

  it('is refused for an address that is none', async () => {
    expect((await failure(transport().unary(call('nonsense')))).code).to.equal('upstream_error');
  });

  for (const [what, answer, end] of [
    ['before the headers', '', (socket: Socket) => socket.destroy()],
    ['inside the headers', 'HTTP/1.1 200 OK\r\nContent-Le', (socket: Socket) => socket.destroy()],
    [
      'inside a body of known length',
      'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf',
      (socket: Socket) => socket.end(),
    ],
    [
      'inside a chunked body',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf',
      (socket: Socket) => socket.end(),
    ],
    ['with something that is not HTTP', 'SSH-2.0-OpenSSH\r\n', (socket: Socket) => socket.end()],
  ] as const) {
    it(`breaks off ${what}`, async () => {
      const error = await failure(transport().unary(call(await rawServer(answer, end))));
      expect(error).to.include({ code: 'upstream_error', status: 502 });
      expect(error.fault?.kind).to.equal('transport');
    });
  }

  it('waits for headers no longer than its limit', async () => {
    const error = await failure(unary(() => {}, { headersTimeoutMs: 60 }));
    expect(error).to.include({ code: 'upstream_timeout', status: 504 });
  });
});

describe('transport, cancellation', () => {
  const gone = new GatewayError('client_canceled', 'gone');

  it('sends nothing once cancelled', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.end();
    });
    const cancellation = new Cancellation();
    cancellation.cancel(gone);
    expect(await failure(transport().unary(call(upstream.url, { cancellation })))).to.equal(gone);
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    expect(upstream.seen).to.deep.equal([]);
  });

  for (const when of ['before the headers', 'inside the body'] as const) {
    it(`rejects at once and closes the connection: ${when}`, async () => {
      const arrived = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<void>();
      const upstream = await stubUpstream((_request, response) => {
        response.on('close', () => closed.resolve());
        if (when === 'inside the body') response.write('half');
        arrived.resolve();
      });
      const cancellation = new Cancellation();
      const pending = failure(transport().unary(call(upstream.url, { cancellation })));
      await arrived.promise;
      cancellation.cancel(gone);
      expect(await turnsUntil(closed.promise)).to.be.below(MOST_TURNS);
      expect(await pending).to.equal(gone);
    });
  }
});

describe('transport, replies as they arrive', () => {
  it('holds the upstream while paused, and goes on when resumed', async () => {
    const size = 32 * 1024 * 1024;
    const upstream = await stubUpstream((_request, response) => {
      response.end(Buffer.alloc(size));
    });
    let control: ReplyControl | undefined;
    let bytes = 0;
    const ended = Promise.withResolvers<void>();
    const sink: ReplySink = {
      onReply: (_status, _headers, given) => {
        control = given;
      },
      onData: (piece) => {
        bytes += piece.length;
        if (bytes === piece.length) control?.pause();
      },
      onEnd: ended.resolve,
      onError: ended.reject,
    };
    transport().open(call(upstream.url), sink);
    await eventually(() => bytes > 0);
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
    expect(bytes).to.be.within(1, size / 2);
    control?.resume();
    await ended.promise;
    expect(bytes).to.equal(size);
  });

  it('calls nothing back after an abort', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.write('one');
    });
    const calls: string[] = [];
    const first = Promise.withResolvers<ReplyControl>();
    let control: ReplyControl | undefined;
    transport().open(call(upstream.url), {
      onReply: (_status, _headers, given) => {
        control = given;
      },
      onData: () => {
        if (control) first.resolve(control);
      },
      onEnd: () => calls.push('end'),
      onError: () => calls.push('error'),
    });
    (await first.promise).abort();
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    expect(calls).to.deep.equal([]);
    expect(upstream.sockets.size).to.equal(0);
  });

  it('serves the next call over the same connection', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.end('x');
    });
    const shared = transport();
    for (let turn = 0; turn < 3; turn += 1) {
      await shared.unary(call(upstream.url));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(upstream.sockets.size).to.equal(1);
  });
});
