import { definePlugin, type OpenConnection, type PluginModule, type ProviderModule } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { defineBuiltin } from '../../host/builtin.ts';
import { ConfigRefused } from '../../host/config/problems.ts';
import {
  ask,
  chatReply,
  eventually,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

interface Kept {
  readonly made: string[];
  readonly disposed: string[];
  readonly values: object[];
  /** Holds `create` back. */
  gate: Promise<void> | undefined;
}

interface Settings {
  name: string;
  fails: boolean;
}

/** A plugin that tells what happens to its instances and keeps one object over configurations. */
function tracker(): { module: PluginModule<Settings>; kept: Kept } {
  const kept: Kept = { made: [], disposed: [], values: [], gate: undefined };
  const module = definePlugin<Settings>({
    name: 'tracker',
    type: 'guardrail',
    summary: 'Counts its instances',
    stages: ['before_request', 'after_request'],
    settings: Joi.object<Settings, true>({ name: Joi.string().required(), fails: Joi.boolean().default(false) }),
    create: async ({ name, fails }, { carryover }) => {
      kept.made.push(name);
      kept.values.push(carryover.lease('tracker', () => ({})));
      await kept.gate;
      if (fails) throw new Error('it cannot be built');
      return {
        before_request: () => {},
        after_request: () => {},
        dispose: () => {
          kept.disposed.push(name);
        },
      };
    },
  });
  return { module, kept };
}

const entry = (name: string, more: object = {}): object => ({
  name: 'tracker',
  type: 'guardrail',
  stage: 'before_request',
  enabled: true,
  config: { name, ...more },
});

async function trackedHost(): Promise<{ t: TestHost; kept: Kept; config: (...plugins: object[]) => object }> {
  const { module, kept } = tracker();
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const config = (...plugins: object[]): object => ({
    strategy: { mode: 'fallback' },
    targets: [stub.target('a')],
    plugins,
  });
  return { t: await startHost(config(entry('one')), { modules: [module] }), kept, config };
}

const refused = async (work: Promise<void>): Promise<ConfigRefused> =>
  work.then(
    () => {
      throw new Error('it was applied');
    },
    (error: unknown) => {
      expect(error).to.be.instanceOf(ConfigRefused);
      return error as ConfigRefused;
    },
  );

/** What every configuration leases for itself, without plugins. The budgets of keys are one of them. */
const OWN = 7;

describe('applying a configuration', () => {
  it('closes the plugins of the one before, and keeps what they carried over', async () => {
    const { t, kept, config } = await trackedHost();
    await t.apply(config(entry('two')));
    expect(kept).to.deep.include({ made: ['one', 'two'], disposed: ['one'] });
    expect(kept.values[1]).to.equal(kept.values[0]);
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([1, 1 + OWN]);
    await t.apply(config());
    expect(kept.disposed).to.deep.equal(['one', 'two']);
    expect(t.host.carryover.size).to.equal(OWN);
    await t.apply(config(entry('three')));
    expect(kept.values[2]).not.to.equal(kept.values[0]);
  });

  it('changes nothing when a check fails', async () => {
    const { t, kept, config } = await trackedHost();
    const before = t.host.current;
    const { problems } = await refused(t.apply({ ...config(entry('two')), max_request_bytes: -1, surprise: true }));
    expect(problems.map(({ path }) => path)).to.include.members(['surprise', 'max_request_bytes']);
    expect(t.host.current).to.equal(before);
    expect(kept).to.deep.include({ made: ['one'], disposed: [] });
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
  });

  it('changes nothing when a plugin cannot be built, and closes those that were', async () => {
    const { t, kept, config } = await trackedHost();
    const before = t.host.current;
    const { problems } = await refused(t.apply(config(entry('two'), entry('three', { fails: true }), entry('four'))));
    expect(problems).to.have.length(1);
    expect(problems[0]?.path).to.equal('plugins[1].config');
    expect(t.host.current).to.equal(before);
    expect([...kept.disposed].toSorted()).to.deep.equal(['four', 'two']);
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([1, 1 + OWN]);
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
  });

  it('serves with the old one while the new one is built, and applies one after another', async () => {
    const { t, kept, config } = await trackedHost();
    const gate = Promise.withResolvers<void>();
    kept.gate = gate.promise;
    const applied = [
      t.apply(config(entry('two'))),
      refused(t.apply({ nonsense: true })),
      t.apply(config(entry('three'))),
    ];
    while (kept.made.length < 2) await Promise.resolve();
    expect(t.host.current?.number).to.equal(1);
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
    expect(kept.made).to.deep.equal(['one', 'two']);
    gate.resolve();
    await Promise.all(applied);
    expect(t.host.current?.number).to.equal(3);
    expect(kept).to.deep.include({ made: ['one', 'two', 'three'], disposed: ['one', 'two'] });
  });

  it('leaves a request on the plugins it began with until its last byte', async () => {
    const { t, kept, config } = await trackedHost();
    const lease = t.host.slot.lease()!;
    await t.apply(config(entry('two')));
    expect(kept.disposed).to.deep.equal([]);
    expect([t.host.slot.live, lease.generation.number]).to.deep.equal([2, 1]);
    lease.release();
    while (kept.disposed.length === 0) await Promise.resolve();
    expect(kept.disposed).to.deep.equal(['one']);
    expect(t.host.slot.live).to.equal(1);
  });

  it('builds one instance for stages that share their settings', async () => {
    const { t, kept, config } = await trackedHost();
    await t.apply(config(entry('two'), { ...entry('two'), stage: 'after_request' }));
    expect(kept.made).to.deep.equal(['one', 'two']);
    await t.apply(config());
    expect(kept.disposed).to.deep.equal(['one', 'two']);
  });

  it('goes on closing when something cannot be closed: nothing is kept over any number of configurations', async () => {
    const clumsy = definePlugin<Settings>({
      name: 'clumsy',
      type: 'guardrail',
      summary: 'Cannot be closed',
      stages: ['before_request'],
      settings: Joi.object<Settings, true>({ name: Joi.string().required(), fails: Joi.boolean().default(false) }),
      create: ({ name }, { carryover }) => {
        carryover.lease(
          `clumsy ${name}`,
          () => name,
          () => {
            throw new Error('the key cannot be closed');
          },
        );
        return {
          before_request: () => {},
          dispose: () => {
            throw new Error('the plugin cannot be closed');
          },
        };
      },
    });
    const { module, kept } = tracker();
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const config = (round: number): object => ({
      strategy: { mode: 'fallback' },
      targets: [stub.target('a', { concurrency: { max_concurrency: 1 }, circuit_breaker: {}, retry: { attempts: 2 } })],
      plugins: [
        { ...entry(`clumsy ${round}`), name: 'clumsy' },
        entry(`tracked ${round}`),
        { ...entry(`other ${round}`), name: 'clumsy' },
      ],
    });
    const t = await startHost(config(0), { modules: [module, clumsy] });
    const { size } = t.host.carryover;
    for (let round = 1; round <= 20; round += 1) await t.apply(config(round));
    await refused(
      t.apply({ ...config(21), plugins: [{ ...entry('x'), name: 'clumsy' }, entry('y', { fails: true })] }),
    );
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([1, size]);
    await t.close();
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([0, 0]);
    expect(kept.disposed).to.have.members(kept.made.filter((name) => name !== 'y'));
    const told = t.lines
      .filter(
        ({ msg, plugin, function: name }) =>
          msg === 'plugin failed to close' && plugin === 'clumsy' && name === 'dispose',
      )
      .map(({ error }) => String(error));
    const ofInstances = 21 * 2 + 1; // and one of the refused configuration; each with its key
    expect(told.filter((error) => error === 'the plugin cannot be closed')).to.have.length(ofInstances);
    expect(told.filter((error) => error === 'the key cannot be closed')).to.have.length(ofInstances);
  });

  it('closes plugins when one of them fails to say what it reads', async () => {
    let isVague = false;
    const vague = definePlugin({
      name: 'vague',
      type: 'guardrail',
      summary: 'Cannot say what it reads',
      stages: ['before_request'],
      settings: Joi.object({}),
      readsContent: () => {
        if (isVague) throw new Error('no idea');
        return true;
      },
      create: () => {
        isVague = true;
        return { before_request: () => {} };
      },
    });
    const { module, kept } = tracker();
    const stub = await stubUpstream(() => {});
    const t = await startHost({ targets: [stub.target('a')] }, { modules: [module, vague] });
    await t
      .apply({
        targets: [stub.target('a')],
        plugins: [entry('two'), { name: 'vague', stage: 'before_request', enabled: true }],
      })
      .then(
        () => expect.fail('it was applied'),
        (error: Error) => expect(error.message).to.equal('no idea'),
      );
    expect(kept).to.deep.include({ made: ['two'], disposed: ['two'] });
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([1, OWN]);
  });

  it('keeps nothing of a target whose neighbour could not be connected', async () => {
    let disposed = 0;
    const upstream = await stubUpstream(() => {});
    const offline = (open: () => Promise<OpenConnection>): Partial<ProviderModule> => ({
      offline: true,
      connection: { env: [], baseUrl: upstream.url, open },
    });
    const slow = offline(async () => {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      return {
        authorize: () => ({}),
        dispose: () => {
          disposed += 1;
        },
      };
    });
    const broken = offline(() => Promise.reject(new Error('no')));
    const t = await startHost(
      { targets: [upstream.target('c')] },
      { modules: [upstream.provider('slow', slow), upstream.provider('broken', broken)] },
    );
    await t
      .apply({
        targets: [
          { virtual_key: 'broken', models: ['m'] },
          { virtual_key: 'slow', models: ['m'] },
        ],
      })
      .then(
        () => expect.fail('it was applied'),
        () => {},
      );
    expect(disposed).to.equal(1);
    expect(t.host.slot.live).to.equal(1);
  });

  it('leaves nothing behind of what is being built while the gateway closes, and of what waits behind it', async () => {
    const { t, kept, config } = await trackedHost();
    const gate = Promise.withResolvers<void>();
    kept.gate = gate.promise;
    const ends = [t.host.applier.refresh(), t.apply(config(entry('two'))), t.host.applier.refresh()].map((work) =>
      work.then(
        () => 'done',
        (error: Error) => error.message,
      ),
    );
    while (kept.made.length < 2) await Promise.resolve();
    await t.host.close();
    expect(await Promise.all(ends)).to.deep.equal(['done', 'the gateway is shutting down', 'done']);
    expect(await t.host.applier.refresh().then(() => 'done')).to.equal('done');
    gate.resolve();
    while (kept.disposed.length < 2)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(kept).to.deep.include({ made: ['one', 'one'], disposed: ['one', 'one'] });
    expect([t.host.slot.live, t.host.carryover.size, t.host.current]).to.deep.equal([0, 0, undefined]);
  });

  it('closes with the host what every builtin and provider has opened, though others cannot be closed', async () => {
    const closed: string[] = [];
    const closing = (name: string, fails: boolean): ReturnType<typeof defineBuiltin> =>
      defineBuiltin({
        name,
        apply: ({ hooks }) =>
          hooks.close.tapPromise(name, async () => {
            closed.push(name);
            if (fails) throw new Error(`${name} cannot be closed`);
          }),
      });
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const opening = (name: string, fails: boolean): object =>
      upstream.target(
        name,
        {},
        {
          connection: {
            env: ['STUB_API_KEY'],
            baseUrl: upstream.url,
            open: () => ({
              authorize: () => ({}),
              dispose: () => {
                closed.push(name);
                if (fails) throw new Error(`${name} cannot be closed`);
              },
            }),
          },
        },
      );
    const t = await startHost(
      { targets: [opening('a', true), opening('b', false), opening('c', true)] },
      { builtins: [closing('first', false), closing('second', true), closing('third', false)] },
    );
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
    expect(t.host.services.transport.origins).to.equal(1);
    await t.close();
    expect(closed).to.deep.equal(['third', 'second', 'first', 'a', 'b', 'c']);
    expect(t.host.services.transport.origins).to.equal(0);
    expect(t.lines.filter(({ msg }) => msg === 'closing failed')).to.have.length(1);
    expect(
      t.lines.filter(({ msg }) => msg === 'provider failed to close').map(({ provider }) => provider as string),
    ).to.deep.equal(['a', 'c']);
  });

  it('leaves behind what hangs while it closes, and closes the rest', async () => {
    const clock = fakeClock();
    const closed: string[] = [];
    const hanging = definePlugin({
      name: 'hanging',
      type: 'guardrail',
      summary: 'Never closes',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({ before_request: () => {}, dispose: () => new Promise<void>(() => {}) }),
    });
    const { module, kept } = tracker();
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const slow = defineBuiltin({
      name: 'slow',
      apply: ({ hooks }) => hooks.close.tapPromise('slow', () => new Promise(() => {})),
    });
    const last = defineBuiltin({
      name: 'last',
      apply: ({ hooks }) =>
        hooks.close.tapPromise('last', async () => {
          closed.push('last');
        }),
    });
    const config = {
      targets: [upstream.target('a')],
      plugins: [{ name: 'hanging', stage: 'before_request', enabled: true }, entry('one')],
    };
    const t = await startHost(config, { clock, modules: [hanging, module], builtins: [last, slow] });
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
    const closing = t.host.close().then(() => {
      closed.push('host');
    });
    for (let step = 0; step < 2; step += 1) {
      await eventually(() => clock.waiting > 0);
      expect(closed).to.deep.equal([]);
      clock.advance(5000);
    }
    await closing;
    expect(closed).to.deep.equal(['last', 'host']);
    expect([kept.disposed, t.host.services.transport.origins]).to.deep.equal([['one'], 0]);
    expect(
      t.lines.filter(({ msg }) => msg === 'closing failed').map(({ error }) => String(error).split('\n')[0]),
    ).to.deep.equal(['slow did not finish within 5000 ms']);
    expect(t.lines.find(({ msg }) => msg === 'a configuration could not be closed')?.['error']).to.include(
      'the plugins did not finish within 5000 ms',
    );
  });

  it('closes everything with the host', async () => {
    const { t, kept } = await trackedHost();
    await t.close();
    expect(kept.disposed).to.deep.equal(['one']);
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([0, 0]);
    await t.host.close();
    expect(kept.disposed).to.deep.equal(['one']);
  });
});
