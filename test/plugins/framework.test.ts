import { expect } from 'chai';
import Joi from 'joi';
import {
  definePlugin,
  type Exchange,
  type PluginHandlers,
  type PluginModule,
  type PluginType,
  reject,
  type Stage,
  type Verdict,
} from 'gw/contract';
import {
  type Answer,
  ask,
  chatReply,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const STAGES: readonly Stage[] = ['before_request', 'after_request', 'on_error'];
const TYPES: readonly PluginType[] = ['guardrail', 'ratelimit', 'transform', 'auth', 'logging', 'metrics'];
const isOpen = (type: PluginType): boolean => type === 'logging' || type === 'metrics';

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

type Handle = (exchange: Exchange) => Verdict | undefined | void | Promise<Verdict | undefined | void>;

/** A plugin with these handlers, and at other stages one that does nothing. */
function plugin(name: string, handlers: PluginHandlers, more: Partial<PluginModule> = {}): PluginModule {
  const idle = { before_request: () => {}, after_request: () => {}, on_error: () => {} };
  return definePlugin({
    name,
    type: 'guardrail',
    summary: 'For this test',
    stages: STAGES,
    settings: Joi.object({}),
    ...more,
    create: () => ({ ...idle, ...handlers }),
  });
}

const at = (name: string, ...stages: readonly Stage[]): object[] =>
  stages.map((stage) => ({ name, stage, enabled: true }));

interface Run {
  readonly answer: Answer;
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

async function run(
  plugins: readonly object[],
  modules: readonly PluginModule[],
  options: TestHostOptions = {},
  status = 200,
): Promise<Run> {
  const upstream = await stubUpstream((_request, response) =>
    replyJson(response, status, status === 200 ? chatReply('hello') : {}),
  );
  const host = await startHost({ targets: [upstream.target('a')], plugins }, { ...options, modules });
  return { upstream, host, answer: await host.post(PATH, ask()) };
}

const rows = (host: TestHost): object[] =>
  host.samples.filter(({ name }) => name === 'gateway_requests_total').map(({ labels }) => labels);

describe('a rejection', () => {
  for (const type of TYPES) {
    const [status, error] =
      type === 'ratelimit'
        ? [429, { type: 'rate_limit_error', code: 'rate_limit_exceeded' }]
        : [400, { type: 'invalid_request_error', code: 'request_rejected' }];
    it(`before the request is honoured from any type: ${type} answers ${status}`, async () => {
      const { answer, upstream, host } = await run(at('p', 'before_request'), [
        plugin('p', { before_request: () => reject('too much') }, { type }),
      ]);
      expect(answer.status).to.equal(status);
      expect(answer.json().error).to.deep.equal({
        ...error,
        message: 'request rejected by p (before_request): too much',
      });
      expect(answer.headers.get('retry-after')).to.equal(type === 'ratelimit' ? '1' : null);
      expect(upstream.seen).to.deep.equal([]);
      expect(rows(host)).to.deep.equal([{ provider: 'none', model: 'm', status: 'rejected' }]);
      expect(host.samples.some(({ name }) => name === 'gateway_provider_errors_total')).to.equal(false);
    });

    it(`after it withholds the answer with 502: ${type}`, async () => {
      const { answer, host } = await run(at('p', 'after_request'), [
        plugin('p', { after_request: () => reject('too rude', { retryAfterMs: 5000 }) }, { type }),
      ]);
      expect(answer.status).to.equal(502);
      expect(answer.json().error).to.deep.equal({
        type: 'upstream_error',
        code: 'response_rejected',
        message: 'response rejected by p (after_request): too rude',
      });
      expect(answer.headers.get('retry-after')).to.equal(null);
      expect(answer.text).to.not.include('hello');
      expect(rows(host)).to.deep.equal([{ provider: 'a', model: 'm', status: 'rejected' }]);
      expect(host.samples.find(({ name }) => name === 'gateway_tokens_output_total')?.value).to.equal(7);
    });
  }

  it('may come from a promise of another library', async () => {
    const pending = (verdict: unknown) => ({
      then: (resolve: (value: unknown) => void) => setImmediate(resolve, verdict),
    });
    for (const [verdict, status] of [
      [undefined, 200],
      [reject('late'), 400],
    ] as const) {
      const { answer } = await run(at('p', 'before_request', 'after_request'), [
        plugin('p', {
          before_request: () => pending(verdict) as never,
          after_request: () => pending(undefined) as never,
        }),
      ]);
      expect(answer.status).to.equal(status);
    }
  });

  it('of a limit tells when to come back, rounded up', async () => {
    const { answer } = await run(at('p', 'before_request'), [
      plugin('p', { before_request: () => reject('slow down', { retryAfterMs: 2100 }) }, { type: 'ratelimit' }),
    ]);
    expect(answer.headers.get('retry-after')).to.equal('3');
  });

  it('of anything else tells no time', async () => {
    const { answer } = await run(at('p', 'before_request'), [
      plugin('p', { before_request: () => reject('no', { retryAfterMs: 2100 }) }),
    ]);
    expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([400, null]);
  });

  it('of a spent quota is 402, and never tells a time', async () => {
    const { answer } = await run(at('p', 'before_request'), [
      plugin(
        'p',
        { before_request: () => reject('spent', { retryAfterMs: 2100 }) },
        { type: 'ratelimit', rejectsAs: 'insufficient_quota' },
      ),
    ]);
    expect(answer.status).to.equal(402);
    expect(answer.json().error).to.include({ type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(answer.headers.get('retry-after')).to.equal(null);
  });

  it('without a reason says "rejected"', async () => {
    const { answer } = await run(at('p', 'before_request'), [plugin('p', { before_request: () => reject('') })]);
    expect(answer.json().error.message).to.equal('request rejected by p (before_request): rejected');
  });

  it('is an ordinary answer also where a stream was asked for', async () => {
    const { host } = await run(at('p', 'before_request'), [plugin('p', { before_request: () => reject('no') })]);
    const answer = await host.post(PATH, ask('hi', { stream: true }));
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([400, 'application/json']);
  });
});

describe('a fault', () => {
  const faults: readonly (readonly [string, Handle])[] = [
    [
      'throws',
      () => {
        throw new Error('secret detail');
      },
    ],
    ['rejects its promise', () => Promise.reject(new Error('secret detail'))],
    [
      'throws something that is not an error',
      () => {
        throw 'secret detail';
      },
    ], // oxlint-disable-line typescript/only-throw-error -- what plugins may do
    ['returns what is not a verdict', () => ({ action: 'secret detail' }) as never],
    ['returns a promise of what is not a verdict', async () => 'secret detail' as never],
    ...[null, false, true, 0, '', []].flatMap((value): (readonly [string, Handle])[] => [
      [`returns ${JSON.stringify(value)}`, () => value as never],
      [`returns a promise of ${JSON.stringify(value)}`, async () => value as never],
    ]),
    ['rewrites and gives no body', () => ({ action: 'rewrite' }) as never],
    ['rewrites with a text', async () => ({ action: 'rewrite', body: 'secret detail' }) as never],
  ];

  for (const [what, fault] of faults) {
    for (const stage of ['before_request', 'after_request'] as const) {
      it(`of one that ${what} at ${stage} is 500 from a type that fails closed, and nothing from one that fails open`, async () => {
        for (const type of TYPES) {
          const { answer, host } = await run(at('p', stage), [plugin('p', { [stage]: fault }, { type })]);
          if (isOpen(type)) {
            expect(answer.status, type).to.equal(200);
            continue;
          }
          expect(answer.status, type).to.equal(500);
          expect(answer.json().error).to.deep.equal({
            type: 'server_error',
            code: 'plugin_error',
            message: 'the gateway could not complete the request',
          });
          expect(rows(host)).to.deep.equal([
            { provider: stage === 'before_request' ? 'none' : 'a', model: 'm', status: 'error' },
          ]);
        }
      });
    }
  }

  it('is described in the log alone', async () => {
    const { answer, host } = await run(at('p', 'before_request'), [
      plugin('p', {
        before_request: () => {
          throw new Error('secret detail');
        },
      }),
    ]);
    expect(answer.text).to.not.include('secret detail');
    expect(
      host.lines.some((line) => line['plugin'] === 'p' && String(line['error']).includes('secret detail')),
    ).to.equal(true);
  });

  it('of a broken limit is 500, not 429', async () => {
    const { answer } = await run(at('p', 'before_request'), [
      plugin(
        'p',
        {
          before_request: () => {
            throw new Error('x');
          },
        },
        { type: 'ratelimit' },
      ),
    ]);
    expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([500, null]);
  });
});

describe('a chain of plugins', () => {
  it('ends at the first rejection or fault, before and after', async () => {
    for (const stage of ['before_request', 'after_request'] as const) {
      for (const stop of [
        () => reject('no'),
        (): never => {
          throw new Error('x');
        },
      ]) {
        const seen: string[] = [];
        const one = plugin('one', {
          [stage]: () => {
            seen.push('one');
          },
        });
        const two = plugin('two', { [stage]: stop });
        const three = plugin('three', {
          [stage]: () => {
            seen.push('three');
          },
        });
        await run([...at('one', stage), ...at('two', stage), ...at('three', stage)], [one, two, three]);
        expect(seen).to.deep.equal(['one']);
      }
    }
  });

  it('waits for a plugin that takes its time', async () => {
    const seen: string[] = [];
    const slow = plugin('slow', {
      before_request: async () => {
        await sleep(30);
        seen.push('slow');
      },
    });
    const fast = plugin('fast', {
      before_request: () => {
        seen.push('fast');
      },
    });
    await run([...at('slow', 'before_request'), ...at('fast', 'before_request')], [slow, fast]);
    expect(seen).to.deep.equal(['slow', 'fast']);
  });

  it('shows each plugin the stage, and what is known there', async () => {
    const seen: unknown[] = [];
    const look = ({ stage, reply, error, target, provider, attempts, usage, measurements }: Exchange): void => {
      seen.push([
        stage,
        reply !== undefined,
        error?.code,
        target,
        provider,
        attempts,
        usage?.total_tokens,
        measurements.costUsd,
        measurements.ttftMs,
      ]);
    };
    const watch = plugin('watch', { before_request: look, after_request: look, on_error: look }, { type: 'metrics' });
    await run(at('watch', ...STAGES), [watch]);
    await run(at('watch', ...STAGES), [watch], {}, 500);
    expect(seen).to.deep.equal([
      ['before_request', false, undefined, undefined, undefined, 0, undefined, undefined, undefined],
      ['after_request', true, undefined, 'a', 'a', 1, 18, undefined, undefined],
      ['before_request', false, undefined, undefined, undefined, 0, undefined, undefined, undefined],
      ['on_error', false, 'upstream_error', 'a', 'a', 1, undefined, undefined, undefined],
    ]);
  });
});

describe('on_error', () => {
  const failures: readonly (readonly [string, PluginModule, Stage | undefined, string])[] = [
    [
      'a rejection before',
      plugin('cause', { before_request: () => reject('no') }),
      'before_request',
      'request_rejected',
    ],
    [
      'a fault before',
      plugin('cause', {
        before_request: () => {
          throw new Error('x');
        },
      }),
      'before_request',
      'plugin_error',
    ],
    ['a rejection after', plugin('cause', { after_request: () => reject('no') }), 'after_request', 'response_rejected'],
    [
      'a fault after',
      plugin('cause', {
        after_request: () => {
          throw new Error('x');
        },
      }),
      'after_request',
      'plugin_error',
    ],
    ['an upstream failure', plugin('cause', {}), undefined, 'upstream_error'],
  ];

  for (const [what, cause, stage, code] of failures) {
    it(`runs every on_error handler once for ${what}`, async () => {
      const told: string[] = [];
      const listeners = ['x', 'y'].map((name) =>
        plugin(name, {
          on_error: ({ error }) => {
            told.push(`${name} ${error?.code}`);
          },
        }),
      );
      await run(
        [...at('x', 'on_error'), ...(stage ? at('cause', stage) : []), ...at('y', 'on_error')],
        [cause, ...listeners],
        {},
        stage ? 200 : 500,
      );
      expect(told).to.deep.equal([`x ${code}`, `y ${code}`]);
    });
  }

  it('goes on through faults and rejections, which change nothing, whatever the type', async () => {
    for (const type of TYPES) {
      const told: string[] = [];
      const modules = [
        plugin(
          'one',
          {
            on_error: () => {
              throw new Error('x');
            },
          },
          { type },
        ),
        plugin('two', { on_error: () => reject('no') }, { type }),
        plugin('three', { on_error: () => Promise.reject(new Error('x')) }, { type }),
        plugin('four', {
          on_error: () => {
            told.push('four');
          },
        }),
      ];
      const { answer } = await run(
        modules.flatMap(({ name }) => at(name, 'on_error')),
        modules,
        {},
        500,
      );
      expect(answer.json().error.code).to.equal('upstream_error');
      expect(told).to.deep.equal(['four']);
    }
  });

  it('is waited for no longer than 10 s', async () => {
    const clock = fakeClock();
    const entered = Promise.withResolvers<void>();
    const hanging = plugin('hanging', {
      on_error: () => {
        entered.resolve();
        return new Promise<void>(() => {});
      },
    });
    const pending = run(at('hanging', 'on_error'), [hanging], { clock }, 500);
    await entered.promise;
    await sleep(20);
    clock.advance(9999);
    expect(await Promise.race([pending.then(() => 'answered'), sleep(40).then(() => 'waiting')])).to.equal('waiting');
    clock.advance(1);
    expect((await pending).answer.status).to.equal(502);
  });
});

describe('finished', () => {
  it('is called exactly once, whatever stages are listed, with how it ended', async () => {
    for (const [handlers, stage, status, outcome] of [
      [{}, 'on_error', 200, 'success'],
      [{}, 'after_request', 500, 'error'],
      [{ before_request: () => reject('no') }, 'before_request', 200, 'rejected'],
      [{ after_request: () => reject('no') }, 'after_request', 200, 'rejected'],
      [
        {
          before_request: (): never => {
            throw new Error('x');
          },
        },
        'before_request',
        200,
        'error',
      ],
    ] as const) {
      const ends: string[] = [];
      await run(
        at('p', stage),
        [
          plugin('p', {
            before_request: () => {},
            after_request: () => {},
            on_error: () => {},
            ...handlers,
            finished: (_exchange, how) => {
              ends.push(how);
            },
          }),
        ],
        {},
        status,
      );
      expect(ends).to.deep.equal([outcome]);
    }
  });

  it('may fail without harm', async () => {
    const ends: string[] = [];
    const one = plugin('one', {
      finished: () => {
        throw new Error('x');
      },
    });
    const two = plugin('two', {
      finished: () => {
        ends.push('two');
      },
    });
    const { answer, host } = await run([...at('one', 'before_request'), ...at('two', 'before_request')], [one, two]);
    expect(answer.status).to.equal(200);
    expect(ends).to.deep.equal(['two']);
    expect((await host.post(PATH, ask())).status).to.equal(200);
  });

  it('is called for every request of many at once', async () => {
    const open = new Set<string>();
    let ends = 0;
    const p = plugin('p', {
      before_request: ({ id }) => {
        open.add(id);
      },
      finished: ({ id }) => {
        if (open.delete(id)) ends += 1;
      },
    });
    const { host } = await run(at('p', 'before_request'), [p]);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => host.post(PATH, ask('hi', { model: index % 3 === 0 ? 'nosuch' : 'm' }))),
    );
    expect(open.size).to.equal(0);
    expect(ends).to.equal(14);
  });
});
