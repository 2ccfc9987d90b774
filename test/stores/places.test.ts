import { definePlugin, type PluginDeps, type PluginModule, type RequestLogRow, type SharedState } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { type BuiltinModule, defineBuiltin } from '../../host/builtin.ts';
import type { Host } from '../../host/host.ts';
import { createMemoryState } from '../../host/state/shared-state.ts';
import { digestOf, PrincipalTable } from '../../host/stores/principals.ts';
import {
  ask,
  chatReply,
  fakeClock,
  MASTER_KEY,
  replyJson,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

/** The master key's id: the beginning of its SHA-256. */
const MASTER_ID = `master-key:${digestOf(MASTER_KEY).slice(0, 16)}`;
const CHAT = '/v1/chat/completions';

/** A builtin that opens something, as a store does. */
const opening = (name: string, open: (host: Host) => void): BuiltinModule =>
  defineBuiltin({ name, apply: ({ hooks }) => hooks.open.tapPromise(name, async (host) => open(host)) });

/** A plugin that hands its surroundings to the test. */
function spy(): {
  readonly module: PluginModule;
  readonly deps: PluginDeps[];
  readonly callers: (string | undefined)[];
} {
  const deps: PluginDeps[] = [];
  const callers: (string | undefined)[] = [];
  const module = definePlugin({
    name: 'spy',
    type: 'logging',
    summary: 'Shows what plugins get',
    stages: ['before_request'],
    settings: Joi.object({}),
    create: (_settings, given) => {
      deps.push(given);
      return {
        before_request: ({ principal }) => {
          callers.push(principal?.id);
        },
      };
    },
  });
  return { module, deps, callers };
}

const SPY = { name: 'spy', type: 'logging', stage: 'before_request', enabled: true };

async function start(builtins: readonly BuiltinModule[], modules: readonly PluginModule[] = []): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return startHost(
    { targets: [stub.target('a')], plugins: modules.map(({ name }) => ({ ...SPY, name })) },
    { builtins, modules },
  );
}

describe('the principals of a gateway', () => {
  const key = 'gw_of_a_store';
  const ada = { id: 'k1', name: 'ada', scopes: ['read_only'] } as const;

  async function withStore(): Promise<{
    t: TestHost;
    table: PrincipalTable;
    status: (bearer: string) => Promise<number>;
    callers: readonly (string | undefined)[];
  }> {
    const table = new PrincipalTable();
    const { module, callers } = spy();
    const t = await start([opening('keys', ({ stores }) => stores.principals.supply(table))], [module]);
    return {
      t,
      table,
      callers,
      status: async (bearer) => (await t.post(CHAT, ask(), { authorization: `Bearer ${bearer}` })).status,
    };
  }

  it('are those of every source, and gone with the next request when they are invalidated', async () => {
    const { table, status, callers } = await withStore();
    expect(await status(key)).to.equal(401);
    table.set(digestOf(key), ada);
    expect([await status(key), await status(MASTER_KEY)]).to.deep.equal([200, 200]);
    table.invalidate(digestOf(key));
    expect([await status(key), await status(MASTER_KEY)]).to.deep.equal([401, 200]);
    expect(callers).to.deep.equal(['k1', MASTER_ID, MASTER_ID]);
  });

  it('are found by the digest alone', async () => {
    const { table, status } = await withStore();
    table.set(digestOf(key), ada);
    for (const bearer of [digestOf(key), key.toUpperCase(), `${key}.`, key.slice(0, -1)])
      expect(await status(bearer), bearer).to.equal(401);
  });

  it("are the environment's before a store's", async () => {
    const { table, status, callers } = await withStore();
    table.set(digestOf(MASTER_KEY), ada);
    expect(await status(MASTER_KEY)).to.equal(200);
    expect(callers).to.deep.equal([MASTER_ID]);
  });

  it("are the environment's alone without a store", async () => {
    const t = await start([]);
    expect(t.host.stores.keys.backend).to.equal('memory');
    expect(t.host.stores.principals.find(MASTER_KEY)).to.deep.equal({
      id: MASTER_ID,
      name: MASTER_ID,
      scopes: ['admin'],
    });
  });
});

describe('what a builtin supplies in open', () => {
  it('reaches the plugins: request log and shared state', async () => {
    const rows: RequestLogRow[] = [];
    const shared = createMemoryState(fakeClock());
    const { module, deps } = spy();
    const t = await start(
      [
        opening('stores', ({ stores }) => {
          stores.requestLog.supply('sqlite', {
            append: (row) => {
              rows.push(row);
            },
            annotate: () => {},
          });
          stores.state.supply('redis', shared);
        }),
      ],
      [module],
    );
    const row = { trace_id: 't', stage: 'before_request', model: 'm', created_at: 1 } as const;
    deps[0]?.requestLog?.append(row);
    expect(rows).to.deep.equal([row]);
    await deps[0]?.state.add('spend', 3);
    expect(await shared.add('spend', 0)).to.equal(3);
    expect([
      t.host.stores.requestLog.backend,
      t.host.stores.state.backend,
      t.host.stores.configuration.backend,
    ]).to.deep.equal(['sqlite', 'redis', 'memory']);
  });

  it('is absent unless supplied: no request log, the memory of this process', async () => {
    const { module, deps } = spy();
    const t = await start([], [module]);
    expect(deps[0]?.requestLog).to.equal(undefined);
    await deps[0]?.state.add('spend', 3);
    expect(await t.host.state.add('spend', 0)).to.equal(3);
    expect([t.host.stores.requestLog.backend, t.host.stores.state.backend]).to.deep.equal(['disabled', 'memory']);
  });

  it('is one per place, and comes in time', async () => {
    const twice = (host: Host): void =>
      host.stores.requestLog.supply('postgres', { append: () => {}, annotate: () => {} });
    const refused = await start([opening('one', twice), opening('two', twice)]).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refused).to.equal('request log: postgres is supplied, but postgres has been supplied before');
    const {
      host: { stores },
    } = await start([]);
    expect(() => stores.state.supply('redis', createMemoryState(fakeClock()))).to.throw(
      'shared state: redis is supplied too late',
    );
    expect(() => stores.principals.supply(new PrincipalTable())).to.throw('too late');
  });
});

/** A store whose next calls end as the test wants. */
function fragile(): {
  readonly store: SharedState;
  readonly ends: { now: 'well' | 'badly' | 'never' };
  readonly asked: () => number;
} {
  const clock = fakeClock();
  const memory = createMemoryState(clock);
  const ends: { now: 'well' | 'badly' | 'never' } = { now: 'well' };
  let asked = 0;
  const ask = <T>(call: () => Promise<T>): Promise<T> => {
    asked += 1;
    if (ends.now === 'well') return call();
    return ends.now === 'badly' ? Promise.reject(new Error('connection refused')) : new Promise<never>(() => {});
  };
  const store: SharedState = {
    take: (...args) => ask(() => memory.take(...args)),
    add: (...args) => ask(() => memory.add(...args)),
    get: (...args) => ask(() => memory.get(...args)),
    set: (...args) => ask(() => memory.set(...args)),
    delete: (...args) => ask(() => memory.delete(...args)),
  };
  return { store, ends, asked: () => asked };
}

describe('shared state while its store is away', () => {
  async function withFragile(): Promise<
    ReturnType<typeof fragile> & {
      t: TestHost;
      clock: ReturnType<typeof fakeClock>;
      state: SharedState;
      logged: () => unknown[];
    }
  > {
    const found = fragile();
    const clock = fakeClock();
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const t = await startHost(
      { targets: [stub.target('a')] },
      { clock, builtins: [opening('state', ({ stores }) => stores.state.supply('redis', found.store))] },
    );
    return {
      ...found,
      t,
      clock,
      state: t.host.state,
      logged: () => t.lines.map(({ msg }) => msg as unknown).filter((msg) => String(msg).includes('shared store')),
    };
  }

  const LOST = 'the shared store does not answer, this process goes by its own memory';

  it('is the memory of this process, for every operation, and the loss is logged once', async () => {
    const { state, ends, logged } = await withFragile();
    await state.set('answer', 'x', 1000);
    await state.add('spend', 5);
    ends.now = 'badly';
    expect(await state.get('answer')).to.equal(undefined);
    expect([await state.add('spend', 2), await state.add('spend', 0)]).to.deep.equal([2, 2]);
    const bucket = { ratePerSecond: 1, burst: 1 };
    expect([
      (await state.take('bucket', bucket, 1)).taken,
      (await state.take('bucket', bucket, 1)).taken,
    ]).to.deep.equal([true, false]);
    await state.set('answer', 'y', 1000);
    expect(String(await state.get('answer'))).to.equal('y');
    await state.delete('answer');
    expect(await state.get('answer')).to.equal(undefined);
    expect(logged()).to.deep.equal([LOST]);
  });

  it('leaves the store alone for a second, and goes back to it then', async () => {
    const { state, ends, clock, asked, logged } = await withFragile();
    ends.now = 'badly';
    await state.add('spend', 1);
    ends.now = 'well';
    const before = asked();
    clock.advance(999);
    await state.add('spend', 1);
    expect(asked()).to.equal(before);
    clock.advance(1);
    expect(await state.add('spend', 7)).to.equal(7); // what was counted meanwhile stays where it was counted
    expect(logged()).to.deep.equal([LOST, 'the shared store answers again']);
  });

  it('waits 250 ms for one that hangs, and no longer', async () => {
    const { state, ends, clock } = await withFragile();
    ends.now = 'never';
    let sum: number | undefined;
    const added = state.add('spend', 4).then((found) => {
      sum = found;
    });
    clock.advance(249);
    await new Promise(setImmediate);
    expect(sum).to.equal(undefined);
    clock.advance(1);
    await added;
    expect(sum).to.equal(4);
  });

  it("does not take a caller's mistake for a fault of the store", async () => {
    const { state, asked, logged } = await withFragile();
    expect(
      await state.set('answer', 5 as unknown as string, 1000).then(
        () => '',
        (error: Error) => error.message,
      ),
    ).to.include('must be a Uint8Array or a string');
    const refused = await state.add('spend', Number.NaN).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refused).to.include('NaN');
    expect([asked(), logged()]).to.deep.equal([0, []]);
  });
});
