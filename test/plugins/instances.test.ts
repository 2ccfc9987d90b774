import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type Exchange, type PluginHandlers, type PluginModule, type Stage } from 'gw/contract';
import { ask, chatReply, replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** A plugin whose instances are counted, with handlers that do nothing but what is given. */
function counted(
  name: string,
  make: (number: number) => PluginHandlers = () => ({}),
): { module: PluginModule; made: () => number } {
  let made = 0;
  const idle = { before_request: () => {}, after_request: () => {}, on_error: () => {} };
  const module = definePlugin({
    name,
    type: 'guardrail',
    summary: 'For this test',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object({ label: Joi.string(), deep: Joi.object() }),
    create: () => ({ ...idle, ...make((made += 1)) }),
  });
  return { module, made: () => made };
}

const at = (name: string, stage: Stage, config?: object): object => ({
  name,
  stage,
  enabled: true,
  ...(config && { config }),
});

async function hostOf(
  plugins: readonly object[],
  ...modules: readonly PluginModule[]
): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return { upstream, host: await startHost({ targets: [upstream.target('a')], plugins }, { modules }) };
}

describe('instances of a plugin', () => {
  const noting =
    (seen: string[]) =>
    (number: number): PluginHandlers => {
      const note = ({ stage }: Exchange): void => {
        seen.push(`${number} ${stage}`);
      };
      return { before_request: note, after_request: note };
    };

  it('are one for all stages of one configuration', async () => {
    const seen: string[] = [];
    const { module, made } = counted('p', noting(seen));
    const { host } = await hostOf(
      [at('p', 'before_request', { label: 'x' }), at('p', 'after_request', { label: 'x' })],
      module,
    );
    await host.post(PATH, ask());
    expect([made(), ...seen]).to.deep.equal([1, '1 before_request', '1 after_request']);
  });

  it('are two for two configurations at one stage', async () => {
    const seen: string[] = [];
    const { module, made } = counted('p', noting(seen));
    const { host } = await hostOf(
      [at('p', 'before_request', { label: 'x' }), at('p', 'before_request', { label: 'y' })],
      module,
    );
    await host.post(PATH, ask());
    expect([made(), ...seen]).to.deep.equal([2, '1 before_request', '2 before_request']);
  });

  it('do not depend on the order in which settings are written', async () => {
    const { module, made } = counted('p');
    await hostOf(
      [
        at('p', 'before_request', { label: 'x', deep: { a: 1, b: 2 } }),
        at('p', 'after_request', { deep: { b: 2, a: 1 }, label: 'x' }),
      ],
      module,
    );
    expect(made()).to.equal(1);
  });

  it('are not made for entries that are off', async () => {
    const { module, made } = counted('p');
    await hostOf(
      [
        { name: 'p', stage: 'before_request', enabled: false },
        { name: 'p', stage: 'before_request' },
        { name: 'no-such', stage: 'nowhere', enabled: false, config: { x: [] } },
      ],
      module,
    );
    expect(made()).to.equal(0);
  });

  it('are closed once, after the last request that uses them', async () => {
    const closed: string[] = [];
    const [hold, entered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { module } = counted('p', () => ({
      before_request: async () => {
        entered.resolve();
        await hold.promise;
      },
      dispose: () => {
        closed.push('p');
      },
    }));
    const { host, upstream } = await hostOf([at('p', 'before_request'), at('p', 'after_request')], module);
    const pending = host.post(PATH, ask());
    await entered.promise;
    await host.apply({ targets: [upstream.target('a')] });
    await sleep(30);
    expect(closed).to.deep.equal([]);
    hold.resolve();
    expect((await pending).status).to.equal(200);
    await sleep(30);
    expect(closed).to.deep.equal(['p']);
  });

  it('that were built are closed when another cannot be, and the old configuration serves on', async () => {
    const closed: string[] = [];
    const good = counted('good', () => ({
      dispose: () => {
        closed.push('good');
      },
    }));
    const bad = counted('bad', () => {
      throw new Error('no');
    });
    const { host, upstream } = await hostOf([], good.module, bad.module);
    const refused = host.apply({
      targets: [upstream.target('a')],
      plugins: [at('good', 'before_request'), at('bad', 'before_request')],
    });
    expect(
      await refused.then(
        () => 'applied',
        (error: Error) => error.message,
      ),
    ).to.include('bad');
    expect(closed).to.deep.equal(['good']);
    expect((await host.post(PATH, ask())).status).to.equal(200);
  });

  it('are refused: one configuration twice at a stage, two over several stages', async () => {
    const { module } = counted('p');
    const { host, upstream } = await hostOf([], module);
    const outcome = (...plugins: readonly object[]): Promise<string> =>
      host.apply({ targets: [upstream.target('a')], plugins }).then(
        () => 'applied',
        () => 'refused',
      );
    expect(
      await outcome(at('p', 'before_request', { label: 'x' }), at('p', 'before_request', { label: 'x' })),
    ).to.equal('refused');
    expect(await outcome(at('p', 'before_request', { label: 'x' }), at('p', 'after_request', { label: 'y' }))).to.equal(
      'refused',
    );
    expect(
      await outcome(at('p', 'before_request', { label: 'x' }), {
        ...at('p', 'after_request', { label: 'y' }),
        enabled: false,
      }),
    ).to.equal('applied');
  });

  it('get their settings with references resolved, and no settings that are undefined', async () => {
    let given: unknown;
    const module = definePlugin<{ label: string }>({
      name: 'p',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['before_request'],
      settings: Joi.object<{ label: string }, true>({ label: Joi.string().required() }),
      create: (settings) => {
        given = settings;
        return { before_request: () => {} };
      },
    }) as unknown as PluginModule;
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')));
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: [at('p', 'before_request', { label: 'a ${LABEL} $LABEL' })] },
      { modules: [module], variables: { LABEL: 'value' } },
    );
    expect(given).to.deep.equal({ label: 'a value $LABEL' });
    const undefinedName = host.apply({
      targets: [upstream.target('a')],
      plugins: [at('p', 'before_request', { label: '${NOWHERE}' })],
    });
    expect(
      await undefinedName.then(
        () => 'applied',
        (error: Error) => error.message,
      ),
    ).to.include('NOWHERE');
  });
});
