import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import {
  type Answer,
  ask,
  chatReply,
  fakeClock,
  openSse,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const chat = (host: TestHost, more: object = {}): Promise<Answer> =>
  host.post(PATH, { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more });
const codeOf = (answer: Answer): [number, string] => [answer.status, answer.json().error.code];
const statuses = (upstream: StubUpstream): number => upstream.seen.length;
const circuitOf = async (host: TestHost): Promise<string> =>
  (await host.get('/health')).json().providers.find(({ name }: { name: string }) => name === 'a').circuit;

/** Answers what `status` says at that moment. */
async function moody(): Promise<{ readonly upstream: StubUpstream; status: number; headers: Record<string, string> }> {
  const mood = { status: 200, headers: {} as Record<string, string> };
  const upstream = await stubUpstream((_request, response) =>
    replyJson(
      response,
      mood.status,
      mood.status === 200 ? chatReply('hello') : { error: { message: 'no' } },
      mood.headers,
    ),
  );
  return Object.assign(mood, { upstream });
}

const breaker = { circuit_breaker: { failure_threshold: 2, timeout: '10s' } };

describe('a circuit breaker in the way of requests', () => {
  it('opens after failures in a row, refuses at once, and closes after a probe that succeeds', async () => {
    const mood = await moody();
    const clock = fakeClock();
    const host = await startHost(
      { strategy: { mode: 'single' }, targets: [mood.upstream.target('a', breaker)] },
      { clock },
    );
    mood.status = 500;
    for (let call = 0; call < 2; call += 1) expect((await chat(host)).status).to.equal(502);
    expect(await circuitOf(host)).to.equal('open');
    const refused = await chat(host);
    expect(codeOf(refused)).to.deep.equal([503, 'upstream_unavailable']);
    expect([
      refused.headers.get('x-gateway-target'),
      refused.headers.get('x-gateway-attempts'),
      refused.headers.get('retry-after'),
    ]).to.deep.equal(['a', '1', null]);
    expect(statuses(mood.upstream)).to.equal(2);
    expect((await host.get('/readyz')).json()).to.deep.include({
      status: 'not_ready',
      reason: 'no routable targets',
      targets: [{ name: 'a', routable: false, circuit: 'open' }],
    });
    clock.advance(10_001);
    expect((await host.get('/readyz')).json().targets).to.deep.equal([
      { name: 'a', routable: true, circuit: 'half-open' },
    ]);
    mood.status = 200;
    expect((await chat(host)).status).to.equal(200);
    expect(await circuitOf(host)).to.equal('closed');
  });

  for (const [status, expected] of [
    [400, 'closed'],
    [404, 'closed'],
    [422, 'closed'],
    [429, 'closed'],
    [401, 'open'],
    [403, 'open'],
    [500, 'open'],
    [301, 'open'],
  ] as const) {
    it(`is ${expected} after answers with ${status}`, async () => {
      const mood = await moody();
      const host = await startHost({ strategy: { mode: 'single' }, targets: [mood.upstream.target('a', breaker)] });
      mood.status = status;
      for (let call = 0; call < 3; call += 1) await chat(host);
      expect(await circuitOf(host)).to.equal(expected);
    });
  }

  it('counts streams that break, and lets the next target serve', async () => {
    const broken = await stubUpstream((_request, response) => {
      openSse(response);
      response.write(sseEvent(chatReply('x')), () => response.destroy());
    });
    const healthy = await stubUpstream((_request, response) => replyStream(response, ['fine']));
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [broken.target('a', breaker), healthy.target('b')],
    });
    for (let call = 0; call < 2; call += 1) await chat(host, { stream: true });
    expect(await circuitOf(host)).to.equal('open');
    const answer = await chat(host, { stream: true });
    expect([answer.headers.get('x-gateway-target'), answer.headers.get('x-gateway-attempts')]).to.deep.equal([
      'b',
      '1',
    ]);
  });

  it('keeps its state over a swap while its block stays the same, and starts anew when it changes', async () => {
    const mood = await moody();
    const config = (block: object): object => ({
      strategy: { mode: 'single' },
      targets: [mood.upstream.target('a', block)],
    });
    const host = await startHost(config(breaker));
    mood.status = 500;
    for (let call = 0; call < 2; call += 1) await chat(host);
    await host.apply(config({ ...breaker, weight: 3 }));
    expect(await circuitOf(host)).to.equal('open');
    await host.apply(config({ circuit_breaker: { failure_threshold: 3 } }));
    expect(await circuitOf(host)).to.equal('closed');
  });

  it('answers 503, never 404, when every owner is open', async () => {
    const mood = await moody();
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [mood.upstream.target('a', breaker), mood.upstream.target('b', breaker)],
    });
    mood.status = 500;
    for (let call = 0; call < 2; call += 1) await chat(host);
    expect(codeOf(await chat(host))).to.deep.equal([503, 'upstream_unavailable']);
  });
});

describe('a target that answered 429', () => {
  it('rests while another can serve, for as long as it asked', async () => {
    const [tired, fresh] = [await moody(), await moody()];
    const clock = fakeClock();
    const host = await startHost(
      { strategy: { mode: 'fallback' }, targets: [tired.upstream.target('a'), fresh.upstream.target('b')] },
      { clock },
    );
    tired.status = 429;
    tired.headers = { 'retry-after': '20' };
    expect((await chat(host)).headers.get('x-gateway-attempts')).to.equal('2');
    tired.status = 200;
    expect((await chat(host)).headers.get('x-gateway-target')).to.equal('b');
    clock.advance(20_000);
    expect((await chat(host)).headers.get('x-gateway-target')).to.equal('a');
  });

  it('is called all the same when no other target owns the model', async () => {
    const [tired, fresh] = [await moody(), await moody()];
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [tired.upstream.target('a'), fresh.upstream.target('b', { models: ['other'] })],
    });
    tired.status = 429;
    expect((await chat(host)).status).to.equal(429);
    tired.status = 200;
    expect((await chat(host)).status).to.equal(200);
  });
});

describe('a concurrency limit', () => {
  /** Holds every call until it is let go. */
  async function holding(): Promise<{
    readonly upstream: StubUpstream;
    readonly held: ServerResponse[];
    readonly arrived: (count: number) => Promise<void>;
  }> {
    const held: ServerResponse[] = [];
    const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
    const upstream = await stubUpstream((_request, response) => {
      held.push(response);
      for (const { count, resolve } of waiting) if (held.length >= count) resolve();
    });
    return {
      upstream,
      held,
      arrived: (count) =>
        new Promise((resolve) => {
          if (held.length >= count) resolve();
          else waiting.push({ count, resolve });
        }),
    };
  }
  const finish = (response: ServerResponse | undefined): void =>
    replyJson(response ?? expect.fail('nothing is held'), 200, chatReply('done'));

  it('lets so many calls through, queues so many more, and refuses the rest', async () => {
    const { upstream, held, arrived } = await holding();
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a', { concurrency: { max_concurrency: 1, queue_size: 1 } })],
    });
    const first = chat(host);
    await arrived(1);
    const second = chat(host);
    let third = await Promise.race([second, chat(host)]); // whichever came last is refused
    expect(codeOf(third)).to.deep.equal([429, 'provider_saturated']);
    expect(third.headers.get('retry-after')).to.equal('1');
    expect(held).to.have.length(1);
    finish(held[0]);
    expect((await first).status).to.equal(200);
    await arrived(2);
    finish(held[1]);
    third = await chatAfter(host, held, arrived);
    expect(third.status).to.equal(200);
  });

  async function chatAfter(
    host: TestHost,
    held: ServerResponse[],
    arrived: (count: number) => Promise<void>,
  ): Promise<Answer> {
    const before = held.length;
    const answer = chat(host);
    await arrived(before + 1);
    finish(held[before]);
    return answer;
  }

  it("is 429 and no timeout for who waits until the request's own end", async () => {
    const { upstream, arrived } = await holding();
    const host = await startHost({
      strategy: { mode: 'single' },
      request_timeout: '300ms',
      targets: [upstream.target('a', { concurrency: { max_concurrency: 1 } })],
    });
    const first = chat(host);
    await arrived(1);
    const second = chat(host);
    expect((await first).status).to.equal(504);
    expect((await second).status).to.be.oneOf([429, 504]); // it was let in as the first one ended, or it was not
    expect(statuses(upstream)).to.be.at.most(2);
  });

  it('is handed on to the next target by a strategy that does', async () => {
    const { upstream, held, arrived } = await holding();
    const other = await moody();
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [
        upstream.target('a', { concurrency: { max_concurrency: 1, queue_size: 1 } }),
        other.upstream.target('b'),
      ],
    });
    const [first, queued] = [chat(host), chat(host)];
    await arrived(1);
    const answer = await Promise.race([queued, chat(host)]);
    expect(answer.headers.get('x-gateway-target')).to.equal('b');
    finish(held[0]);
    await first;
    await arrived(2);
    finish(held[1]);
    await queued;
  });

  it('is held by a stream to its last chunk, and given back when the client leaves', async () => {
    const { upstream, held, arrived } = await holding();
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a', { concurrency: { max_concurrency: 1 } })],
    });
    const abort = new AbortController();
    const stream = fetch(`${host.url}${PATH}`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: 'Bearer gw_0123456789abcdef0123456789abcdef' },
      body: JSON.stringify({ model: 'm', stream: true, messages: ask('x').messages }),
    });
    await arrived(1);
    openSse(held[0] as ServerResponse);
    held[0]?.write(sseEvent({ id: 'c', choices: [{ index: 0, delta: { content: 'a' } }] }));
    expect((await stream).status).to.equal(200);
    const next = chat(host);
    expect(statuses(upstream)).to.equal(1);
    abort.abort();
    await arrived(2);
    finish(held[1]);
    expect((await next).status).to.equal(200);
  });
});
