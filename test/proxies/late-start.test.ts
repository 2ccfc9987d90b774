import { expect } from 'chai';
import { GatewayError } from 'gw/contract';
import { eventually, some } from '../kit/index.ts';
import { GUARDS, OpenStream, saidOf, silence, silentGateway, type StreamedWire, WIRES } from './kit.ts';

const [CHAT] = WIRES as [StreamedWire];
/** Wire, whether the target that serves speaks it, and how guards hold the answer back. */
const CASES = WIRES.flatMap((wire) =>
  (wire.vendor === 'openai-like' ? [false] : [false, true]).flatMap((isSame) =>
    (Object.keys(GUARDS) as (keyof typeof GUARDS)[]).map((guards) => ({ wire, isSame, guards })),
  ),
);
const ATTRIBUTION = ['provider', 'target', 'model', 'attempts'].map((name) => `x-gateway-${name}`);

/** Headers of an answer that do not change from one to the next. */
const steady = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    [...headers].filter(([name]) => !['date', 'server-timing', 'x-request-id', 'request-id'].includes(name)),
  );

describe('a stream whose first chunk is late', () => {
  for (const { wire, isSame, guards } of some(CASES)) {
    const title = `${wire.name}, ${isSame ? 'same wire' : 'translated'}, guards ${guards}`;
    const own = isSame ? `${wire.vendor}-own` : 'plain';
    const after = isSame ? `to-${wire.vendor}` : 'fails-over';
    const [first, second] = isSame ? ['a', wire.vendor] : ['a', 'b'];

    it(`is opened, and answered by the target that was asked: ${title}`, async () => {
      const { clock, call, stream: open } = await silentGateway({ guards });
      const prompt = open(wire, own);
      (await call(0)).answer();
      await prompt.over;
      const late = open(wire, own);
      const upstream = await call(1);
      clock.advance(44_999);
      expect(late.isOpen).to.equal(false);
      clock.advance(1);
      const response = await late.opened;
      expect(response.status).to.equal(200);
      const { 'x-gateway-upstream-model': _known, ...headers } = steady((await prompt.opened).headers);
      expect(steady(response.headers), 'all but what only the answer says').to.deep.equal(headers);
      clock.advance(15_000);
      await late.until((text) => text === silence(wire, '', 1));
      upstream.answer();
      await late.over;
      const [id, other] = [await late.opened, await prompt.opened].map(
        ({ headers }) => headers.get('x-request-id') ?? '',
      );
      expect(saidOf(late.text.trimStart(), id ?? '')).to.equal(saidOf(prompt.text, other ?? ''));
      const [attempts, target, model] = ['attempts', 'target', 'model'].map((name) =>
        response.headers.get(`x-gateway-${name}`),
      );
      const comment = `: gw target=${target} model=${model} attempts=${attempts}\n\n`;
      expect(late.text.startsWith(silence(wire, '', 1) + (wire.hasComments ? comment : ''))).to.equal(true);
      expect(clock.waiting, 'timers').to.equal(0);
    });

    it(`goes on to the next target behind its headers: ${title}`, async () => {
      const { clock, call, calls, stream: open, host } = await silentGateway({ guards });
      const stream = open(wire, after);
      const failing = await call(0);
      clock.advance(45_000);
      const { headers } = await stream.opened;
      failing.fail(503);
      const serving = await call(1);
      clock.advance(15_000);
      await stream.until((text) => text === silence(wire, '', 1));
      serving.answer();
      await stream.over;
      expect(calls.map(({ target }) => target)).to.deep.equal([first, second]);
      expect(ATTRIBUTION.map((name) => headers.get(name))).to.deep.equal(['a', 'a', after, '1']);
      expect(stream.text).to.match(/second|zurück/);
      if (wire.hasComments) expect(stream.text).to.include(`: gw target=${second} model=${after} attempts=2\n\n`);
      else expect(stream.text).not.to.match(/^:/m);
      await eventually(() => host.samples.some(({ name }) => name === 'gateway_requests_total'));
      expect(
        host.samples.filter(({ name }) => name === 'gateway_requests_total').map(({ labels }) => labels),
      ).to.deep.equal([{ provider: second, model: after, status: 'success' }]);
    });

    it(`ends with the error of its wire where every target fails: ${title}`, async () => {
      const { clock, call, stream: open, host } = await silentGateway({ guards });
      const stream = open(wire, after);
      const failing = await call(0);
      clock.advance(45_000);
      const { headers } = await stream.opened;
      clock.advance(15_000);
      await stream.until((text) => text === silence(wire, '', 1));
      failing.fail(500);
      (await call(1)).fail(500);
      await stream.over;
      const { code, message } = wire.failure(stream.text);
      expect(code).to.equal(CODES[wire.name]);
      expect(message, 'that of the JSON answer').to.equal('the provider failed');
      expect(stream.text).not.to.include('[DONE]');
      expect(headers.get('retry-after')).to.equal(null);
      await eventually(() => host.lines.some(({ msg }) => msg === 'http request'));
      const line = (msg: string): any => host.lines.find((one) => one['msg'] === msg);
      expect(line('http request')).to.include({ status: 200 });
      expect(line('request failed').error).to.include(`500 ${second} is down`);
      expect(
        host.samples.filter(({ name }) => name === 'gateway_requests_total').map(({ labels }) => labels),
      ).to.deep.equal([{ provider: second, model: after, status: 'error' }]);
      expect(clock.waiting, 'timers').to.equal(0);
    });
  }

  for (const wire of WIRES)
    it(`does not change the status of what the gateway refuses itself: ${wire.name}`, async () => {
      const {
        clock,
        stream: open,
        calls,
      } = await silentGateway({
        plugins: [{ name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['hi'] } }],
      });
      for (const [model, status] of [
        ['nothing-serves-it', 404],
        ['plain', 400],
      ] as const) {
        const stream = open(wire, model);
        clock.advance(60_000);
        expect((await stream.opened).status).to.equal(status);
        await stream.over;
      }
      expect(calls).to.deep.equal([]);
    });

  for (const wire of WIRES)
    it(`is untouched by the setting as long as it comes in time: ${wire.name}`, async () => {
      const texts: string[] = [];
      for (const openAfter of ['45s', 'off', '0']) {
        const { clock, call, stream: open } = await silentGateway({ streaming: { open_after: openAfter } });
        const stream = open(wire, 'plain');
        const upstream = await call(0);
        clock.advance(44_999);
        upstream.answer();
        await stream.over;
        const { headers } = await stream.opened;
        texts.push(JSON.stringify(steady(headers)) + saidOf(stream.text, headers.get('x-request-id') ?? ''));
      }
      expect(new Set(texts).size).to.equal(1);
    });

  for (const wire of WIRES)
    it(`fails with the words and the type of the answer in JSON: ${wire.name}`, async () => {
      const early = await silentGateway();
      const never = await silentGateway({ streaming: { open_after: '0' } });
      for (const [at, status] of [400, 500, 503, 429].entries()) {
        const [opened, refused] = [early, never].map(({ stream }) => stream(wire, 'plain')) as [OpenStream, OpenStream];
        const calls = await Promise.all([early.call(at), never.call(at)]);
        early.clock.advance(45_000);
        expect((await opened.opened).status).to.equal(200);
        for (const call of calls) call.fail(status);
        await Promise.all([opened.over, refused.over]);
        expect((await refused.opened).status).to.equal(status === 400 || status === 429 ? status : 502);
        const [{ error }] = [JSON.parse(refused.text)].flat();
        const { code, message } = wire.failure(opened.text);
        expect(message).to.equal(error.message);
        if (wire.vendor !== 'openai-like') expect(code).to.equal(error.status ?? error.type);
        if (wire.vendor === 'gemini') expect(opened.text.includes('RetryInfo')).to.equal(status === 429);
      }
    });

  it('is never opened with 0: the status is that of the failure', async () => {
    for (const streaming of [{ open_after: '0' }, { open_after: 'off' }, { keepalive: 'off' }]) {
      const { clock, call, stream: open, host } = await silentGateway({ streaming });
      const stream = open(CHAT, 'plain');
      const upstream = await call(0);
      clock.advance(100_000);
      upstream.fail(503);
      expect((await stream.opened).status).to.equal(502);
      await stream.over;
      expect(host.lines.filter(({ rule }) => rule === 'WN61')).to.deep.equal([]);
    }
  });

  it('is opened and left silent where keep-alives are off and open_after is written, with a warning', async () => {
    const {
      clock,
      call,
      stream: open,
      host,
    } = await silentGateway({ streaming: { keepalive: 'off', open_after: '10s' } });
    expect(host.lines.filter(({ rule }) => rule === 'WN61').map(({ msg }) => msg)).to.deep.equal([
      'streaming.open_after without keep-alives opens a stream and then says nothing',
    ]);
    const stream = open(CHAT, 'plain');
    const upstream = await call(0);
    clock.advance(10_000);
    expect((await stream.opened).status).to.equal(200);
    clock.advance(60_000);
    upstream.answer();
    await stream.over;
    expect(stream.text).not.to.include(CHAT.early);
    expect(stream.text).to.match(/^: gw target=a model=plain attempts=1\n\ndata: /);
  });

  it('counts from the first call on, over all attempts', async () => {
    const { clock, call, stream: open } = await silentGateway({ streaming: { open_after: '10s' } });
    const stream = open(CHAT, 'fails-over');
    const failing = await call(0);
    clock.advance(6000);
    failing.fail(500);
    const serving = await call(1);
    clock.advance(4000);
    const { headers } = await stream.opened;
    expect(ATTRIBUTION.map((name) => headers.get(name))).to.deep.equal(['b', 'b', 'fails-over', '2']);
    clock.advance(7000); // what the second call might have started
    serving.answer();
    await stream.over;
    expect(stream.text).to.include(': gw target=b model=fails-over attempts=2\n\n');
    expect(clock.waiting, 'timers').to.equal(0);
  });

  it('is tried again at the same target behind its headers', async () => {
    const target = { retry: { attempts: 2, initial_backoff_ms: 100 } };
    const { clock, call, stream: open } = await silentGateway({ streaming: { open_after: '10s' }, target });
    const stream = open(CHAT, 'plain');
    const failing = await call(0);
    clock.advance(10_000);
    await stream.opened;
    failing.fail(503);
    await eventually(() => (clock.next ?? Infinity) < 1000); // the wait before the next try
    clock.advance(1000);
    (await call(1)).answer();
    await stream.over;
    expect(stream.text).to.match(/^: gw target=a model=plain attempts=2\n\ndata: .*\[DONE\]\n\n$/s);
  });

  it('says which parameters its target ignored, where the headers could not know', async () => {
    const { clock, call, stream: open } = await silentGateway();
    const messages = WIRES[1] as StreamedWire;
    const wire: StreamedWire = {
      ...messages,
      body: (model) => ({ ...messages.body(model), top_k: 3 }),
    };
    const stream = open(wire, 'to-anthropic');
    const failing = await call(0);
    clock.advance(45_000);
    const { headers } = await stream.opened;
    failing.fail(503);
    (await call(1)).answer();
    await stream.over;
    expect(headers.get('x-gateway-ignored-params')).to.be.a('string');
    expect(stream.text).to.match(/^: gw target=anthropic model=to-anthropic attempts=2 ignored=\n\n/m);
  });

  it('has the code of time where the time of the whole request is over', async () => {
    for (const wire of WIRES) {
      const { clock, call, stream: open } = await silentGateway({ request_timeout: '50s' });
      const stream = open(wire, 'plain');
      await call(0);
      clock.advance(45_000);
      await stream.opened;
      clock.advance(5000);
      await stream.over;
      const { code, message } = wire.failure(stream.text);
      expect(code).to.equal(LATE_CODES[wire.name]);
      expect(message).to.equal('the request did not finish within 50000 ms');
    }
  });

  it('ends by an event where the process ends', async () => {
    const { clock, call, stream: open, host } = await silentGateway();
    const stream = open(CHAT, 'plain');
    await call(0);
    clock.advance(45_000);
    await stream.opened;
    host.host.slot.endAll(new GatewayError('upstream_unavailable', 'the gateway is shutting down'));
    await stream.over;
    expect(CHAT.failure(stream.text)).to.include({ code: 'stream_error', message: 'the gateway is shutting down' });
  });

  it('lets go of everything when its client leaves', async () => {
    const { clock, call, host } = await silentGateway();
    const leaving = new AbortController();
    const stream = new OpenStream(host, CHAT, 'plain', leaving.signal);
    await call(0);
    clock.advance(45_000);
    await stream.opened;
    leaving.abort();
    await stream.over.catch(() => {});
    await eventually(() => clock.waiting === 0);
    expect(clock.waiting).to.equal(0);
    expect(host.lines.some(({ msg }) => msg === 'request canceled by the client')).to.equal(true);
  });
});

const CODES: Readonly<Record<string, string>> = {
  chat: 'stream_error',
  Messages: 'api_error',
  'Gemini, events': 'UNAVAILABLE',
  'Gemini, list': 'UNAVAILABLE',
  'Responses, translated': 'server_error',
};

const LATE_CODES: Readonly<Record<string, string>> = {
  chat: 'stream_timeout',
  Messages: 'timeout_error',
  'Gemini, events': 'DEADLINE_EXCEEDED',
  'Gemini, list': 'DEADLINE_EXCEEDED',
  'Responses, translated': 'server_error',
};
