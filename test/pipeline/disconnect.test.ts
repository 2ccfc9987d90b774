import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type Exchange, type ExchangeOutcome, type PluginModule } from 'gw/contract';
import {
  ask,
  atEnd,
  type FakeClock,
  fakeClock,
  MASTER_KEY,
  MOST_TURNS,
  openSse,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
  turnsUntil,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const piece = (content: string): string =>
  sseEvent({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  });
const USAGE = sseEvent({ id: 'c', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } });
const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

interface Witnessed {
  readonly stages: string[];
  readonly outcomes: ExchangeOutcome[];
  readonly errors: (string | undefined)[];
  readonly costs: (number | undefined)[];
}

function witness(witnessed: Witnessed): PluginModule {
  const note = ({ stage }: Exchange): void => {
    witnessed.stages.push(stage);
  };
  return definePlugin({
    name: 'witness',
    type: 'logging',
    summary: 'Notes how requests end',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object({}),
    create: () => ({
      before_request: note,
      after_request: note,
      on_error: (exchange) => {
        note(exchange);
        witnessed.errors.push(exchange.error?.code);
        witnessed.costs.push(exchange.measurements.costUsd);
      },
      finished: (_exchange, outcome) => {
        witnessed.outcomes.push(outcome);
      },
    }),
  });
}

interface Scene {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  readonly witnessed: Witnessed;
  /** The upstream's request was closed. */
  readonly closed: Promise<void>;
}

async function scene(handler: StubHandler, options: TestHostOptions = {}, module: object = {}): Promise<Scene> {
  const closed = Promise.withResolvers<void>();
  const upstream = await stubUpstream((request, response) => {
    response.on('close', () => closed.resolve());
    return handler(request, response);
  });
  const witnessed: Witnessed = { stages: [], outcomes: [], errors: [], costs: [] };
  const plugins = ['before_request', 'after_request', 'on_error'].map((stage) => ({
    name: 'witness',
    stage,
    enabled: true,
  }));
  const host = await startHost(
    { targets: [upstream.target('a', { retry: { attempts: 3 } }, module)], plugins },
    { clock: fakeClock(), ...options, modules: [witness(witnessed)] },
  );
  return { host, upstream, witnessed, closed: closed.promise };
}

interface Client {
  readonly socket: Socket;
  text(): string;
}

/** A client on a bare socket, which reads only when the test says so. */
function request(host: TestHost, body: object): Client {
  const { port } = new URL(host.url);
  const socket = connect(Number(port), '127.0.0.1');
  atEnd(() => {
    socket.destroy();
  });
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  const json = JSON.stringify(body);
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
  return { socket, text: () => text };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

async function expectCanceled({ witnessed, closed, upstream, host }: Scene): Promise<void> {
  expect(await turnsUntil(closed)).to.be.below(MOST_TURNS);
  await until(() => witnessed.outcomes.length > 0);
  expect(witnessed).to.deep.include({ outcomes: ['client_canceled'], errors: ['client_canceled'] });
  expect(witnessed.stages).to.deep.equal(['before_request', 'on_error']);
  expect(upstream.seen).to.have.length(1);
  const errors = host.samples
    .filter(({ name }) => name === 'gateway_provider_errors_total')
    .map(({ labels }) => labels['error_type']);
  expect(errors).to.deep.equal(['client_canceled']);
  expect(host.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
}

describe('a client that leaves', () => {
  it('while a whole answer is awaited: the call is closed at once, on_error runs', async () => {
    const set = await scene(() => {});
    const { socket } = request(set.host, ask());
    await until(() => set.upstream.seen.length === 1);
    socket.destroy();
    await expectCanceled(set);
  });

  it('while a stream has not begun', async () => {
    const set = await scene((_request, response) => openSse(response));
    const { socket } = request(set.host, ask('hi', { stream: true }));
    await until(() => set.upstream.seen.length === 1);
    socket.destroy();
    await expectCanceled(set);
  });

  it('in the middle of a stream: it costs what had arrived', async () => {
    const set = await scene((_request, response) => {
      openSse(response);
      response.write(piece('one') + USAGE);
    });
    const cost = {
      totalUsd: 1,
      inputUsd: 1,
      outputUsd: 0,
      cacheReadUsd: 0,
      cacheWriteUsd: 0,
      reasoningUsd: 0,
      modelFound: true,
      priced: true,
      catalog: 'test',
    };
    const { services } = set.host.host;
    services.catalog = { ...services.catalog, cost: () => cost };
    const client = request(set.host, ask('hi', { stream: true }));
    await until(() => client.text().includes('one'));
    client.socket.destroy();
    await expectCanceled(set);
    expect(set.witnessed.costs).to.deep.equal([1]);
    expect(
      set.host.samples.filter(({ name }) => name === 'gateway_request_cost_usd_total').map(({ value }) => value),
    ).to.deep.equal([1]);
  });

  it('in the middle of a stream that an adapter makes: its source is closed', async () => {
    const closed = Promise.withResolvers<void>();
    const body = async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          yield Buffer.from(piece('x'));
          await sleep(10);
        }
      } finally {
        closed.resolve();
      }
    };
    const set = await scene(() => {}, {}, { converse: async () => ({ status: 200, headers: {}, body: body() }) });
    const client = request(set.host, ask('hi', { stream: true }));
    await until(() => client.text().includes('data:'));
    client.socket.destroy();
    await closed.promise;
    await until(() => set.witnessed.outcomes.length > 0);
    expect(set.witnessed.outcomes).to.deep.equal(['client_canceled']);
  });

  it('before an adapter has made its stream: nothing waits for it, and its source is closed when it comes', async () => {
    const gate = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          closed.resolve();
          return { done: true, value: undefined };
        },
      }),
    };
    const converse = async (): Promise<object> => {
      asked.resolve();
      await gate.promise;
      return { status: 200, headers: {}, body };
    };
    const set = await scene(() => {}, {}, { converse });
    const client = request(set.host, ask('hi', { stream: true }));
    await asked.promise;
    client.socket.destroy();
    await until(() => set.witnessed.outcomes.length > 0);
    expect(set.witnessed.outcomes).to.deep.equal(['client_canceled']);
    gate.resolve();
    await closed.promise;
  });

  it('after the last chunk changes nothing: the stream was complete', async () => {
    const set = await scene((_request, response) => {
      openSse(response);
      response.end(
        `${piece('one')}${sseEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
      );
    });
    const client = request(set.host, ask('hi', { stream: true }));
    await until(() => client.text().includes('[DONE]'));
    client.socket.destroy();
    await until(() => set.witnessed.outcomes.length > 0);
    expect(set.witnessed).to.deep.equal({
      stages: ['before_request', 'after_request'],
      outcomes: ['success'],
      errors: [],
      costs: [],
    });
  });
});

describe('a client that stops reading', () => {
  const TEXT = 'x'.repeat(16 * 1024);

  /** Streams as fast as it is read, and counts what left. */
  function flood(): { handler: StubHandler; written: () => number } {
    let written = 0;
    const handler: StubHandler = (_request, response) => {
      openSse(response);
      const more = (): void => {
        while (!response.destroyed && response.write(piece(TEXT))) written += 1;
        written += 1;
      };
      response.on('drain', more);
      more();
    };
    return { handler, written: () => written };
  }

  async function stalled(clock: FakeClock): Promise<{ set: Scene; client: Client; written: () => number }> {
    const { handler, written } = flood();
    const set = await scene(handler, { clock, streamIdleMs: 3_600_000 });
    const client = request(set.host, ask('hi', { stream: true }));
    await until(() => client.text().length > 0);
    client.socket.pause();
    let before = -1;
    while (before !== written()) {
      before = written();
      await sleep(120);
    }
    return { set, client, written };
  }

  it('holds the upstream back, and gets the rest when it reads on', async () => {
    const clock = fakeClock();
    const { set, client, written } = await stalled(clock);
    const before = written();
    expect(before * TEXT.length).to.be.below(64 * 1024 * 1024);
    client.socket.resume();
    await until(() => written() > before + 200);
    client.socket.destroy();
    await set.closed;
    expect(set.witnessed.stages.slice(0, 1)).to.deep.equal(['before_request']);
  });

  it('is cut off after 15 s, as if it had left', async () => {
    const clock = fakeClock();
    const { set } = await stalled(clock);
    clock.advance(14_999);
    await sleep(40);
    expect(set.witnessed.outcomes).to.deep.equal([]);
    await until(() => {
      clock.advance(100); // more than once where the client's kernel took a last piece meanwhile
      return set.witnessed.outcomes.length > 0;
    });
    await set.closed;
    expect(set.witnessed.outcomes).to.deep.equal(['client_canceled']);
  });

  it('is not cut off while it reads slowly', async () => {
    const clock = fakeClock();
    const { set, client } = await stalled(clock);
    for (let turn = 0; turn < 3; turn += 1) {
      clock.advance(10_000);
      const read = client.text().length;
      client.socket.resume();
      await until(() => client.text().length > read + 8 * 1024 * 1024);
      client.socket.pause();
      await sleep(120);
    }
    expect(set.witnessed.outcomes).to.deep.equal([]);
  });
});
