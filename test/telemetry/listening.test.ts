import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type PluginHandlers, type PluginModule, reject, type Stage } from 'gw/contract';
import { createTrace } from '../../host/boundary/module-log.ts';
import { PluginBoundary } from '../../host/boundary/plugin-boundary.ts';
import { type BuiltinModule, defineBuiltin } from '../../host/builtin.ts';
import { guardHandler } from '../../host/pipeline/guards/guard.ts';
import { createGenerationHooks, type GenerationHooks } from '../../host/pipeline/hooks.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { PluginInstance } from '../../host/pipeline/guards/plugin-instance.ts';
import {
  ask,
  chatReply,
  fakeClock,
  replyJson,
  replyStream,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const failing: StubHandler = (_request, response) => replyJson(response, 500, {});
const serving: StubHandler = (request, response) =>
  request.json()['stream'] === true ? replyStream(response, ['hi']) : replyJson(response, 200, chatReply('hello'));

/** A builtin that listens while a pipeline is put together, as telemetry does. */
function listener(listen: (pipeline: GenerationHooks) => void): BuiltinModule {
  return defineBuiltin({
    name: 'listener',
    apply: ({ hooks }) => hooks.assemble.tapPromise('listener', async ({ hooks: pipeline }) => listen(pipeline)),
  });
}

const count = ({ samples }: TestHost, wanted: string): object[] =>
  samples.filter(({ name }) => name === wanted).map(({ labels }) => labels);

describe('runs of plugins', () => {
  const settings = Joi.object({ observe: Joi.boolean(), stream: Joi.string() });
  const exchange = { surface: 'chat', streaming: true, plugins: {}, delivery: {} } as unknown as LiveExchange;

  function instance(handlers: PluginHandlers, more: Partial<PluginModule> = {}, given: object = {}): PluginInstance {
    const module = definePlugin({
      name: 'p',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['before_request', 'after_request', 'on_error'],
      settings,
      ...more,
      create: () => handlers,
    });
    return {
      module,
      settings: given,
      handlers,
      boundary: new PluginBoundary({ kind: 'plugin', name: 'p', file: undefined }, createTrace()),
    };
  }

  /** What one run of a handler came to, as a listener hears it. */
  async function heard(stage: Stage, plugin: PluginInstance): Promise<unknown[]> {
    const hooks = createGenerationHooks();
    const clock = fakeClock();
    const runs: unknown[] = [];
    hooks.stageRan.tap('test', ({ module, startedAt, endedAt, outcome, reason, error, ...run }) => {
      expect([run.stage, run.exchange, module]).to.deep.equal([stage, exchange, plugin.module]);
      runs.push([outcome, reason ?? (error as Error | undefined)?.message, endedAt - startedAt]);
    });
    const running = guardHandler(plugin, stage, { hooks, clock })?.(exchange);
    if (running instanceof Promise) {
      expect(runs, 'while it runs').to.deep.equal([]);
      clock.advance(30);
    }
    await running;
    return runs;
  }

  const fail = (): never => {
    throw new Error('broken');
  };

  it('are heard once each, with what came of them and how long they took', async () => {
    expect(await heard('before_request', instance({ before_request: () => {} }))).to.deep.equal([['ok', undefined, 0]]);
    expect(await heard('before_request', instance({ before_request: async () => reject('late') }))).to.deep.equal([
      ['rejected', 'late', 30],
    ]);
    expect(await heard('after_request', instance({ after_request: () => reject('no') }))).to.deep.equal([
      ['rejected', 'no', 0],
    ]);
    expect(
      await heard('before_request', instance({ before_request: () => reject('no') }, {}, { observe: true })),
    ).to.deep.equal([['observed', 'no', 0]]);
    expect(
      await heard('after_request', instance({ after_request: () => reject('no') }, {}, { stream: 'record' })),
    ).to.deep.equal([['recorded', 'no', 0]]);
    expect(await heard('before_request', instance({ before_request: fail }))).to.deep.equal([['error', 'broken', 0]]);
    expect(await heard('before_request', instance({ before_request: async () => fail() }))).to.deep.equal([
      ['error', 'broken', 30],
    ]);
    expect(
      await heard('before_request', instance({ before_request: fail }, { type: 'logging' })),
      'a type that fails open',
    ).to.deep.equal([['error', 'broken', 0]]);
    expect(await heard('on_error', instance({ on_error: () => reject('not asked') }))).to.deep.equal([
      ['ok', undefined, 0],
    ]);
  });

  it('are not measured without a listener', () => {
    const clock = {
      monotonic: () => expect.fail('the clock was read'),
      timer: () => expect.fail('a timer was started'),
    };
    expect(
      guardHandler(instance({ before_request: () => {} }), 'before_request', {
        hooks: createGenerationHooks(),
        clock,
      })?.(exchange),
    ).to.equal(undefined);
  });

  it('are those of a request, in order, with its id', async () => {
    const runs: string[] = [];
    const plugin = (name: string): PluginModule =>
      definePlugin({
        name,
        type: 'guardrail',
        summary: 'For this test',
        stages: ['before_request', 'after_request'],
        settings,
        create: () => ({ before_request: () => {}, after_request: async () => {} }),
      });
    const upstream = await stubUpstream(serving);
    const host = await startHost(
      {
        targets: [upstream.target('a')],
        plugins: ['p', 'q'].flatMap((name) => [
          { name, stage: 'before_request', enabled: true },
          { name, stage: 'after_request', enabled: true },
        ]),
      },
      {
        modules: [plugin('p'), plugin('q')],
        builtins: [
          listener(({ stageRan }) =>
            stageRan.tap(
              'test',
              ({ module: { name }, stage, exchange: { id } }) => void runs.push(`${name} ${stage} ${id}`),
            ),
          ),
        ],
      },
    );
    const id = (await host.post(PATH, ask())).headers.get('x-request-id');
    expect(runs).to.deep.equal([
      `p before_request ${id}`,
      `q before_request ${id}`,
      `p after_request ${id}`,
      `q after_request ${id}`,
    ]);
  });
});

describe('verdicts and failures of plugins', () => {
  /** Everything one request's plugin made heard. */
  async function heard(handlers: PluginHandlers, config: object, stream: boolean): Promise<string[]> {
    const events: string[] = [];
    const module = definePlugin({
      name: 'p',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['before_request', 'after_request'],
      settings: Joi.object({ observe: Joi.boolean() }),
      create: () => ({ before_request: () => {}, after_request: () => {}, ...handlers }),
    });
    const upstream = await stubUpstream(serving);
    const host = await startHost(
      {
        targets: [upstream.target('a')],
        plugins: [
          { name: 'p', stage: 'before_request', enabled: true, config },
          { name: 'p', stage: 'after_request', enabled: true, config },
        ],
      },
      {
        modules: [module],
        builtins: [
          listener((pipeline) => {
            pipeline.verdict.tap(
              'test',
              ({ stage, action, reason }) => void events.push(`${stage} ${action}: ${reason}`),
            );
            pipeline.pluginFailed.tap(
              'test',
              ({ at, fault, isOpen }) =>
                void events.push(`${at} failed${isOpen ? ', open' : ''}: ${(fault.cause as Error).message}`),
            );
          }),
        ],
      },
    );
    await host.post(PATH, ask('hi', { stream }));
    return events;
  }

  const fail = (): never => {
    throw new Error('broken');
  };
  const refusing = { push: () => reject('chunk'), end: () => [] };

  it('are heard wherever they happen, stages and streams alike', async () => {
    expect(await heard({ before_request: () => reject('no') }, {}, false)).to.deep.equal([
      'before_request rejected: no',
    ]);
    expect(await heard({ after_request: () => reject('no') }, { observe: true }, false)).to.deep.equal([
      'after_request observed: no',
    ]);
    expect(await heard({ stream: () => refusing }, {}, true)).to.deep.equal(['after_request rejected: chunk']);
    expect(
      await heard({ stream: () => refusing, after_request: () => reject('the same') }, { observe: true }, true),
    ).to.deep.equal(['after_request observed: chunk']);
    expect(await heard({ before_request: fail }, {}, false)).to.deep.equal(['before_request failed: broken']);
    expect(await heard({ stream: fail }, {}, true)).to.deep.equal(['guard failed: broken']);
    expect(await heard({ stream: () => ({ push: fail, end: () => [] }) }, {}, true)).to.deep.equal([
      'stream failed: broken',
    ]);
    expect(await heard({ finished: fail }, {}, false)).to.deep.equal(['finished failed, open: broken']);
  });
});

describe('tries that fail', () => {
  const retry = { retry: { attempts: 2, initial_backoff_ms: 1 } };

  async function heard(
    handlers: Readonly<Record<string, StubHandler>>,
    more: Readonly<Record<string, object>> = {},
  ): Promise<{ readonly tries: string[]; readonly host: TestHost }> {
    const tries: string[] = [];
    const targets = await Promise.all(
      Object.entries(handlers).map(async ([name, handler]) =>
        (await stubUpstream(handler)).target(name, more[name] ?? {}),
      ),
    );
    const host = await startHost(
      { strategy: { mode: 'fallback' }, targets },
      {
        builtins: [
          listener(({ tryFailed }) =>
            tryFailed.tap(
              'test',
              ({ target, tries: number, next, error }) =>
                void tries.push(`${target.virtualKey} ${number} ${error.fault?.status}: ${next.step}`),
            ),
          ),
        ],
      },
    );
    await host.post(PATH, ask());
    return { tries, host };
  }

  it('are heard once each, with what follows', async () => {
    const { tries, host } = await heard({ a: failing, b: serving }, { a: retry });
    expect(tries).to.deep.equal(['a 1 500: again', 'a 2 500: advance']);
    expect(count(host, 'gateway_provider_errors_total')).to.deep.equal([
      { provider: 'a', error_type: 'provider_error' },
    ]);
  });

  it('end with a stop where no target is left, or none that serves', async () => {
    expect((await heard({ a: failing, b: failing })).tries).to.deep.equal(['a 1 500: advance', 'b 1 500: stop']);
    expect((await heard({ a: failing, b: serving }, { b: { models: ['other'] } })).tries).to.deep.equal([
      'a 1 500: stop',
    ]);
  });

  it('are not heard of requests that succeed, nor of those that no target serves', async () => {
    expect((await heard({ a: serving })).tries).to.deep.equal([]);
    expect((await heard({ a: serving }, { a: { models: ['other'] } })).tries).to.deep.equal([]);
  });
});

describe('moves of a circuit', () => {
  it('are heard once each with the attempt that made or met them, and those that decide something are logged', async () => {
    const clock = fakeClock();
    const moves: string[] = [];
    let isDown = true;
    const upstream = await stubUpstream((request, response) => void (isDown ? failing : serving)(request, response));
    const host = await startHost(
      { targets: [upstream.target('a', { circuit_breaker: { failure_threshold: 1, timeout: '1s' } })] },
      {
        clock,
        builtins: [
          listener(({ circuitMoved }) =>
            circuitMoved.tap(
              'test',
              ({ from, to, attempt: { target, exchange } }) =>
                void moves.push(`${target.virtualKey} ${from} to ${to} ${exchange.id}`),
            ),
          ),
        ],
      },
    );
    const ids: (string | null)[] = [];
    const call = async (): Promise<void> => void ids.push((await host.post(PATH, ask())).headers.get('x-request-id'));
    await call(); // opens it
    await call(); // is refused
    clock.advance(1001);
    expect(host.host.current?.hooks.circuit.call('a'), 'a look without an attempt').to.equal('half-open');
    expect(moves).to.have.lengthOf(1);
    isDown = false;
    await call(); // is the probe
    await call();
    expect(moves).to.deep.equal([
      `a closed to open ${ids[0]}`,
      `a open to half-open ${ids[2]}`,
      `a half-open to closed ${ids[2]}`,
    ]);
    expect(
      host.lines
        .filter(({ msg }) => msg === 'circuit breaker moved')
        .map(({ from, to, target, trace_id: id, level }) => [level, target, from, to, id]),
    ).to.deep.equal([
      ['WARN', 'a', 'closed', 'open', ids[0]],
      ['WARN', 'a', 'half-open', 'closed', ids[2]],
    ]);
  });
});
