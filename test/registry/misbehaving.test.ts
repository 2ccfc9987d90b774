import { expect } from 'chai';
import Joi from 'joi';
import {
  definePlugin,
  defineStrategy,
  type PluginHandlers,
  type PluginModule,
  type PluginType,
  type ProviderModule,
  type StrategyModule,
  type WireRequest,
} from 'gw/contract';
import { ConfigRefused, type Problem } from '../../host/config/problems.ts';
import {
  type Answer,
  ask,
  chatReply,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const boom = (): never => {
  throw new Error('the module broke');
};
const toUpstream = (): WireRequest => ({ path: '/chat', body: {} });

/** Asks a fallback whose first target is this provider and whose second is sound. */
async function askBeside(module: Partial<ProviderModule>, stream: boolean, status = 200): Promise<Answer> {
  const healthy = (content: string) =>
    stubUpstream((_request, response) =>
      stream ? replyStream(response, [content]) : replyJson(response, 200, chatReply(content)),
    );
  const first =
    status === 200
      ? await healthy('first')
      : await stubUpstream((_request, response) => {
          response.writeHead(status, { 'content-type': 'text/html' }).end('<html>');
        });
  const second = await healthy('second');
  const host = await startHost({
    strategy: { mode: 'fallback' },
    targets: [first.target('a', {}, module), second.target('b')],
  });
  return host.post('/v1/chat/completions', ask('hi', { stream }));
}

function plugin(type: PluginType, handlers: PluginHandlers): PluginModule {
  return definePlugin({
    name: 'odd',
    type,
    summary: 's',
    stages: ['before_request', 'after_request'],
    settings: Joi.object({}),
    create: () => handlers,
  });
}

async function hostWith(module: PluginModule, stages: readonly string[] = module.stages): Promise<TestHost> {
  const upstream = await stubUpstream((request, response) =>
    request.json()['stream'] ? replyStream(response, ['hi']) : replyJson(response, 200, chatReply('hi')),
  );
  const plugins = stages.map((stage) => ({ name: module.name, stage, enabled: true }));
  return startHost({ strategy: { mode: 'fallback' }, targets: [upstream.target('a')], plugins }, { modules: [module] });
}

/** Problems a configuration is refused for when it is applied. */
async function refusal(starting: Promise<unknown>): Promise<readonly Problem[]> {
  const error = await starting.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error, 'the refusal').to.be.instanceOf(ConfigRefused);
  return (error as ConfigRefused).problems;
}

describe('a provider that breaks', () => {
  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole';

    it(`while it reads an error body is taken for one that cannot read it, and the next target answers (${how})`, async () => {
      const answer = await askBeside({ toFault: boom }, stream, 502);
      expect([answer.status, answer.headers.get('x-gateway-target')]).to.deep.equal([200, 'b']);
    });

    it(`while it talks to its service has failed, and the next target answers (${how})`, async () => {
      const answer = await askBeside({ converse: async () => boom() }, stream);
      expect([answer.status, answer.headers.get('x-gateway-target')]).to.deep.equal([200, 'b']);
    });

    it(`while it translates an answer has sent an unusable one, and the next target answers (${how})`, async () => {
      const translators = { chat: { toUpstream, fromUpstream: boom, openStream: () => boom } };
      const answer = await askBeside({ translators }, stream);
      expect([answer.status, answer.headers.get('x-gateway-target')]).to.deep.equal([200, 'b']);
    });

    it(`by translating an answer into nothing has sent an unusable one, and the next target answers (${how})`, async () => {
      const nothing = (() => undefined) as never;
      const answer = await askBeside(
        { translators: { chat: { toUpstream, fromUpstream: nothing, openStream: () => nothing } } },
        stream,
      );
      expect([answer.status, answer.headers.get('x-gateway-target')]).to.deep.equal([200, 'b']);
    });

    it(`while it signs a request never sends it unsigned (${how})`, async () => {
      const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
      const host = await startHost({
        strategy: { mode: 'single' },
        targets: [upstream.target('a', {}, { connection: { authorize: async () => boom() } } as never)],
      });
      const answer = await host.post('/v1/chat/completions', ask('hi', { stream }));
      expect(answer.status).to.be.oneOf([500, 502]);
      expect(upstream.seen).to.have.lengthOf(0);
    });
  }
});

describe('a strategy that breaks', () => {
  const strategy = (create: StrategyModule['create']): StrategyModule =>
    defineStrategy({ name: 'odd', summary: 's', settings: Joi.object({}), create });
  const start = async (create: StrategyModule['create']): Promise<TestHost> => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    return startHost({ strategy: { mode: 'odd' }, targets: [upstream.target('a')] }, { modules: [strategy(create)] });
  };

  it('while it is made is a problem of the configuration that names it', async () => {
    const problems = await refusal(start(boom));
    expect(problems).to.have.lengthOf(1);
    expect(problems[0]?.path).to.match(/^strategy/);
    expect(problems[0]?.message).to.include('odd').and.to.include('the module broke');
  });

  it('by making no function is a problem of the configuration too', async () => {
    expect(await refusal(start(() => ({}) as never))).to.have.lengthOf(1);
  });

  it('while it ranks, or by returning no list, is 500 routing_error', async () => {
    const gaps = (): unknown[] => Object.assign([], { length: 4_000_000_000 });
    for (const rank of [boom, () => undefined, async () => [], gaps]) {
      const answer = await (await start(() => rank as never)).post('/v1/chat/completions', ask());
      expect([answer.status, answer.json().error.code]).to.deep.equal([500, 'routing_error']);
    }
  });

  it('by inventing and repeating targets is not believed', async () => {
    const invents: StrategyModule['create'] = () => (targets) => [
      { virtualKey: 'x', weight: 0, serves: true },
      ...targets,
      ...targets,
    ];
    const answer = await (await start(invents)).post('/v1/chat/completions', ask());
    expect([answer.status, answer.headers.get('x-gateway-attempts')]).to.deep.equal([200, '1']);
  });
});

describe('a plugin that breaks', () => {
  const HANDLERS: Readonly<Record<string, PluginHandlers>> = {
    'throws before the request': { before_request: boom },
    'rejects its promise': { before_request: async () => boom() },
    'returns what is not a verdict': { before_request: (() => 'no') as never },
    'returns null': { before_request: (() => null) as never },
    'throws when a stream begins': { stream: boom },
  };
  const complete = (handlers: PluginHandlers): PluginHandlers => ({
    before_request: () => undefined,
    after_request: () => undefined,
    ...handlers,
  });

  for (const [what, handlers] of Object.entries(HANDLERS)) {
    it(`and ${what} ends the request when it is a guardrail, and is passed over when it logs`, async () => {
      const closed = await (
        await hostWith(plugin('guardrail', complete(handlers)))
      ).post('/v1/chat/completions', ask('hi', { stream: true }));
      expect([closed.status, closed.json().error.code]).to.deep.equal([500, 'plugin_error']);
      const open = await (
        await hostWith(plugin('logging', complete(handlers)))
      ).post('/v1/chat/completions', ask('hi', { stream: true }));
      expect([open.status, open.events().at(-1)]).to.deep.equal([200, '[DONE]']);
    });
  }

  const afterTheFirst = (): PluginHandlers['stream'] => {
    let pushed = 0;
    return () => ({ push: (chunk) => (pushed++ === 0 ? [chunk] : boom()), end: () => [] });
  };

  it('in push of its stream guard, before anything was sent, is an ordinary error', async () => {
    const answer = await (
      await hostWith(plugin('guardrail', complete({ stream: () => ({ push: boom, end: () => [] }) })))
    ).post('/v1/chat/completions', ask('hi', { stream: true }));
    expect([answer.status, answer.json().error.code]).to.deep.equal([500, 'plugin_error']);
  });

  for (const [what, handlers] of Object.entries({
    push: { stream: afterTheFirst() },
    end: { stream: () => ({ push: (chunk: never) => [chunk], end: boom }) },
  })) {
    it(`in ${what} of its stream guard ends the stream with an error event when it is a guardrail, and is passed over when it logs`, async () => {
      const closed = await (
        await hostWith(plugin('guardrail', complete(handlers)))
      ).post('/v1/chat/completions', ask('hi', { stream: true }));
      expect(closed.events().at(-1).error.code).to.equal('stream_error');
      const open = await (
        await hostWith(plugin('logging', complete(handlers)))
      ).post('/v1/chat/completions', ask('hi', { stream: true }));
      expect(open.events().at(-1)).to.equal('[DONE]');
    });
  }

  it('when a request has ended changes nothing for the client', async () => {
    const answer = await (
      await hostWith(plugin('guardrail', complete({ finished: boom })))
    ).post('/v1/chat/completions', ask());
    expect(answer.status).to.equal(200);
  });

  it('while it is made, or by making nothing, is a problem of the configuration that names it', async () => {
    for (const create of [boom, async () => boom(), () => undefined]) {
      const module = definePlugin({
        name: 'odd',
        type: 'guardrail',
        summary: 's',
        stages: ['before_request'],
        settings: Joi.object({}),
        create: create as never,
      });
      const problems = await refusal(hostWith(module));
      expect(problems.map(({ path }) => path)).to.deep.equal(['plugins[0].config']);
      expect(problems[0]?.message).to.include('odd');
    }
  });

  it('by having no handler for the stage it is listed at is a problem of the configuration: a guardrail that guards nothing', async () => {
    const problems = await refusal(
      hostWith(plugin('guardrail', { beforeRequest: () => undefined } as never), ['before_request']),
    );
    expect(problems).to.have.lengthOf(1);
    expect(problems[0]?.message).to.include('odd').and.to.include('before_request');
  });
});
