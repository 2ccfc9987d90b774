import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRedactor } from '../../host/log/redact.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import type { LedgerRepository } from '../../host/stores/ledgers/ledger-repository.ts';
import type { LogRepository } from '../../host/stores/log/log-repository.ts';
import { RequestLogStore } from '../../host/stores/log/request-log-store.ts';
import { finishStores } from '../../host/stores/closing.ts';
import { MemoryAudit } from '../../host/stores/audit/memory-audit.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { digestOf } from '../../host/stores/principals.ts';
import { StoreClock } from '../../host/stores/replicas/store-clock.ts';
import { createStores, type Stores } from '../../host/stores/stores.ts';
import { createMemoryState } from '../../host/state/shared-state.ts';
import { fakeClock, type FakeClock } from '../kit/index.ts';
import { SILENT } from './backends.ts';

/** A repository whose writes never end, once it hangs. */
function hanging<R extends object>(repository: R, state: { readonly hangs: boolean }): R {
  return new Proxy(repository, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...values: unknown[]) => (state.hangs ? new Promise(() => {}) : Reflect.apply(member, target, values));
    },
  });
}

interface Scene {
  readonly stores: Stores;
  readonly clock: FakeClock;
  readonly lines: unknown[];
  readonly log: RequestLogStore;
}

/** Stores in which something waits, and which hang from now on or do not. */
async function scene(hangs: boolean): Promise<Scene> {
  const clock = fakeClock();
  const state = { hangs: false };
  const lines: unknown[] = [];
  const error = (message: string, { keys, rows }: Record<string, unknown> = {}): void => {
    if (/lost/.test(message)) lines.push([message, keys ?? rows]);
  };
  const deps = { clock, log: { ...SILENT, error }, redactor: createRedactor({}), randomBytes };
  const stores = createStores(createMemoryState(clock), { ...deps, newClock: () => new StoreClock(clock) });
  stores.keys.supply('test', hanging(new MemoryKeys(), state));
  stores.audit.supply('test', hanging(new MemoryAudit(), state));
  const { end } = stores;
  const accounts: LedgerRepository = { isShared: false, book: async () => [], read: async () => [] };
  const ledgers = await StoredLedgers.load(hanging(accounts, state), { ...deps, end, backend: 'test' });
  stores.ledgers.supply('test', ledgers);
  const rows = { append: async () => {}, settle: async () => {} } as unknown as LogRepository;
  const log = new RequestLogStore(hanging(rows, state), {
    ...deps,
    end,
    backend: 'test',
    retention: { days: undefined, rows: undefined },
    dropped: () => {},
  });
  stores.logReader.supply('test', log);
  const { key } = await stores.keys.create({ name: 'k', scopes: [] });
  await stores.keys.ask(digestOf(key));
  state.hangs = hangs;
  ledgers.open('l', { maxKeys: 0 }).commit('k', 5);
  log.append({ trace_id: 't', stage: 'after_request', model: 'm', created_at: 1 });
  stores.audit.append({ action: 'a', actor: 'ada', outcome: 'ok' });
  return { stores, clock, lines, log };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

describe('a clean stop', () => {
  it('gives all stores five seconds together, and says what is lost', async () => {
    const { stores, clock, lines, log } = await scene(true);
    const ended: string[] = [];
    void finishStores(stores)
      .then(() => log.close())
      .finally(() => ended.push('stopped'));
    await turns();
    clock.advance(4700);
    await turns();
    expect([ended, lines]).to.deep.equal([[], []]);
    clock.advance(300);
    await turns();
    expect(ended).to.deep.equal(['stopped']);
    expect(lines).to.have.deep.members([
      ['what was spent is lost: the store of ledgers did not come back', 1],
      ['uses of keys are lost: their store did not come back', 1],
      ['audit rows are lost: their store did not come back', 1],
      ['rows of the request log are lost: their store did not come back', 1],
    ]);
  });

  it('takes no time where they answer, and loses nothing', async () => {
    const { stores, lines, log } = await scene(false);
    await finishStores(stores);
    await log.close();
    expect(lines).to.deep.equal([]);
    expect((await stores.audit.list({ limit: 10, offset: 0 })).total).to.equal(1);
  });
});
