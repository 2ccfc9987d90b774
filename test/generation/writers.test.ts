import { writeFile } from 'node:fs/promises';
import { definePlugin, GatewayError, type PluginModule } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { type BuiltinModule, defineBuiltin } from '../../host/builtin.ts';
import { decodeText } from '../../host/config/decode.ts';
import { ConfigRefused } from '../../host/config/problems.ts';
import {
  type ConfigurationChange,
  type ConfigurationStore,
  versionOf,
  type Writer,
} from '../../host/stores/configuration-store.ts';
import { runCommand } from '../cli/commands.ts';
import { ask, chatReply, replyJson, startHost, stubUpstream, temporaryFolder, type TestHost } from '../kit/index.ts';

interface Kept {
  readonly changes: ConfigurationChange[];
  readonly moments: string[];
  stored: string | undefined;
  fails: Error | undefined;
  gate: Promise<void> | undefined;
}

/** A store of configurations in memory that tells when it was asked. */
function memoryStore(stored?: string): {
  readonly kept: Kept;
  readonly store: ConfigurationStore;
  readonly builtin: BuiltinModule;
} {
  const kept: Kept = { changes: [], moments: [], stored, fails: undefined, gate: undefined };
  const store: ConfigurationStore = {
    isDurable: true,
    newest: () =>
      Promise.resolve({
        version: kept.changes.length,
        text: kept.changes.at(-1)?.text ?? kept.stored,
        isStored: kept.stored !== undefined,
      }),
    append: async (change) => {
      kept.moments.push('persist');
      await kept.gate;
      if (kept.fails) throw kept.fails;
      return versionOf(change, kept.changes.push(change) - 1, 0);
    },
    history: () => Promise.resolve([]),
    ping: () => Promise.resolve(),
  };
  const builtin = defineBuiltin({
    name: 'store',
    apply: ({ hooks }) =>
      hooks.open.tapPromise('store', async ({ stores }) => stores.configuration.supply('sqlite', store)),
  });
  return { kept, store, builtin };
}

/** Tells when a configuration is built and given up. */
function witness(kept: Kept): PluginModule<{ name: string }> {
  return definePlugin<{ name: string }>({
    name: 'witness',
    type: 'guardrail',
    summary: 'Tells what becomes of it',
    stages: ['before_request'],
    settings: Joi.object<{ name: string }, true>({ name: Joi.string().required() }),
    create: ({ name }) => {
      kept.moments.push(`build ${name}`);
      if (name === 'broken') throw new Error('it cannot be built');
      return {
        before_request: () => {},
        dispose: () => {
          kept.moments.push(`dispose ${name}`);
        },
      };
    },
  });
}

const ADA: Writer = { actor: 'ada (k1)' };

async function writable(): Promise<{
  t: TestHost;
  kept: Kept;
  write: (name: string, writer?: Writer, more?: object) => Promise<unknown>;
}> {
  const { kept, builtin } = memoryStore();
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const config = (name: string, more: object = {}): object => ({
    targets: [stub.target('a')],
    plugins: [{ name: 'witness', type: 'guardrail', stage: 'before_request', enabled: true, config: { name } }],
    ...more,
  });
  const t = await startHost(config('one'), { modules: [witness(kept)], builtins: [builtin] });
  kept.moments.length = 0;
  const write = (name: string, writer = ADA, more = {}): Promise<unknown> =>
    t.host.applier.apply(decodeText(JSON.stringify(config(name, more)), 'json'), writer).then(
      () => 'applied',
      (error: unknown) => error,
    );
  return { t, kept, write };
}

describe('a writer of the configuration', () => {
  it('has its change checked, built, persisted and swapped in, in this order', async () => {
    const { t, kept, write } = await writable();
    const gate = Promise.withResolvers<void>();
    kept.gate = gate.promise;
    const before = t.host.current;
    const written = write('two');
    while (kept.moments.length < 2) await Promise.resolve();
    expect(t.host.current).to.equal(before);
    gate.resolve();
    expect(await written).to.equal('applied');
    expect(kept.moments).to.deep.equal(['build two', 'persist', 'dispose one']);
    expect(kept.changes).to.have.length(1);
    expect(kept.changes[0]).to.deep.include({
      actor: 'ada (k1)',
      kind: 'write',
      text: JSON.stringify(t.host.applier.running.document),
    });
  });

  it('persists nothing that a check or a build refuses', async () => {
    const { t, kept, write } = await writable();
    expect(await write('two', ADA, { max_request_bytes: -1 })).to.be.instanceOf(ConfigRefused);
    expect(await write('broken')).to.be.instanceOf(ConfigRefused);
    expect(kept.moments).to.deep.equal(['build broken']);
    expect([kept.changes.length, t.host.current?.number]).to.deep.equal([0, 1]);
  });

  it('changes nothing that cannot be persisted, and closes what was built', async () => {
    const { t, kept, write } = await writable();
    kept.fails = new Error('disk full at /var/lib/gw');
    const error = await write('two');
    expect(error).to.be.instanceOf(GatewayError).and.to.include({ code: 'internal_error', cause: kept.fails });
    expect((error as Error).message).not.to.include('disk');
    expect(kept.moments).to.deep.equal(['build two', 'persist', 'dispose two']);
    expect([t.host.current?.number, t.host.slot.live]).to.deep.equal([1, 1]);
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
    kept.fails = undefined;
    expect(await write('three')).to.equal('applied');
  });

  it('is refused before anything is looked at when it missed a version, and by the store when another process was faster', async () => {
    const { kept, write } = await writable();
    expect(await write('two', { ...ADA, version: 0 })).to.equal('applied');
    const late = await write('three', { ...ADA, version: 0 }, { nonsense: true });
    expect(late)
      .to.be.instanceOf(GatewayError)
      .and.to.include({ code: 'version_conflict', message: 'the configuration has version 1 by now, not 0' });
    kept.fails = new GatewayError('version_conflict', 'the configuration has version 7 by now, not 1');
    expect(await write('three', { ...ADA, version: 1 })).to.equal(kept.fails);
    kept.fails = undefined;
    expect(await write('three', { ...ADA, version: 1 })).to.equal('applied');
  });

  it('takes part in a race as one of two: the other is refused', async () => {
    const { kept, write } = await writable();
    const outcomes = await Promise.all([
      write('two', { actor: 'ada', version: 0 }),
      write('three', { actor: 'bob', version: 0 }),
    ]);
    expect(outcomes[0]).to.equal('applied');
    expect(outcomes[1]).to.be.instanceOf(GatewayError).and.to.include({ code: 'version_conflict' });
    expect(kept.changes.map(({ actor }) => actor)).to.deep.equal(['ada']);
  });

  it('leaves no configuration behind when the gateway closes while it is persisted', async () => {
    const { t, kept, write } = await writable();
    const gate = Promise.withResolvers<void>();
    kept.gate = gate.promise;
    const written = write('two');
    while (!kept.moments.includes('persist')) await Promise.resolve();
    t.host.applier.close();
    expect(await written)
      .to.be.instanceOf(GatewayError)
      .and.to.include({ code: 'upstream_unavailable' });
    gate.resolve();
    while (!kept.moments.includes('dispose two')) await new Promise(setImmediate);
    expect(t.host.slot.live).to.equal(1);
  });

  it('gets versions from 1 on without a store; neither a start nor a rebuild is a change', async () => {
    const t = await startHost({ targets: [{ virtual_key: 'echo' }] });
    const version = async (): Promise<number> => (await t.host.stores.configuration.value.newest()).version;
    expect(await version()).to.equal(0);
    await t.host.applier.refresh();
    expect(await version()).to.equal(0);
    await t.apply({ targets: [{ virtual_key: 'echo' }] });
    expect([await version(), t.host.applier.running.version]).to.deep.equal([1, 1]);
  });
});

describe('a start with a store of configurations', () => {
  const FILE = 'targets: [{virtual_key: echo}]\nstrategy: {mode: fallback}\n';
  const serve = async (
    stored?: string,
  ): Promise<{ kept: Kept; lines: readonly Record<string, any>[]; code: number | null }> => {
    const { kept, builtin } = memoryStore(stored);
    const cwd = await temporaryFolder();
    await writeFile(`${cwd}/config.yaml`, FILE);
    const { lines, code } = await runCommand(['serve'], {
      cwd,
      builtins: [builtin],
      variables: { PORT: '0', MASTER_KEY: 'x'.repeat(20) },
    });
    return { kept, lines, code };
  };
  const sourceOf = (lines: readonly Record<string, any>[]): object | undefined =>
    lines.find(({ msg }) => msg === 'active config resolved');

  it('begins with what is stored, before the file', async () => {
    const { lines, code } = await serve(
      JSON.stringify({ targets: [{ virtual_key: 'echo' }], strategy: { mode: 'single' } }),
    );
    expect(code).to.equal(0);
    expect(sourceOf(lines))
      .to.include({ source: 'store', strategy: 'single', config_store: 'sqlite' })
      .and.not.to.have.property('file');
    expect(lines.find(({ msg }) => msg === 'gw started')).to.include({
      config_store: 'sqlite',
      api_key_store: 'memory',
      request_log_store: 'disabled',
    });
  });

  it('begins with the file while nothing is stored, and stores nothing by itself', async () => {
    const { kept, lines, code } = await serve();
    expect(code).to.equal(0);
    expect(sourceOf(lines)).to.include({ source: 'file', strategy: 'fallback' });
    expect(kept.changes).to.deep.equal([]);
  });

  it('does not start with a stored configuration that does not hold', async () => {
    const { code, lines } = await serve(JSON.stringify({ targets: [{ virtual_key: 'no-such-provider' }] }));
    expect(code).to.equal(1);
    expect(lines.find(({ msg }) => msg === 'gw cannot start'))
      .to.have.property('error')
      .that.includes('no-such-provider');
  });
});
