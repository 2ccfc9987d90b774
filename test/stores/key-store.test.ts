import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Principal } from '../../host/contract/index.ts';
import { forwardClock } from '../../host/common/clock.ts';
import { createRedactor } from '../../host/log/redact.ts';
import type { AuditEntry } from '../../host/stores/audit/audit-entry.ts';
import { AuditStore, MOST_WAITING } from '../../host/stores/audit/audit-store.ts';
import type { ChangeFeed } from '../../host/stores/change-feed.ts';
import type { KeyRepository } from '../../host/stores/keys/key-repository.ts';
import type { MadeKey } from '../../host/stores/keys/key-record.ts';
import { KeyStore } from '../../host/stores/keys/key-store.ts';
import { MemoryAudit } from '../../host/stores/audit/memory-audit.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { MemorySessions } from '../../host/stores/sessions/memory-sessions.ts';
import { digestOf } from '../../host/stores/principals.ts';
import { SessionStore } from '../../host/stores/sessions/session-store.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import { fakeClock, type FakeClock } from '../kit/index.ts';
import { allSessions, SILENT } from './backends.ts';

const HOUR = 60 * 60 * 1000;

type State = 'well' | 'away' | 'hung';

/** Repositories whose calls end as the test wants. */
interface Fragile<T> {
  readonly repository: T;
  state: State;
  /** What answers wait for, after they were found. */
  late: Promise<void> | undefined;
  readonly calls: string[];
}

function fragile<T extends object>(inner: T): Fragile<T> {
  const found = {
    repository: inner,
    state: 'well' as State,
    late: undefined as Promise<void> | undefined,
    calls: [] as string[],
  };
  found.repository = new Proxy(inner, {
    get:
      (target, name) =>
      (...args: unknown[]) => {
        found.calls.push(String(name));
        if (found.state === 'away') return Promise.reject(new Error('ECONNREFUSED password=x'));
        if (found.state === 'hung') return new Promise(() => {});
        const { late } = found;
        const answer = (Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>).apply(target, args);
        return late ? answer.then((value) => late.then(() => value)) : answer;
      },
  });
  return found;
}

interface Opened {
  readonly keys: KeyStore;
  readonly sessions: SessionStore;
  readonly store: Fragile<KeyRepository>;
  readonly clock: FakeClock;
  /** Whose a key is, memory first, as a request finds it; the error's name when the store is away. */
  readonly who: (key: string) => Promise<string>;
  readonly made: (more?: object) => Promise<MadeKey>;
}

function open(feed?: ChangeFeed): Opened {
  const clock = fakeClock();
  const deps = { clock, log: SILENT, redactor: createRedactor({}), randomBytes };
  const keys = new KeyStore(deps);
  const sessions = new SessionStore(deps, keys, {
    find: () => undefined,
    ask: async () => undefined,
    owns: () => false,
  });
  const store = fragile<KeyRepository>(new MemoryKeys());
  keys.supply('sqlite', store.repository, feed);
  const who = async (key: string): Promise<string> => {
    try {
      const found: Principal | undefined = keys.find(digestOf(key)) ?? (await keys.ask(digestOf(key)));
      return found?.name ?? 'unknown';
    } catch (error) {
      return (error as Error).name;
    }
  };
  return {
    keys,
    sessions,
    store,
    clock,
    who,
    made: (more = {}) => keys.create({ name: 'ada', scopes: ['admin'], ...more }),
  };
}

describe('a stored key', () => {
  it('is looked for in the store once, and in memory from then on', async () => {
    const { store, who, made } = open();
    const { key } = await made();
    expect([await who(key), await who(key), await who(key)]).to.deep.equal(['ada', 'ada', 'ada']);
    expect(store.calls.filter((name) => name === 'findAll')).to.have.length(1);
  });

  it('is asked of the store once by all that come at the same time', async () => {
    const { store, who, made } = open();
    const { key } = await made();
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => who(key))))).to.deep.equal(new Set(['ada']));
    expect(store.calls.filter((name) => name === 'findAll')).to.have.length(1);
  });

  it('is over with the next request once it is revoked, deleted or rotated', async () => {
    const { keys, who, made } = open();
    const [revoked, deleted, rotated] = [await made(), await made(), await made()];
    await made(); // an admin key that stays
    for (const { key } of [revoked, deleted, rotated]) expect(await who(key)).to.equal('ada');
    await keys.revoke(revoked.record.id, 'x');
    await keys.delete(deleted.record.id, 'x');
    const next = await keys.rotate(rotated.record.id);
    expect([
      await who(revoked.key),
      await who(deleted.key),
      await who(rotated.key),
      await who(next?.key ?? ''),
    ]).to.deep.equal(['unknown', 'unknown', 'unknown', 'ada']);
  });

  it('is not brought back by an answer that was on its way when it was revoked', async () => {
    const { keys, store, who, made } = open();
    const [{ key, record }] = [await made({ scopes: [] })];
    const late = Promise.withResolvers<void>();
    store.late = late.promise;
    const first = who(key);
    store.late = undefined;
    await keys.revoke(record.id, 'x');
    const second = who(key);
    late.resolve();
    await first;
    expect([await second, await who(key)]).to.deep.equal(['unknown', 'unknown']);
  });

  it('has the old value for its grace, and until it is revoked', async () => {
    const { keys, clock, who, made } = open();
    const { key, record } = await made({ scopes: [] });
    const next = await keys.rotate(record.id, { graceMs: 5000 });
    clock.advance(5000);
    expect([await who(key), await who(next?.key ?? '')]).to.deep.equal(['ada', 'ada']);
    clock.advance(1);
    expect([await who(key), await who(next?.key ?? '')]).to.deep.equal(['unknown', 'ada']);
    const last = await keys.rotate(record.id, { graceMs: 5000 });
    await keys.revoke(record.id, 'x');
    expect([await who(next?.key ?? ''), await who(last?.key ?? '')]).to.deep.equal(['unknown', 'unknown']);
  });

  it('expires after its moment, and lives again when that is moved', async () => {
    const { keys, clock, who, made } = open();
    const { key, record } = await made({ scopes: [], expiresAt: fakeClock().now() + 1000 });
    clock.advance(1000);
    expect(await who(key)).to.equal('ada');
    clock.advance(1);
    expect(await who(key)).to.equal('unknown');
    await keys.update(record.id, { expiresAt: null }, 'x');
    expect(await who(key)).to.equal('ada');
  });

  it('stays expired where the clock is set back', () => {
    const clock = { ...fakeClock(), now: () => 1000 };
    const forward = forwardClock(clock);
    expect(forward.now()).to.equal(1000);
    clock.now = () => 400;
    expect(forward.now()).to.equal(1000);
    clock.now = () => 5000;
    expect(forward.now()).to.equal(5000);
  });
});

describe('a stored key while its store is away', () => {
  it('goes on when it was in use, and only then', async () => {
    const { store, clock, who, made } = open();
    const [used, unused] = [await made(), await made()];
    expect(await who(used.key)).to.equal('ada');
    for (const state of ['away', 'hung'] as const) {
      store.state = state;
      const answers = [who(used.key), who(unused.key), who('gw_x')];
      clock.advance(2000);
      expect(await Promise.all(answers), state).to.deep.equal(['ada', 'StoreUnavailable', 'StoreUnavailable']);
    }
    store.state = 'well';
    expect([await who(unused.key), await who('gw_x')]).to.deep.equal(['ada', 'unknown']);
  });

  it('stops an hour after its last use', async () => {
    const { store, clock, who, made } = open();
    const { key } = await made();
    await who(key);
    store.state = 'away';
    clock.advance(HOUR);
    expect(await who(key)).to.equal('ada');
    clock.advance(HOUR + 1);
    expect(await who(key)).to.equal('StoreUnavailable');
  });

  it('is as it was when a change of it fails, and shows no half of that', async () => {
    const { keys, store, who, made } = open();
    const { key, record } = await made();
    await who(key);
    store.state = 'away';
    const changes = [
      keys.revoke(record.id, 'x'),
      keys.update(record.id, { name: 'new', expiresAt: 1 }, 'x'),
      keys.delete(record.id, 'x'),
      keys.rotate(record.id),
    ];
    for (const end of await Promise.allSettled<unknown>(changes)) {
      expect(end.status === 'rejected' && end.reason).to.be.instanceOf(StoreUnavailable);
      expect((end as PromiseRejectedResult).reason.message).not.to.include('ECONNREFUSED');
    }
    expect(await who(key)).to.equal('ada');
    store.state = 'well';
    expect([await who(key), await keys.get(record.id)]).to.deep.equal([
      'ada',
      { ...record, usageCount: 3, lastUsedAt: record.createdAt },
    ]);
  });
});

describe('the uses of a key', () => {
  it('are seen at once, and written once a second', async () => {
    const { keys, store, clock, who, made } = open();
    const { key, record } = await made();
    for (let at = 0; at < 5; at += 1) await who(key);
    expect(await keys.get(record.id)).to.deep.include({ usageCount: 5, lastUsedAt: clock.now() });
    await who(key);
    clock.advance(1000);
    await keys.flush();
    expect(store.calls.filter((name) => name === 'addUses')).to.have.length(2);
    expect(await store.repository.get(record.id)).to.deep.include({ usageCount: 6 });
  });

  it('are written by a clean stop', async () => {
    const { keys, store, clock, who, made } = open();
    const { key, record } = await made();
    await who(key);
    await keys.close();
    expect([(await store.repository.get(record.id))?.usageCount, clock.waiting]).to.deep.equal([1, 0]);
  });

  it('wait while the store is away, and are lost by nothing', async () => {
    const { keys, store, clock, who, made } = open();
    const { key, record } = await made();
    await who(key);
    store.state = 'away';
    for (let at = 0; at < 3; at += 1) {
      await who(key);
      clock.advance(1000);
      await keys.flush();
    }
    store.state = 'well';
    expect(await keys.get(record.id)).to.deep.include({ usageCount: 4 });
  });
});

describe('a key that another process changes', () => {
  it('is asked for again as soon as that is heard, or when nothing can be heard', async () => {
    let fresh = Number.NEGATIVE_INFINITY;
    let tell: (id: string | undefined) => void = () => {};
    const { store, clock, who, made } = open({
      freshSince: () => fresh,
      onChange: (changed) => {
        tell = changed;
      },
    });
    const { key, record } = await made();
    const finds = async (): Promise<number> => {
      await who(key);
      return store.calls.filter((name) => name === 'findAll').length;
    };
    expect([await finds(), await finds()]).to.deep.equal([1, 1]);
    tell(record.id);
    expect([await finds(), await finds()]).to.deep.equal([2, 2]);
    tell('another');
    expect(await finds()).to.equal(2);
    clock.advance(10);
    fresh = clock.monotonic();
    clock.advance(1);
    expect([await finds(), await finds()]).to.deep.equal([3, 3]);
  });
});

describe('a session', () => {
  const whose = async ({ sessions }: Opened, token: string): Promise<string> => {
    const found = sessions.find(digestOf(token)) ?? (await sessions.ask(digestOf(token)));
    return found ? `${found.id} ${found.scopes.join()}` : 'unknown';
  };

  async function signedIn(): Promise<
    Opened & MadeKey & { readonly token: string; readonly whose: () => Promise<string> }
  > {
    const opened = open();
    const made = await opened.made({ scopes: ['read_only'] });
    const { token } = await opened.sessions.create({
      credentialId: made.record.id,
      subject: 'ada',
      scopes: ['read_only'],
    });
    return { ...opened, ...made, token, whose: () => whose(opened, token) };
  }

  it('ends after an hour without use, at its very moment, and after a day with any', async () => {
    const idle = await signedIn();
    idle.clock.advance(HOUR - 1);
    expect(await idle.whose()).to.match(/read_only/);
    idle.clock.advance(HOUR);
    expect(await idle.whose()).to.equal('unknown');
    const busy = await signedIn();
    for (let hours = 0; hours < 47; hours += 1) {
      busy.clock.advance(HOUR / 2);
      expect(await busy.whose()).to.match(/read_only/);
    }
    busy.clock.advance(HOUR / 2);
    expect(await busy.whose()).to.equal('unknown');
  });

  it('has the scopes and the limits that its key has now', async () => {
    const { keys, sessions, record, token, whose: now } = await signedIn();
    expect(await now()).to.equal(`${record.id} read_only`);
    await keys.update(record.id, { scopes: ['admin'], limits: { rpm: 3 } }, 'x');
    expect(await now()).to.equal(`${record.id} admin`);
    expect(sessions.find(digestOf(token))).to.deep.include({ limits: { rpm: 3 } });
    expect((await allSessions(sessions))[0]).to.deep.include({ scopes: ['read_only'], active: true });
  });

  it('is as good as its key', async () => {
    const { keys, sessions, record, clock, whose: now } = await signedIn();
    await keys.update(record.id, { expiresAt: clock.now() - 1 }, 'x');
    expect([await now(), (await allSessions(sessions))[0]?.active]).to.deep.equal(['unknown', false]);
    await keys.update(record.id, { expiresAt: null }, 'x');
    await keys.rotate(record.id);
    expect([await now(), (await allSessions(sessions))[0]?.active]).to.deep.equal([`${record.id} read_only`, true]);
    await keys.revoke(record.id, 'x');
    expect([await now(), (await allSessions(sessions))[0]?.active]).to.deep.equal(['unknown', false]);
    await keys.delete(record.id, 'x');
    expect([await now(), (await allSessions(sessions))[0]?.active]).to.deep.equal(['unknown', false]);
  });

  it('ends with a rotation that says so, and those made after it do not', async () => {
    const opened = await signedIn();
    const { keys, sessions, record, whose: now } = opened;
    await keys.rotate(record.id, { endsSessions: true });
    expect([await now(), await allSessions(sessions)]).to.deep.equal(['unknown', []]);
    const { token } = await sessions.create({ credentialId: record.id, subject: 'ada', scopes: ['read_only'] });
    expect(await whose(opened, token)).to.equal(`${record.id} read_only`);
  });

  it('is looked up again once it was ended, and is gone', async () => {
    const { sessions, whose: now } = await signedIn();
    await now();
    const [listed] = await allSessions(sessions);
    expect([await sessions.delete(listed?.id ?? ''), await now(), await sessions.deleteAll()]).to.deep.equal([
      true,
      'unknown',
      0,
    ]);
  });

  it('was last used when memory says so, while the store does not know it yet', async () => {
    const opened = open();
    const untouched = new MemorySessions();
    untouched.touch = () => Promise.resolve(); // its writing is on its way
    let fresh = 0;
    opened.sessions.supply('sqlite', untouched, { freshSince: () => fresh, onChange: () => {} });
    const { record } = await opened.made();
    const { token } = await opened.sessions.create({ credentialId: record.id, subject: 'ada', scopes: ['admin'] });
    for (let uses = 0; uses < 3; uses += 1) {
      opened.clock.advance(0.8 * HOUR);
      fresh = opened.clock.monotonic();
      expect(await whose(opened, token)).to.equal(`${record.id} admin`);
    }
    opened.clock.advance(HOUR);
    expect(await whose(opened, token)).to.equal('unknown');
  });

  it('counts no use of its key', async () => {
    const { keys, record, whose: now } = await signedIn();
    await now();
    await now();
    expect((await keys.get(record.id))?.usageCount).to.equal(0);
  });
});

describe('the audit trail', () => {
  function trail(auditDropped?: () => void): {
    readonly audit: AuditStore;
    readonly store: Fragile<MemoryAudit>;
    readonly clock: FakeClock;
  } {
    const clock = fakeClock();
    const audit = new AuditStore({
      clock,
      log: SILENT,
      redactor: createRedactor({}),
      randomBytes,
      ...(auditDropped && { auditDropped }),
    });
    const store = fragile(new MemoryAudit());
    audit.supply('sqlite', store.repository);
    return { audit, store, clock };
  }

  const note = (action: string): { action: string; actor: string; outcome: 'ok' } => ({
    action,
    actor: 'ada',
    outcome: 'ok',
  });
  const actions = async (audit: AuditStore): Promise<string[]> =>
    (await audit.list({ limit: 1000, offset: 0 })).entries.map(({ action }) => action);

  it('shows a row at once, in the order of what happened', async () => {
    const { audit } = trail();
    for (const action of ['a', 'b', 'c']) audit.append(note(action));
    expect(await actions(audit)).to.deep.equal(['c', 'b', 'a']);
  });

  it('redacts what it is given, and sorts its names', async () => {
    const { audit } = trail();
    audit.append({ ...note('a'), detail: { z: `gw_${'0'.repeat(64)}`, a: ['Bearer abc'], n: 1 } });
    expect((await audit.list({ limit: 1, offset: 0 })).entries[0]?.detail).to.equal(
      '{"a":["Bearer [REDACTED_BEARER_TOKEN]"],"n":1,"z":"[REDACTED_GW_KEY]"}',
    );
  });

  it('keeps rows while its store is away, and writes them when that is back', async () => {
    const { audit, store, clock } = trail();
    store.state = 'away';
    for (const action of ['a', 'b', 'c']) audit.append(note(action));
    await audit.flush();
    expect(await audit.list({ limit: 1, offset: 0 }).catch((error: unknown) => error)).to.be.instanceOf(
      StoreUnavailable,
    );
    store.state = 'well';
    clock.advance(2000);
    expect(await actions(audit)).to.deep.equal(['c', 'b', 'a']);
    await audit.close();
    expect(clock.waiting).to.equal(0);
  });

  it('writes no row twice where its store is lost among the halves of a batch', async () => {
    const fates = [undefined, new WriteFault('refused', new Error('one of them')), undefined, new Error('away')];
    class Fated extends MemoryAudit {
      override append(entries: readonly AuditEntry[]): Promise<void> {
        const fate = fates.shift();
        return fate ? Promise.reject(fate) : super.append(entries);
      }
    }
    const clock = fakeClock();
    const audit = new AuditStore({ clock, log: SILENT, redactor: createRedactor({}), randomBytes });
    audit.supply('sqlite', new Fated());
    for (const action of ['first', 'a', 'b', 'c', 'd']) audit.append(note(action)); // the first begins a batch of its own
    await audit.flush();
    expect(fates).to.deep.equal([]);
    clock.advance(2000);
    expect(await actions(audit)).to.deep.equal(['d', 'c', 'b', 'a', 'first']);
  });

  it('keeps so many rows and no more, the newest', async () => {
    let dropped = 0;
    const { audit, store } = trail(() => {
      dropped += 1;
    });
    store.state = 'away';
    for (let at = 0; at < MOST_WAITING + 5; at += 1) audit.append(note(String(at)));
    await audit.flush();
    store.state = 'well';
    expect((await actions(audit)).at(0)).to.equal(String(MOST_WAITING + 4));
    expect(dropped).to.equal(5);
    expect(store.calls.filter((name) => name === 'append').length).to.be.lessThan(60);
  });
});
