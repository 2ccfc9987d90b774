import { expect } from 'chai';
import { GatewayError, type WireReply } from '../../host/contract/index.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import { collectBody, openReply, pumpReply } from '../../host/upstream/reply-body.ts';
import { MAX_REPLY_BYTES } from '../../host/upstream/limits.ts';
import { Transport } from '../../host/upstream/transport.ts';
import type { ReplyControl, ReplySink } from '../../host/upstream/upstream-call.ts';
import { atEnd, type StubHandler, stubUpstream } from '../kit/index.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

const replyOf = (body: WireReply['body']): WireReply => ({ status: 200, headers: { 'x-test': 'yes' }, body });

interface Recording extends ReplySink {
  readonly calls: string[];
  control: ReplyControl | undefined;
  onPiece: (control: ReplyControl) => void;
}

function recording(): Recording {
  const sink: Recording = {
    calls: [],
    control: undefined,
    onPiece: () => {},
    onReply: (status, headers, control) => {
      sink.control = control;
      sink.calls.push(`reply ${status} ${headers['x-test'] ?? ''}`);
    },
    onData: (piece) => {
      sink.calls.push(`data ${piece.toString()}`);
      if (sink.control) sink.onPiece(sink.control);
    },
    onEnd: () => sink.calls.push('end'),
    onError: (error) => sink.calls.push(`error ${error.code}`),
  };
  return sink;
}

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('whole bodies', () => {
  it('are collected from bytes and from pieces', async () => {
    expect((await collectBody(bytes('one').subarray(1))).toString()).to.equal('ne');
    expect((await collectBody(pieces('one', 'two'))).toString()).to.equal('onetwo');
  });

  it('are refused over 50 MiB', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield ((given += 1), new Uint8Array(1024 * 1024));
    }
    const error = await collectBody(endless()).catch((cause: unknown) => cause as GatewayError);
    expect(error).to.include({ code: 'upstream_error' });
    expect(given).to.equal(MAX_REPLY_BYTES / 1024 / 1024 + 1);
  });
});

describe('pumped replies', () => {
  it('arrive in order, from bytes and from pieces', async () => {
    for (const [body, expected] of [
      [bytes('all'), ['data all']],
      [pieces('a', 'b'), ['data a', 'data b']],
    ] as const) {
      const sink = recording();
      await pumpReply(Promise.resolve(replyOf(body)), sink);
      expect(sink.calls).to.deep.equal(['reply 200 yes', ...expected, 'end']);
    }
  });

  it('wait while paused', async () => {
    const sink = recording();
    sink.onPiece = (control) => control.pause();
    const pumping = pumpReply(Promise.resolve(replyOf(pieces('a', 'b'))), sink);
    await settled();
    expect(sink.calls).to.deep.equal(['reply 200 yes', 'data a']);
    sink.control?.resume();
    await settled();
    expect(sink.calls).to.deep.equal(['reply 200 yes', 'data a', 'data b']);
    sink.control?.resume();
    await pumping;
    expect(sink.calls.at(-1)).to.equal('end');
  });

  it('end without a word when aborted, and close their source', async () => {
    let isClosed = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield bytes('x');
      } finally {
        isClosed = true;
      }
    }
    const sink = recording();
    sink.onPiece = (control) => control.abort();
    await pumpReply(Promise.resolve(replyOf(source())), sink);
    expect(sink.calls).to.deep.equal(['reply 200 yes', 'data x']);
    expect(isClosed).to.equal(true);
  });

  it('tell what went wrong', async () => {
    const broken = (async function* source(): AsyncGenerator<Uint8Array> {
      yield bytes('a');
      throw new GatewayError('upstream_timeout', 'late');
    })();
    const sink = recording();
    await pumpReply(Promise.resolve(replyOf(broken)), sink);
    expect(sink.calls).to.deep.equal(['reply 200 yes', 'data a', 'error upstream_timeout']);
    const refused = recording();
    await pumpReply(Promise.reject(new Error('socket')), refused);
    expect(refused.calls).to.deep.equal(['error upstream_error']);
  });
});

describe('opened replies', () => {
  const open = async (handler: StubHandler): Promise<WireReply> => {
    const upstream = await stubUpstream(handler);
    const transport = new Transport();
    atEnd(() => transport.close());
    return openReply(transport, {
      request: { method: 'GET', url: upstream.url, headers: {}, body: undefined },
      cancellation: new Cancellation(),
      connectTimeoutMs: 2000,
      headersTimeoutMs: 0,
    });
  };
  const read = async ({ body }: WireReply): Promise<string> => {
    let text = '';
    let empty = 0;
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      empty = piece.length === 0 ? empty + 1 : 0;
      if (empty > 100) throw new Error('the body yields nothing, over and over'); // without this, for ever
      text += Buffer.from(piece).toString();
    }
    return text;
  };

  it('resolve with their headers, and are read as they arrive', async () => {
    const more = Promise.withResolvers<void>();
    const reply = await open(async (_request, response) => {
      response.writeHead(201, { 'x-test': 'yes' });
      response.write('one ');
      await more.promise;
      response.end('two');
    });
    expect(reply).to.include({ status: 201 });
    more.resolve();
    expect(await read(reply)).to.equal('one two');
  });

  it('hold the upstream until they are read', async () => {
    const size = 24 * 1024 * 1024;
    let written = 0;
    const reply = await open((_request, response) => {
      const piece = Buffer.alloc(256 * 1024);
      const more = (): void => {
        while (written < size) {
          written += piece.length;
          if (!response.write(piece)) return;
        }
        response.end();
      };
      response.on('drain', more);
      more();
    });
    await new Promise((resolve) => {
      setTimeout(resolve, 80);
    });
    expect(written).to.be.below(size);
    expect((await read(reply)).length).to.equal(size);
  });

  it('throw where the body breaks off', async () => {
    const reply = await open((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await read(reply).catch((error: unknown) => (error as GatewayError).code)).to.equal('upstream_error');
  });

  it('close the connection when they are not read on', async () => {
    const closed = Promise.withResolvers<void>();
    const reply = await open((_request, response) => {
      response.write('x');
      response.on('close', closed.resolve);
    });
    for await (const piece of reply.body as AsyncIterable<Uint8Array>) {
      expect(Buffer.from(piece).toString()).to.equal('x');
      break;
    }
    await closed.promise;
  });
});
