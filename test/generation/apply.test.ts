import { definePlugin, type PluginModule } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { ConfigRefused } from '../../host/config/problems.ts';
import { ask, chatReply, replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

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
    name: 'tracker', type: 'guardrail', summary: 'Counts its instances', stages: ['before_request', 'after_request'],
    settings: Joi.object<Settings, true>({ name: Joi.string().required(), fails: Joi.boolean().default(false) }),
    create: async ({ name, fails }, { carryover }) => {
      kept.made.push(name);
      kept.values.push(carryover.lease('tracker', () => ({})));
      await kept.gate;
      if (fails) throw new Error('it cannot be built');
      return { before_request: () => {}, after_request: () => {}, dispose: () => { kept.disposed.push(name); } };
    },
  });
  return { module, kept };
}

const entry = (name: string, more: object = {}): object => ({ name: 'tracker', type: 'guardrail', stage: 'before_request', enabled: true, config: { name, ...more } });

async function trackedHost(): Promise<{ t: TestHost; kept: Kept; config: (...plugins: object[]) => object }> {
  const { module, kept } = tracker();
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const config = (...plugins: object[]): object => ({ strategy: { mode: 'fallback' }, targets: [stub.target('a')], plugins });
  return { t: await startHost(config(entry('one')), { modules: [module] }), kept, config };
}

const refused = async (work: Promise<void>): Promise<ConfigRefused> =>
  work.then(() => { throw new Error('it was applied'); }, (error: unknown) => {
    expect(error).to.be.instanceOf(ConfigRefused);
    return error as ConfigRefused;
  });

describe('applying a configuration', () => {
  it('closes the plugins of the one before, and keeps what they carried over', async () => {
    const { t, kept, config } = await trackedHost();
    await t.apply(config(entry('two')));
    expect(kept).to.deep.include({ made: ['one', 'two'], disposed: ['one'] });
    expect(kept.values[1]).to.equal(kept.values[0]);
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([1, 2]);
    await t.apply(config());
    expect(kept.disposed).to.deep.equal(['one', 'two']);
    expect(t.host.carryover.size).to.equal(1);
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
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([1, 2]);
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
  });

  it('serves with the old one while the new one is built, and applies one after another', async () => {
    const { t, kept, config } = await trackedHost();
    const gate = Promise.withResolvers<void>();
    kept.gate = gate.promise;
    const applied = [t.apply(config(entry('two'))), refused(t.apply({ nonsense: true })), t.apply(config(entry('three')))];
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

  it('closes everything with the host', async () => {
    const { t, kept } = await trackedHost();
    await t.close();
    expect(kept.disposed).to.deep.equal(['one']);
    expect([t.host.slot.live, t.host.carryover.size]).to.deep.equal([0, 0]);
    await t.host.close();
    expect(kept.disposed).to.deep.equal(['one']);
  });
});
