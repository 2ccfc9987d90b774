import { expect } from 'chai';
import {
  ask,
  chatReply,
  type FakeClock,
  fakeClock,
  openSse,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const RETRY = { retry: { attempts: 3, initial_backoff_ms: 0 } };

/** Answers with these, one per request, and then well. */
function inTurn(...failures: readonly StubHandler[]): StubHandler {
  const left = [...failures];
  return (request, response) => {
    const next = left.shift();
    if (next) return next(request, response);
    if (request.json()['stream'] === true) return replyStream(response, ['hello']);
    return replyJson(response, 200, chatReply('hello'));
  };
}

const status =
  (code: number, headers: Record<string, string> = {}): StubHandler =>
  (_request, response) =>
    replyJson(response, code, {}, headers);
const reset: StubHandler = (_request, response) => {
  response.destroy();
};
const stream =
  (...events: readonly unknown[]): StubHandler =>
  (_request, response) => {
    openSse(response);
    response.end(events.map(sseEvent).join(''));
  };

async function hostOf(
  handler: StubHandler,
  target: object = RETRY,
  options: TestHostOptions = {},
  config: object = {},
): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream(handler);
  return {
    upstream,
    host: await startHost({ targets: [upstream.target('a', target)], ...config }, { random: () => 0, ...options }),
  };
}

/** Waits, in real time, until the gateway has called so often and its clock so long for the next try. */
async function untilWaiting(
  clock: FakeClock,
  {
    upstream,
    calls = 1,
    waitMs,
  }: { readonly upstream: StubUpstream; readonly calls?: number; readonly waitMs: number },
): Promise<void> {
  while (upstream.seen.length < calls || clock.next !== waitMs)
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
}

describe('retries', () => {
  it('try the same target until it answers, and count every try', async () => {
    for (const isStream of [false, true]) {
      const { host, upstream } = await hostOf(inTurn(status(500), reset));
      const answer = await host.post(PATH, ask('hi', { stream: isStream }));
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('x-gateway-attempts')).to.equal('3');
      expect(upstream.seen).to.have.length(3);
    }
  });

  it('end with the last error when the tries are used up', async () => {
    const { host, upstream } = await hostOf(
      inTurn(status(500), status(503), status(429, { 'retry-after': '0' }), status(500)),
    );
    const answer = await host.post(PATH, ask());
    expect(answer.status).to.equal(429);
    expect(answer.headers.get('x-gateway-attempts')).to.equal('3');
    expect(upstream.seen).to.have.length(3);
  });

  it('do not happen unless configured', async () => {
    const { host, upstream } = await hostOf(inTurn(status(500)), {});
    expect((await host.post(PATH, ask())).status).to.equal(502);
    expect(upstream.seen).to.have.length(1);
  });

  for (const code of [400, 401, 403, 404, 409, 413, 422]) {
    it(`do not happen after ${code}`, async () => {
      const { host, upstream } = await hostOf(inTurn(status(code)));
      await host.post(PATH, ask());
      expect(upstream.seen).to.have.length(1);
    });
  }

  it('follow the configured list, which never keeps a broken connection from being tried again', async () => {
    const listed = { ...RETRY, retry_on_status: [409] };
    for (const [failure, calls] of [
      [status(409), 2],
      [status(500), 1],
      [reset, 2],
    ] as const) {
      const { host, upstream } = await hostOf(inTurn(failure), listed);
      await host.post(PATH, ask());
      expect(upstream.seen).to.have.length(calls);
    }
  });

  it('send the same body again', async () => {
    const { host, upstream } = await hostOf(inTurn(status(500)));
    await host.post(
      PATH,
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":9007199254740993,"unknown":{"a":1}}',
    );
    expect(upstream.seen[0]?.text).to.include('9007199254740993');
    expect(upstream.seen[1]?.text).to.equal(upstream.seen[0]?.text);
  });

  it('come before the next target', async () => {
    const first = await stubUpstream(inTurn(status(500), status(500), status(500), status(500)));
    const second = await stubUpstream(inTurn());
    const host = await startHost(
      { strategy: { mode: 'fallback' }, targets: [first.target('a', RETRY), second.target('b')] },
      { random: () => 0 },
    );
    const answer = await host.post(PATH, ask());
    expect([answer.headers.get('x-gateway-target'), answer.headers.get('x-gateway-attempts')]).to.deep.equal([
      'b',
      '4',
    ]);
    expect(first.seen).to.have.length(3);
  });

  it('happen for a stream that fails before its first chunk, and never after it', async () => {
    const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const { host, upstream } = await hostOf(
      inTurn(
        stream(),
        stream({ error: { message: 'overloaded' } }),
        stream({ ...head, choices: [{ index: 0, delta: { content: 'x' } }] }, { error: 'broken' }),
      ),
    );
    const answer = await host.post(PATH, ask('hi', { stream: true }));
    expect(answer.headers.get('x-gateway-attempts')).to.equal('3');
    expect(upstream.seen).to.have.length(3);
    expect(answer.events()).to.have.length(2);
    expect(answer.events()[1].error.code).to.equal('stream_error');
  });

  it('say so in the log', async () => {
    const { host } = await hostOf(inTurn(status(500)));
    const answer = await host.post(PATH, ask());
    const line = host.lines.find(({ msg }) => msg === 'retrying target');
    expect(line).to.include({ level: 'INFO', target: 'a', attempt: 2, trace_id: answer.headers.get('x-request-id') });
  });

  it('are at most ten in ten seconds at a target with few requests', async () => {
    const clock = fakeClock();
    const { host, upstream } = await hostOf(status(500), { retry: { attempts: 60, initial_backoff_ms: 0 } }, { clock });
    const pending = host.post(PATH, ask());
    const over = pending.then(() => true);
    const soon = (): Promise<boolean> =>
      new Promise((resolve) => {
        setTimeout(resolve, 2, false);
      });
    while (!(await Promise.race([over, soon()]))) clock.advance(1);
    expect(upstream.seen).to.have.length(11);
  });
});

describe('the wait for another try', () => {
  it('is the hint of the upstream, to the millisecond', async () => {
    const clock = fakeClock();
    const { host, upstream } = await hostOf(inTurn(status(429, { 'retry-after-ms': '1500' })), RETRY, { clock });
    const pending = host.post(PATH, ask());
    await untilWaiting(clock, { upstream, waitMs: 1500 });
    clock.advance(1499);
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    expect(upstream.seen).to.have.length(1);
    clock.advance(1);
    expect((await pending).status).to.equal(200);
  });

  it('is a share of a bound that doubles, without a hint', async () => {
    const clock = fakeClock();
    const { host, upstream } = await hostOf(
      inTurn(status(500), status(500)),
      { retry: { attempts: 3, initial_backoff_ms: 100 } },
      { clock, random: () => 0.5 },
    );
    const pending = host.post(PATH, ask());
    for (const [calls, waitMs] of [
      [1, 50],
      [2, 100],
    ] as const) {
      await untilWaiting(clock, { upstream, calls, waitMs });
      clock.advance(waitMs - 1);
      await new Promise((resolve) => {
        setTimeout(resolve, 30);
      });
      expect(upstream.seen).to.have.length(calls);
      clock.advance(1);
    }
    expect((await pending).status).to.equal(200);
  });

  it('does not happen for a hint beyond 30 s: the next target is tried at once, and the log says why', async () => {
    const first = await stubUpstream(inTurn(status(429, { 'retry-after': '31' })));
    const second = await stubUpstream(inTurn());
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [first.target('a', RETRY), second.target('b')],
    });
    expect((await host.post(PATH, ask())).headers.get('x-gateway-target')).to.equal('b');
    expect(first.seen).to.have.length(1);
    expect(host.lines.find(({ msg }) => msg === 'abandoning target: Retry-After exceeds the cap')).to.include({
      target: 'a',
      retry_after: 31,
    });
  });

  it('does not happen when it would outlast the request', async () => {
    const { host, upstream } = await hostOf(
      inTurn(status(503, { 'retry-after': '20' })),
      RETRY,
      {},
      { request_timeout: '10s' },
    );
    const answer = await host.post(PATH, ask());
    expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([502, '20']);
    expect(upstream.seen).to.have.length(1);
  });

  it('ends with the client', async () => {
    const clock = fakeClock();
    const { host, upstream } = await hostOf(inTurn(status(429, { 'retry-after': '20' })), RETRY, { clock });
    const leaving = new AbortController();
    const pending = fetch(`${host.url}${PATH}`, {
      method: 'POST',
      body: JSON.stringify(ask()),
      signal: leaving.signal,
      headers: { authorization: 'Bearer gw_0123456789abcdef0123456789abcdef' },
    }).catch(() => {});
    await untilWaiting(clock, { upstream, waitMs: 20_000 });
    leaving.abort();
    await pending;
    while (!host.lines.some(({ msg }) => msg === 'request canceled by the client'))
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    clock.advance(60_000);
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    expect(upstream.seen).to.have.length(1);
  });

  it('happens when the request lasts longer', async () => {
    const clock = fakeClock();
    const { host, upstream } = await hostOf(
      inTurn(status(500)),
      { retry: { attempts: 2, initial_backoff_ms: 10_000 } },
      { clock, random: () => 0.5 },
      { request_timeout: '6s' },
    );
    const pending = host.post(PATH, ask());
    await untilWaiting(clock, { upstream, waitMs: 5000 });
    clock.advance(4999);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    expect(upstream.seen).to.have.length(1);
    clock.advance(1);
    expect((await pending).status).to.equal(200);
  });
});
