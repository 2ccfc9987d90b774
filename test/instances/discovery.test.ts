import { expect } from 'chai';
import { buildOffline } from '../../host/generation/offline.ts';
import {
  eventually,
  type FakeClock,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { listed, rules } from './support.ts';

interface Service extends StubUpstream {
  models: readonly string[];
  /** Answers with 500, or not at all. */
  mood: 'well' | 'broken' | 'silent';
  readonly asked: () => number;
}

/** A service that lists what it has. */
async function service(...models: string[]): Promise<Service> {
  const stub = await stubUpstream((request, response) => {
    if (own.mood === 'silent') return;
    if (own.mood === 'broken') replyJson(response, 500, {});
    else replyJson(response, 200, { data: own.models.map((id) => ({ id, created: 7 })), asked: request.url });
  });
  const own: Service = Object.assign<StubUpstream, Omit<Service, keyof StubUpstream>>(stub, {
    models,
    mood: 'well',
    asked: () => stub.seen.filter(({ url }) => url.endsWith('/models')).length,
  });
  return own;
}

const compatible = (upstream: StubUpstream, more: object = {}): object => ({
  kind: 'openai-compatible',
  base_url: upstream.url,
  ...more,
});

const config = (providers: object, targets: readonly object[] = [{ virtual_key: 'gpu' }]): object => ({
  strategy: { mode: 'fallback' },
  providers,
  targets,
});

const started = async (
  document: object,
  variables: Record<string, string> = {},
): Promise<{ t: TestHost; clock: FakeClock }> => {
  const clock = fakeClock();
  return { t: await startHost(document, { clock, variables }), clock };
};

describe('the models of an instance', () => {
  it('are asked for before it serves, where nothing else names one', async () => {
    const gpu = await service('one', 'two');
    const { t } = await started(config({ gpu: compatible(gpu) }));
    expect(await listed(t)).to.deep.equal(['one', 'two']);
    expect((await t.get('/v1/models')).json().data[0]).to.include({ owned_by: 'gpu', created: 7 });
    expect(gpu.asked()).to.equal(1);
    expect(rules(t, 'WN20')).to.deep.equal([]);
  });

  it('are asked for every five minutes where no interval is set, and by the interval where one is', async () => {
    for (const [variables, ms] of [
      [{}, 300_000],
      [{ GW_MODEL_DISCOVERY_INTERVAL: '2m' }, 120_000],
    ] as const) {
      const gpu = await service('one');
      const { t, clock } = await started(config({ gpu: compatible(gpu) }), variables);
      await eventually(() => clock.next === ms);
      gpu.models = ['two'];
      clock.advance(ms - 1);
      expect(gpu.asked()).to.equal(1);
      clock.advance(1);
      await eventually(async () => (await listed(t)).includes('two'));
      expect(await listed(t)).to.deep.equal(['two']);
      await eventually(() => clock.next === ms);
      clock.advance(ms);
      await eventually(() => gpu.asked() === 3);
    }
  });

  it('are asked for right after the switch where something else names one, and nothing waits for that', async () => {
    const gpu = await service('one');
    gpu.mood = 'silent';
    const { t } = await started(config({ gpu: compatible(gpu) }, [{ virtual_key: 'gpu', models: ['declared'] }]));
    expect(await listed(t)).to.deep.equal(['declared']);
    await eventually(() => gpu.asked() === 1);
    expect(rules(t, 'WN20')).to.deep.equal([]);
  });

  it('are never asked for with `discover: false`, and not without an interval where nothing is said', async () => {
    const gpu = await service('one');
    const { t, clock } = await started(config({ gpu: compatible(gpu, { discover: false }) }));
    expect(await listed(t)).to.deep.equal([]);
    await t.apply(config({ gpu: { kind: 'openai', base_url: gpu.url } }));
    expect(gpu.asked()).to.equal(0);
    clock.advance(3_600_000);
    await t.apply(config({ gpu: { kind: 'openai', base_url: gpu.url, catalog: 'none', discover: true } }));
    expect(await listed(t)).to.deep.equal(['one']);
    expect(gpu.asked()).to.equal(1);
  });

  it('are not waited for longer than five seconds; others that were asked at that time are there', async () => {
    const [dead, well] = [await service('lost'), await service('one')];
    dead.mood = 'silent';
    const { t, clock } = await started({ targets: [{ virtual_key: 'echo' }] });
    const timers = clock.waiting;
    const applying = t.apply(
      config({ dead: compatible(dead), gpu: compatible(well) }, [{ virtual_key: 'dead' }, { virtual_key: 'gpu' }]),
    );
    // Those of the next round, of the five seconds, and of the one that does not answer: the other has answered.
    await eventually(() => dead.asked() === 1 && well.asked() === 1 && clock.waiting === timers + 3);
    const before = t.host.current?.number;
    clock.advance(4999);
    expect(t.host.current?.number).to.equal(before);
    clock.advance(1);
    await applying;
    expect(await listed(t)).to.deep.equal(['one']);
    expect(rules(t, 'WN20')).to.have.lengthOf(1);
    expect(rules(t, 'WN20')[0]).to.include({ level: 'WARN', provider: 'dead' });
    expect(t.host.current?.warnings.map(({ rule, path }) => ({ rule, path }))).to.deep.equal([
      { rule: 'WN20', path: 'providers.dead' },
    ]);
    dead.mood = 'well';
    clock.advance(300_000);
    await eventually(async () => (await listed(t)).length === 2);
    expect(await listed(t)).to.deep.equal(['lost', 'one']);
  });

  it('stay as they were under a configuration whose service does not answer, at another address too', async () => {
    const [first, second] = [await service('one'), await service('other')];
    const { t } = await started(config({ gpu: compatible(first) }));
    first.mood = 'broken';
    second.mood = 'broken';
    await t.apply(config({ gpu: compatible(first, { headers: { 'x-a': 'b' } }) }));
    expect(await listed(t)).to.deep.equal(['one']);
    expect(rules(t, 'WN20')).to.have.lengthOf(1);
    await t.apply(config({ gpu: compatible(second) }));
    expect(await listed(t)).to.deep.equal(['one']);
    second.mood = 'well';
    await t.apply(config({ gpu: compatible(second, { headers: { 'x-a': 'b' } }) }));
    expect(await listed(t)).to.deep.equal(['other']);
  });

  it('are not those that the provider of its name in the environment has listed', async () => {
    const [environment, gpu] = [await service('of-the-environment'), await service('own')];
    const { t } = await started(
      { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'openai' }] },
      {
        OPENAI_API_KEY: 'sk-of-the-environment-01',
        OPENAI_BASE_URL: environment.url,
        GW_MODEL_DISCOVERY_INTERVAL: '1m',
      },
    );
    await eventually(async () => (await listed(t)).includes('of-the-environment'));
    gpu.mood = 'broken';
    const openai = { kind: 'openai', base_url: gpu.url, catalog: 'none' };
    await t.apply(config({ openai }, [{ virtual_key: 'openai' }]));
    expect(await listed(t)).to.deep.equal([]);
    const asked = environment.asked();
    gpu.mood = 'well';
    await t.apply(config({ openai: { ...openai, any_model: false } }, [{ virtual_key: 'openai' }]));
    expect(await listed(t)).to.deep.equal(['own']);
    expect(environment.asked()).to.equal(asked);
  });

  it('are asked for once by a configuration that is built once more', async () => {
    const gpu = await service('one');
    gpu.mood = 'broken';
    const { t } = await started(config({ gpu: compatible(gpu) }));
    await t.host.applier.refresh();
    await t.host.applier.refresh();
    expect(gpu.asked()).to.equal(1);
    expect(rules(t, 'WN20')).to.have.lengthOf(1);
    gpu.mood = 'well';
    await t.apply(config({ gpu: compatible(gpu) }));
    expect(await listed(t)).to.deep.equal(['one']);
  });

  it('are asked for by no command and no check that only answers questions', async () => {
    const gpu = await service('one');
    const { t } = await started({ targets: [{ virtual_key: 'echo' }] });
    const document = config({ gpu: compatible(gpu) });
    expect((await t.post('/admin/config/validate', document)).json()).to.include({ valid: true });
    await t.apply(config({ gpu: compatible(gpu, { models: ['listed'] }) }));
    const running = t.host.current?.config;
    expect(running).to.be.an('object');
    if (!running) return;
    const offline = await buildOffline(t.host, {
      ...running,
      providers: { gpu: { kind: 'openai-compatible', base_url: gpu.url } },
    });
    expect(offline.models.advertised('gpu')).to.deep.equal([]);
    await offline.dispose();
    expect(gpu.asked()).to.equal(0);
    const unresolved = { ...running, providers: { gpu: { kind: 'openai', api_key: '${NOT_SET_KEY}', models: ['m'] } } };
    const lines = t.lines.length;
    const other = await buildOffline(t.host, unresolved);
    expect(other.targets.get('gpu')?.provider).to.equal(undefined);
    expect(other.warnings.map(({ rule }) => rule)).to.deep.equal(['WN17']);
    await other.dispose();
    expect(t.lines.slice(lines), 'what a command that only answers questions logs').to.deep.equal([]);
  });
});
