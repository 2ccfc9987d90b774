import { expect } from 'chai';
import Joi from 'joi';
import {
  answer,
  type ChatReply,
  type ChatRequest,
  definePlugin,
  type Exchange,
  ExchangeNote,
  mask,
  type PluginDeps,
  type PluginHandlers,
  type PluginModule,
  reject,
  type Stage,
} from 'gw/contract';
import { listedSettings } from '../../host/config/module-settings.ts';
import {
  type Answer,
  ask,
  chatReply,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const SETTINGS = { observe: Joi.boolean(), stream: Joi.string(), fail: Joi.string() };

type Make = (deps: PluginDeps) => PluginHandlers;

function plugin(name: string, make: Make, more: Partial<PluginModule> = {}): PluginModule {
  const idle = { before_request: () => {}, after_request: () => {}, on_error: () => {} };
  return definePlugin({
    name,
    type: 'guardrail',
    summary: 'For this test',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object(SETTINGS),
    ...more,
    create: (_settings, deps) => ({ ...idle, ...make(deps) }),
  });
}

const at = (name: string, stage: Stage, config?: object): object => ({
  name,
  stage,
  enabled: true,
  ...(config && { config }),
});

interface Run {
  readonly answer: Answer;
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

async function run(plugins: readonly object[], modules: readonly PluginModule[], request: object = {}): Promise<Run> {
  const upstream = await stubUpstream((seen, response) => {
    if (seen.json()['stream'] === true) replyStream(response, ['hello']);
    else replyJson(response, 200, chatReply('hello', { model: 'upstream-name' }));
  });
  const host = await startHost({ targets: [upstream.target('a')], plugins }, { modules });
  return { upstream, host, answer: await host.post(PATH, ask('hi', request)) };
}

const verdicts = ({ samples }: TestHost): object[] =>
  samples
    .filter(({ name }) => name === 'gateway_guardrail_verdicts_total')
    .map(({ labels, value }) => ({ ...labels, value }));
const lines = ({ lines: all }: TestHost, msg: string): Record<string, unknown>[] =>
  all.filter((line) => line['msg'] === msg);

describe('what a plugin remembers of a request', () => {
  it("lasts from stage to stage, is each instance's own and each request's own", async () => {
    const seen: unknown[] = [];
    const remembering = plugin(
      'r',
      () => {
        const note = new ExchangeNote<string>();
        return {
          before_request: (exchange) => {
            seen.push(note.get(exchange));
            note.put(exchange, exchange.id);
          },
          after_request: (exchange) => {
            seen.push([note.get(exchange) === exchange.id, note.take(exchange) === exchange.id, note.take(exchange)]);
          },
        };
      },
      { settings: Joi.object({ label: Joi.string() }) },
    );
    const { host } = await run([at('r', 'before_request'), at('r', 'after_request')], [remembering]);
    await host.post(PATH, ask());
    expect(seen).to.deep.equal([undefined, [true, true, undefined], undefined, [true, true, undefined]]);
    seen.length = 0;
    await run([at('r', 'before_request', { label: 'x' }), at('r', 'before_request', { label: 'y' })], [remembering]);
    expect(seen).to.deep.equal([undefined, undefined]);
  });
});

describe('the identity of an instance', () => {
  it('is the same after a configuration change, and another one for other settings', async () => {
    const ids: string[] = [];
    const named = plugin('n', ({ identity }) => {
      ids.push(identity);
      return {};
    });
    const { host, upstream } = await run([at('n', 'before_request', { fail: 'open', observe: false })], [named]);
    await host.apply({
      targets: [upstream.target('a')],
      plugins: [at('n', 'before_request', { observe: false, fail: 'open' })],
    });
    await host.apply({ targets: [upstream.target('a')], plugins: [at('n', 'before_request', { observe: true })] });
    expect([ids[0] === ids[1], ids[1] === ids[2]]).to.deep.equal([true, false]);
    for (const id of ids) expect(id).to.match(/^n [0-9a-f]{64}$/);
  });
});

describe('a guardrail that masks', () => {
  const hide = ({ request, stage, reply }: Exchange): ReturnType<typeof mask> =>
    stage === 'after_request'
      ? mask({ ...(reply as ChatReply), choices: [] }, 'answer hidden')
      : mask({ ...(request as ChatRequest), messages: [{ role: 'user', content: '[X]' }] }, 'text hidden');
  const hiding = plugin('h', () => ({ before_request: hide, after_request: hide }));

  it('rewrites and is counted, without a line', async () => {
    const {
      answer: given,
      upstream,
      host,
    } = await run([at('h', 'before_request'), at('h', 'after_request')], [hiding]);
    expect(upstream.seen[0]?.json()['messages']).to.deep.equal([{ role: 'user', content: '[X]' }]);
    expect(given.json().choices).to.deep.equal([]);
    expect(verdicts(host)).to.deep.equal([
      { plugin: 'h', stage: 'before_request', action: 'masked', value: 1 },
      { plugin: 'h', stage: 'after_request', action: 'masked', value: 1 },
    ]);
    expect(host.texts.some((text) => text.includes('text hidden'))).to.equal(false);
  });

  it('changes nothing while it observes, and tells the log', async () => {
    const { answer: given, upstream, host } = await run([at('h', 'before_request', { observe: true })], [hiding]);
    expect([upstream.seen[0]?.json()['messages'], given.status]).to.deep.equal([
      [{ role: 'user', content: 'hi' }],
      200,
    ]);
    expect(verdicts(host)).to.deep.equal([{ plugin: 'h', stage: 'before_request', action: 'observed', value: 1 }]);
    expect(lines(host, 'guardrail observed')[0]).to.include({
      plugin: 'h',
      stage: 'before_request',
      observe: true,
      reason: 'text hidden',
    });
  });

  it('only records what it finds in a stream with stream: record', async () => {
    const { host } = await run([at('h', 'after_request', { stream: 'record' })], [hiding], { stream: true });
    expect(verdicts(host)).to.deep.equal([{ plugin: 'h', stage: 'after_request', action: 'recorded', value: 1 }]);
  });

  for (const observe of [false, true]) {
    it(`in a stream is counted once by its guard${observe ? ', as observed while it observes' : ''}`, async () => {
      const guard = plugin('g', () => ({
        stream: () => {
          let masked: string | undefined;
          return {
            get masked() {
              return masked;
            },
            push: (chunk) => {
              for (const { delta } of chunk.choices)
                if (delta.content) [delta.content, masked] = ['[X]', 'piece hidden'];
              return [chunk];
            },
            end: () => [],
          };
        },
      }));
      const { answer: given, host } = await run([at('g', 'after_request', { observe })], [guard], { stream: true });
      expect(given.text.includes('hello')).to.equal(observe);
      expect(verdicts(host)).to.deep.equal([
        { plugin: 'g', stage: 'after_request', action: observe ? 'observed' : 'masked', value: 1 },
      ]);
    });
  }
});

describe('a score', () => {
  it('stands in the line of an observed verdict', async () => {
    const sure = plugin('s', () => ({ before_request: () => reject('attack', { score: 0.75 }) }));
    const { host } = await run([at('s', 'before_request', { observe: true })], [sure]);
    expect(lines(host, 'guardrail observed')[0]).to.include({ plugin: 's', score: 0.75 });
  });
});

describe('fail: open', () => {
  const broken: Make = () => ({
    before_request: () => Promise.reject(new Error('away')),
    after_request: () => {
      throw new Error('away');
    },
    stream: () => ({
      push: () => {
        throw new Error('away');
      },
      end: () => [],
    }),
  });

  it('lets requests pass with a warning when the guardrail itself fails', async () => {
    for (const stream of [false, true]) {
      const { answer: given, host } = await run(
        [at('b', 'before_request', { fail: 'open' }), at('b', 'after_request', { fail: 'open' })],
        [plugin('b', broken)],
        { stream },
      );
      expect(given.status).to.equal(200);
      expect(given.text).to.include('hello');
      const warned = host.lines
        .filter(({ level, plugin: name }) => level === 'WARN' && name === 'b')
        .map(({ stage }) => stage);
      expect(warned).to.include.members(['before_request', 'after_request']);
    }
  });

  it('is read of guardrails alone, and nothing else opens one', async () => {
    for (const [type, fail] of [
      ['guardrail', 'closed'],
      ['auth', 'open'],
      ['transform', 'open'],
    ] as const) {
      const { answer: given } = await run([at('b', 'before_request', { fail })], [plugin('b', broken, { type })]);
      expect([given.status, given.json().error.code], type).to.deep.equal([500, 'plugin_error']);
    }
  });
});

describe('settings that stand in no catalogue', () => {
  it('are accepted', async () => {
    const settings = Joi.object({ url: Joi.string(), headers: Joi.object() });
    const module = plugin('w', () => ({}), { settings, unlistedSettings: ['headers'] });
    expect(listedSettings(module)).to.deep.equal(['url']);
    expect(
      (await run([at('w', 'before_request', { url: 'x', headers: { a: 'b' } })], [module])).answer.status,
    ).to.equal(200);
  });

  it('that are ignored are warned of, with what takes their place', async () => {
    const module = plugin('t', () => ({}), { settings: Joi.object({}), toleratedSettings: { dsn: 'SOME_STORE_DSN' } });
    const { host } = await run([at('t', 'before_request', { dsn: 'x' })], [module]);
    expect(lines(host, 'plugin setting is ignored, use SOME_STORE_DSN')).to.have.length(1);
  });
});

describe('the log of an answer', () => {
  it("may name the model that the upstream reported, also of a plugin's answer, with the provider that made it", async () => {
    const seen: unknown[] = [];
    const watch = plugin(
      'watch',
      () => ({
        after_request: ({ reportedModel, reply, measurements }) => {
          seen.push([reportedModel, (reply as ChatReply).provider, measurements.durationMs > 0]);
        },
      }),
      { type: 'logging' },
    );
    for (const stream of [false, true]) await run([at('watch', 'after_request')], [watch], { stream });
    const cached = plugin(
      'c',
      () => ({
        before_request: () =>
          answer(chatReply('hello', { provider: 'first' }) as ChatReply, { reportedModel: 'm-2024' }),
      }),
      { type: 'transform', keepsModel: true },
    );
    const hit = await run([at('c', 'before_request'), at('watch', 'after_request')], [cached, watch]);
    expect(seen).to.deep.equal([
      ['upstream-name', 'a', true],
      ['upstream-model', 'a', true],
      ['m-2024', 'first', false],
    ]);
    expect(hit.answer.json()).to.include({ provider: 'first', model: 'm' });
  });

  it('says in its line cache only where a cache answered', async () => {
    const answering = (word?: string): PluginModule =>
      plugin(
        'c',
        () => ({
          before_request: (exchange) => {
            if (word !== undefined) exchange.setHeader('X-Gateway-Cache', word);
            return answer(chatReply('hello') as ChatReply);
          },
        }),
        { type: 'transform', keepsModel: true },
      );
    for (const word of ['hit', undefined, 'odd']) {
      const { host } = await run([at('c', 'before_request')], [answering(word)]);
      expect(lines(host, 'request completed')[0]?.['provider']).to.equal(word === 'hit' ? 'cache' : '');
    }
  });
});

describe('refusals of a rate limit', () => {
  it('are counted, those of a quota are not', async () => {
    for (const [rejectsAs, count] of [
      [undefined, 1],
      ['rate_limit_exceeded', 1],
      ['insufficient_quota', 0],
    ] as const) {
      const limit = plugin('l', () => ({ before_request: () => reject('no') }), {
        type: 'ratelimit',
        ...(rejectsAs && { rejectsAs }),
      });
      const { host } = await run([at('l', 'before_request')], [limit]);
      expect(
        host.samples.filter(
          ({ name, labels }) => name === 'gateway_rate_limit_rejections_total' && labels['key_type'] === 'plugin',
        ),
      ).to.have.length(count);
    }
  });
});

describe('the highest price of a request', () => {
  it('is that of the dearest target that serves it, class by class', async () => {
    const seen: unknown[] = [];
    const asking = plugin('ask', ({ prices }) => ({
      before_request: (exchange) => {
        seen.push(prices.highest(exchange));
      },
    }));
    const upstreams = await Promise.all(
      ['a', 'b', 'c'].map(async (name) =>
        (await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')))).target(
          name,
          name === 'c' ? { models: ['other'] } : { model_map: { m: `${name}-m` } },
        ),
      ),
    );
    const host = await startHost(
      { strategy: { mode: 'fallback' }, targets: upstreams, plugins: [at('ask', 'before_request')] },
      { modules: [asking] },
    );
    const none = {
      input: undefined,
      output: undefined,
      cacheRead: undefined,
      cacheWrite: undefined,
      embedding: undefined,
      image: undefined,
      audioMinute: undefined,
      character: undefined,
    };
    const prices = new Map<string, object>([
      ['a a-m', { ...none, input: 2, output: 3 }],
      ['b b-m', { ...none, input: 1, output: 9, cacheRead: 0 }],
      ['c m', { ...none, input: 100 }],
    ]);
    const { services } = host.host;
    services.catalog = {
      ...services.catalog,
      tokenPrice: (target, model) => prices.get(`${target} ${model}`) as never,
    };
    await host.post(PATH, ask());
    prices.clear();
    await host.post(PATH, ask());
    expect(seen).to.deep.equal([{ ...none, input: 2, output: 9, cacheRead: 0 }, undefined]);
  });
});
