import { expect } from 'chai';
import { type ChatReply, definePlugin, type Exchange, type PluginModule, reject, type Stage } from 'gw/contract';
import Joi from 'joi';
import {
  type Answer,
  ask,
  chatReply,
  eventually,
  type FakeClock,
  fakeClock,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type StubHandler,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { WITH_EMBEDDINGS, withKeys } from './kit.ts';

const PATH = '/v1/chat/completions';
const STAGES: readonly Stage[] = ['before_request', 'after_request'];

const entries = (config: object, stages: readonly string[] = STAGES): object[] =>
  stages.map((stage) => ({ name: 'response-cache', type: 'transform', stage, enabled: true, config }));

interface Scene {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly upstream: StubUpstream;
  readonly send: (request?: object, key?: string, headers?: Record<string, string>) => Promise<Answer>;
  readonly apply: (config: object, stages?: readonly string[]) => Promise<void>;
}

interface Around {
  readonly modules?: readonly PluginModule[];
  /** Entries behind the cache's. */
  readonly behind?: readonly object[];
}

let answers = 0;
const counting: StubHandler = (seen, response) => {
  answers += 1;
  if (seen.url.endsWith('/embeddings'))
    replyJson(response, 200, {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [answers] }],
      model: 'm',
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
  else if (seen.json()['stream'] === true)
    replyStream(response, ['A streamed answer, number ', String(answers), ', which is long enough for a few pieces.']);
  else replyJson(response, 200, chatReply(`answer ${answers}`));
};

async function scene(
  config: object = {},
  handler: StubHandler = counting,
  { modules = [], behind = [] }: Around = {},
): Promise<Scene> {
  const clock = fakeClock();
  const upstream = await stubUpstream(handler);
  const full = (settings: object, stages: readonly string[]): object => ({
    targets: [upstream.target('a', { models: ['m', 'm2'] }, WITH_EMBEDDINGS)],
    plugins: [...entries(settings, stages), ...behind],
  });
  const host = await startHost(full(config, STAGES), { clock, modules, builtins: [withKeys('a', 'b')] });
  return {
    host,
    clock,
    upstream,
    send: (request = {}, key = 'key-a', headers = {}) =>
      host.post(PATH, ask('hi', request), { authorization: `Bearer ${key}`, ...headers }),
    apply: (settings, stages = STAGES) => host.apply(full(settings, stages)),
  };
}

const wordOf = ({ headers }: Answer): string | null => headers.get('x-gateway-cache');
const words = async (...pending: readonly (() => Promise<Answer>)[]): Promise<(string | null)[]> => {
  const found: (string | null)[] = [];
  for (const send of pending) found.push(wordOf(await send()));
  return found;
};

describe('response-cache', () => {
  it('gives the same answer again without a call, and says so', async () => {
    const { send, upstream } = await scene();
    const [first, second] = [await send(), await send()];
    expect([wordOf(first), wordOf(second)]).to.deep.equal(['miss', 'hit']);
    expect(second.json()).to.deep.equal(first.json());
    expect(upstream.seen).to.have.length(1);
    expect(first.headers.get('x-gateway-target')).to.equal('a');
    for (const name of ['provider', 'target', 'model', 'attempts', 'overhead-ms'])
      expect(second.headers.get(`x-gateway-${name}`), name).to.equal(null);
  });

  it('counts a hit for the provider "cache", with its tokens, at no cost', async () => {
    const { send, host } = await scene();
    await send();
    host.samples.length = 0;
    await send();
    const labels = (name: string): object[] =>
      host.samples
        .filter((sample) => sample.name === name)
        .map((sample) => ({ ...sample.labels, value: sample.value }));
    expect(labels('gateway_requests_total')).to.deep.equal([
      { provider: 'cache', model: 'm', status: 'success', value: 1 },
    ]);
    expect(labels('gateway_tokens_input_total')).to.deep.equal([{ provider: 'cache', model: 'm', value: 11 }]);
    expect(labels('gateway_request_cost_usd_total')).to.deep.equal([]);
  });

  it('replays a stream as several chunks, then the usage unless the client opted out, then the end', async () => {
    const { send, upstream } = await scene();
    const first = await send({ stream: true });
    const text = (answer: Answer): string =>
      answer
        .events()
        .map((event) => event.choices?.[0]?.delta?.content ?? '')
        .join('');
    for (const [options, hasUsage] of [
      [undefined, true],
      [{ include_usage: true }, true],
      [{ include_usage: false }, false],
    ] as const) {
      const hit = await send({ stream: true, ...(options && { stream_options: options }) });
      expect([hit.status, wordOf(hit), hit.headers.get('content-type')]).to.deep.equal([
        200,
        'hit',
        'text/event-stream',
      ]);
      expect(text(hit))
        .to.equal(text(first))
        .and.match(/^A streamed answer/);
      const events = hit.events();
      expect(events.filter((event) => event.choices?.[0]?.delta?.content).length).to.be.above(1);
      expect(events.at(-1)).to.equal('[DONE]');
      expect(events.at(-2).choices).to.deep.equal(hasUsage ? [] : events.at(-2).choices);
      expect(events.some((event) => event.usage !== undefined)).to.equal(hasUsage);
    }
    expect(upstream.seen).to.have.length(1);
    expect(wordOf(await send())).to.equal('miss'); // stream is part of the key
  });

  it('replays a short answer in several chunks too', async () => {
    const { send } = await scene({}, (_seen, response) => replyStream(response, ['Hello \u{1f600}']));
    await send({ stream: true });
    const contents = (await send({ stream: true }))
      .events()
      .map((event) => event.choices?.[0]?.delta?.content)
      .filter((content) => content);
    expect([contents.length > 1, contents.join('')]).to.deep.equal([true, 'Hello \u{1f600}']);
  });

  it('serves completions, and no other surface', async () => {
    const { host, upstream } = await scene();
    const ends: (string | null)[] = [];
    for (const [path, body] of [
      ['/v1/completions', { prompt: 'x' }],
      ['/v1/embeddings', { input: 'x' }],
    ] as const) {
      for (let time = 0; time < 2; time += 1) ends.push(wordOf(await host.post(path, { model: 'm', ...body })));
    }
    expect(ends).to.deep.equal(['miss', 'hit', null, null]);
    expect(upstream.seen).to.have.length(3);
  });

  it('never gives one credential the answer of another', async () => {
    const { send } = await scene();
    expect(
      await words(
        () => send({}, 'key-a'),
        () => send({}, 'key-b'),
        () => send({}, 'key-b'),
      ),
    ).to.deep.equal(['miss', 'miss', 'hit']);
  });

  it('keeps an answer for max_age, which a hit does not renew', async () => {
    const { send, clock } = await scene({ max_age: 10 });
    await send();
    clock.advance(10_000);
    expect(wordOf(await send())).to.equal('hit');
    clock.advance(1);
    expect(
      await words(
        () => send(),
        () => send(),
      ),
    ).to.deep.equal(['miss', 'hit']);
    const standard = await scene();
    await standard.send();
    standard.clock.advance(300_000);
    expect(wordOf(await standard.send())).to.equal('hit');
    standard.clock.advance(1);
    expect(wordOf(await standard.send())).to.equal('miss');
  });

  it('forgets the least recently used beyond max_entries and max_bytes', async () => {
    const bytes = Buffer.byteLength(JSON.stringify(chatReply('answer 1'))) + 30;
    for (const config of [{ max_entries: 2 }, { max_bytes: 2 * bytes }]) {
      const { send } = await scene(config, (_seen, response) => replyJson(response, 200, chatReply('answer 1')));
      const [a, b, c] = [1, 2, 3].map((seed) => () => send({ seed }));
      expect(await words(a!, b!, a!, c!, a!, b!), JSON.stringify(config)).to.deep.equal([
        'miss',
        'miss',
        'hit',
        'miss',
        'hit',
        'miss',
      ]);
    }
  });

  it('keeps nothing with max_entries of 0 or less, and nothing larger than max_bytes', async () => {
    for (const config of [{ max_entries: 0 }, { max_entries: -1 }, { max_bytes: 0 }, { max_bytes: 100 }]) {
      const { send } = await scene(config);
      expect(
        await words(
          () => send(),
          () => send(),
        ),
        JSON.stringify(config),
      ).to.deep.equal(['miss', 'miss']);
    }
  });

  it('goes on over a configuration change with the same settings', async () => {
    const { send, apply } = await scene({ max_age: 60 });
    await send();
    await apply({ max_age: 60 });
    expect(wordOf(await send())).to.equal('hit');
    await apply({ max_age: 61 });
    expect(wordOf(await send())).to.equal('miss');
  });
});

describe('response-cache keeps only', () => {
  const at = (name: string, ...stages: readonly Stage[]): object[] =>
    stages.map((stage) => ({ name, stage, enabled: true }));
  const plugin = (handlers: object, type: PluginModule['type'] = 'guardrail'): PluginModule =>
    definePlugin({
      name: 'p',
      type,
      summary: 'For this test',
      stages: STAGES,
      settings: Joi.object({}),
      create: () => ({ before_request: () => {}, after_request: () => {}, ...handlers }),
    });

  it('what succeeded', async () => {
    let calls = 0;
    const { send } = await scene({}, (_seen, response) =>
      replyJson(response, (calls += 1) < 3 ? 500 : 200, chatReply('x')),
    );
    expect(
      await words(
        () => send(),
        () => send(),
        () => send(),
        () => send(),
      ),
    ).to.deep.equal(['miss', 'miss', 'miss', 'hit']);
  });

  it('what no later plugin withholds, streams included', async () => {
    const { send, upstream } = await scene({}, undefined, {
      modules: [plugin({ after_request: () => reject('no') })],
      behind: at('p', 'after_request'),
    });
    for (const stream of [false, true]) for (let time = 0; time < 2; time += 1) await send({ stream });
    expect(upstream.seen).to.have.length(4);
  });

  it('what does not belong to one request alone', async () => {
    const { send } = await scene({}, undefined, {
      modules: [plugin({ after_request: (exchange: Exchange) => exchange.keepPrivate() })],
      behind: at('p', 'after_request'),
    });
    expect(
      await words(
        () => send(),
        () => send(),
      ),
    ).to.deep.equal(['miss', 'miss']);
  });

  it('what the client was given: later plugins run on it again', async () => {
    const seen: unknown[] = [];
    const louder = plugin({
      before_request: ({ reply }: Exchange) => {
        seen.push(reply !== undefined);
      },
      after_request: ({ reply }: Exchange) => {
        seen.push((reply as ChatReply).choices[0]?.message.content);
      },
    });
    const { send } = await scene({}, (_seen, response) => replyJson(response, 200, chatReply('text')), {
      modules: [louder],
      behind: at('p', 'before_request', 'after_request'),
    });
    for (let time = 0; time < 2; time += 1) await send();
    expect(seen).to.deep.equal([false, 'text', true, 'text']);
  });

  it('a copy: what a plugin does with it changes nothing', async () => {
    const spoil = plugin({
      after_request: ({ reply, answeredBy }: Exchange) => {
        if (answeredBy) ((reply as ChatReply).choices[0]!.message as { content: string }).content = 'spoilt';
      },
    });
    const { send } = await scene({}, (_seen, response) => replyJson(response, 200, chatReply('text')), {
      modules: [spoil],
      behind: at('p', 'after_request'),
    });
    const texts: unknown[] = [];
    for (let time = 0; time < 3; time += 1) texts.push((await send()).json().choices[0].message.content);
    expect(texts).to.deep.equal(['text', 'spoilt', 'spoilt']);
  });

  it('lets a limit behind it refuse a hit', async () => {
    const { send } = await scene({}, undefined, {
      modules: [],
      behind: [{ name: 'rate-limit', stage: 'before_request', enabled: true, config: { key_rpm: 2 } }],
    });
    const statuses: number[] = [];
    for (let time = 0; time < 3; time += 1) statuses.push((await send()).status);
    expect(statuses).to.deep.equal([200, 200, 429]);
  });
});

describe('response-cache with collapse', () => {
  const gated = (status = 200): { handler: StubHandler; open: () => void } => {
    const gate = Promise.withResolvers<void>();
    return {
      open: () => gate.resolve(),
      handler: async (seen, response) => {
        await gate.promise;
        if (seen.json()['stream'] === true) replyStream(response, ['one', ' two']);
        else replyJson(response, status, status === 200 ? chatReply('x') : {});
      },
    };
  };

  for (const stream of [false, true]) {
    it(`calls once for identical requests in flight${stream ? ', streamed' : ''}, of one credential alone`, async () => {
      const { handler, open } = gated();
      const { send, upstream } = await scene({ collapse: true }, handler);
      const pending = ['key-a', 'key-a', 'key-a', 'key-b'].map((key) => send({ stream }, key));
      await eventually(() => upstream.seen.length === 2);
      open();
      const all = await Promise.all(pending);
      expect(all.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      expect(all.map(wordOf)).to.have.members(['hit', 'hit', 'miss', 'miss']);
      expect(upstream.seen).to.have.length(2);
    });
  }

  it('gives the answer to those who wait although it is not kept', async () => {
    const { handler, open } = gated();
    const { send, upstream } = await scene({ collapse: true, max_entries: 0 }, handler);
    const pending = [send(), send()];
    await eventually(() => upstream.seen.length === 1);
    open();
    expect((await Promise.all(pending)).map(wordOf)).to.have.members(['hit', 'miss']);
    expect(wordOf(await send())).to.equal('miss');
  });

  it('lets those who wait go on by themselves when the first fails', async () => {
    const { handler, open } = gated(500);
    const { send, upstream } = await scene({ collapse: true }, handler);
    const pending = [send(), send(), send()];
    await eventually(() => upstream.seen.length === 1);
    open();
    expect((await Promise.all(pending)).map(({ status }) => status)).to.deep.equal([502, 502, 502]);
    expect(upstream.seen).to.have.length(3);
  });

  it('lets one of those who wait take the place of a first whose client has left', async () => {
    const { handler, open } = gated();
    const { host, send, upstream } = await scene({ collapse: true }, handler);
    const leaving = new AbortController();
    const left = fetch(host.url + PATH, {
      method: 'POST',
      headers: { authorization: 'Bearer key-a' },
      body: JSON.stringify(ask('hi')),
      signal: leaving.signal,
    }).catch((error: Error) => error.name);
    await eventually(() => upstream.seen.length === 1);
    const pending = [send(), send(), send(), send()];
    await eventually(() => host.host.activity.count === 5);
    leaving.abort();
    expect(await left).to.equal('AbortError');
    await eventually(() => upstream.seen.length === 2);
    open();
    const all = await Promise.all(pending);
    expect(all.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(all.map(wordOf)).to.have.members(['miss', 'hit', 'hit', 'hit']);
    expect(upstream.seen).to.have.length(2);
  });

  it('waits for no request that has ended while it waited itself', async () => {
    const first = Promise.withResolvers<void>();
    const clock = fakeClock();
    const upstream = await stubUpstream(async (_seen, response) => {
      if (upstream.seen.length > 1) {
        replyStream(response, ['whole']);
        return;
      }
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
      await first.promise;
      response.destroy();
    });
    const host = await startHost(
      {
        request_timeout: '1s',
        targets: [upstream.target('a', { models: ['m'] })],
        plugins: entries({ collapse: true }),
      },
      { clock, builtins: [withKeys('a')] },
    );
    const send = (): Promise<Answer> => host.post(PATH, ask('hi', { stream: true }), { authorization: 'Bearer key-a' });
    const leading = send();
    await eventually(() => upstream.seen.length === 1);
    const waiting = send();
    await eventually(() => host.host.activity.count === 2);
    clock.advance(1000);
    expect((await waiting).status).to.equal(504);
    first.resolve();
    expect((await leading).events().at(-1).error.code).to.equal('stream_error');
    const later = send();
    await eventually(() => upstream.seen.length === 2);
    expect((await later).text).to.match(/whole/);
  });

  it('keeps identical requests apart without it', async () => {
    const { handler, open } = gated();
    const { send, upstream } = await scene({}, handler);
    const pending = [send(), send()];
    await eventually(() => upstream.seen.length === 2);
    open();
    expect((await Promise.all(pending)).map(wordOf)).to.deep.equal(['miss', 'miss']);
  });
});

describe('response-cache, settings', () => {
  it('are refused when they are not right, each by name', async () => {
    const { apply } = await scene();
    const outcome = (config: object, stages?: readonly string[]): Promise<string> =>
      apply(config, stages).then(
        () => 'applied',
        (error: Error) => error.message,
      );
    for (const [setting, value] of [
      ['max_age', -1],
      ['max_age', '300'],
      ['max_entries', 1.5],
      ['max_bytes', -1],
      ['max_bytes', 0.5],
      ['collapse', 'yes'],
      ['ttl', 3],
    ] as const) {
      expect(await outcome({ [setting]: value }), setting)
        .to.include('BV06')
        .and.include('response-cache')
        .and.include(setting);
    }
    expect(await outcome({}, ['before_request']))
      .to.include('BV07')
      .and.include('after_request');
    expect(await outcome({}, ['after_request']))
      .to.include('BV07')
      .and.include('before_request');
    expect(await outcome({}, [...STAGES, 'on_error']))
      .to.include('BV07')
      .and.include('on_error');
    expect(await outcome({ max_entries: -1, max_age: 0.5 })).to.equal('applied');
  });
});
