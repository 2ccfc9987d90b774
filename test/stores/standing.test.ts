import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRedactor } from '../../host/log/redact.ts';
import type { ChangeFeed } from '../../host/stores/change-feed.ts';
import type { CredentialChange } from '../../host/stores/credential-standing.ts';
import type { KeyRepository } from '../../host/stores/keys/key-repository.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { KeyStore } from '../../host/stores/keys/key-store.ts';
import { digestOf } from '../../host/stores/principals.ts';
import { SessionStore } from '../../host/stores/sessions/session-store.ts';
import { fakeClock, type FakeClock } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const HOUR = 60 * 60 * 1000;

interface Opened {
  readonly keys: KeyStore;
  readonly sessions: SessionStore;
  readonly clock: FakeClock;
  readonly heard: CredentialChange[];
  /** The store does not answer. */
  isAway: boolean;
  /** What is read is asked again after so long; for ever where nothing says otherwise. */
  staleMs: number;
  readonly calls: string[];
}

function open(inner: KeyRepository = new MemoryKeys()): Opened {
  const clock = fakeClock();
  const deps = { clock, log: SILENT, redactor: createRedactor({}), randomBytes };
  const keys = new KeyStore(deps);
  const opened: Opened = {
    keys,
    sessions: new SessionStore(deps, keys, {
      find: (id) => (id === 'master' ? ({ id, name: id, scopes: [] } as never) : undefined),
      ask: async () => undefined,
      owns: () => false,
    }),
    clock,
    heard: [],
    isAway: false,
    staleMs: Infinity,
    calls: [],
  };
  const feed: ChangeFeed = { freshSince: () => clock.monotonic() - opened.staleMs, onChange: () => {} };
  const repository = new Proxy<KeyRepository>(inner, {
    get:
      (target, name) =>
      (...args: unknown[]) => {
        opened.calls.push(String(name));
        if (opened.isAway) return Promise.reject(new Error('ECONNREFUSED'));
        return (Reflect.get(target, name) as (...given: unknown[]) => unknown).apply(target, args);
      },
  });
  keys.supply('sqlite', repository, feed);
  keys.notices.listen((change) => opened.heard.push(change));
  return opened;
}

/** A key that a request has come with. */
async function used({ keys }: Opened, more: object = {}): Promise<{ id: string; digest: string; key: string }> {
  const { key, record } = await keys.create({ name: 'k', scopes: ['read_only'], ...more });
  await keys.ask(digestOf(key));
  return { id: record.id, digest: digestOf(key), key };
}

describe('whether a key that was admitted stands', () => {
  it('is known in memory, is not a use of it, and asks nothing', async () => {
    const o = open();
    const { id, digest } = await used(o);
    await o.keys.flush();
    o.calls.length = 0;
    for (let look = 0; look < 3; look += 1) expect(o.keys.standing(digest, id)).to.equal('stands');
    expect(o.calls).to.deep.equal([]);
    expect((await o.keys.get(id))?.usageCount).to.equal(1);
    await o.keys.askStanding(digest, id);
    expect((await o.keys.get(id))?.usageCount).to.equal(1);
  });

  it('follows what becomes of it', async () => {
    const o = open();
    const { id, digest } = await used(o, { expiresAt: o.clock.now() + 5000 });
    const { key: next } = (await o.keys.rotate(id, { graceMs: 1000 })) ?? { key: '' };
    const both = (): string[] => [o.keys.standing(digest, id), o.keys.standing(digestOf(next), id)];
    o.clock.advance(1000);
    expect(both()).to.deep.equal(['stands', 'stands']);
    o.clock.advance(1);
    expect(both()).to.deep.equal(['replaced', 'stands']);
    o.clock.advance(4000);
    expect(both()).to.deep.equal(['replaced', 'expired']);
    await o.keys.revoke(id, 'other');
    expect(both()).to.deep.equal(['revoked', 'revoked']);
    await o.keys.delete(id, 'other');
    expect(both()).to.deep.equal(['unknown', 'unknown']);
    expect(await Promise.all([o.keys.askStanding(digest, id), o.keys.askStanding(digestOf(next), id)])).to.deep.equal([
      'gone',
      'gone',
    ]);
  });

  it('is a question for the store where memory is older than its value, which another process made', async () => {
    const shared = new MemoryKeys();
    const [o, other] = [open(shared), open(shared)];
    const { id, digest } = await used(o);
    const { key: next } = (await other.keys.rotate(id)) ?? { key: '' };
    expect(o.keys.standing(digestOf(next), id)).to.equal('unknown');
    expect(await o.keys.askStanding(digestOf(next), id)).to.equal('stands');
    expect(await o.keys.askStanding(digest, id)).to.equal('replaced');
  });

  it('is to be looked at with each change, and with each that may have been made', async () => {
    const o = open();
    const { id } = await used(o);
    await o.keys.update(id, { name: 'x' }, 'other');
    o.isAway = true;
    await o.keys.revoke(id, 'other').catch(() => {});
    o.isAway = false;
    await o.keys.delete(id, 'other');
    expect(o.heard).to.deep.equal([
      { id, isGone: false },
      { id, isGone: false },
      { id, isGone: true },
    ]);
  });

  it('is as it was while its store is away, for an hour after that was last heard of', async () => {
    const o = open();
    o.staleMs = 5000;
    const { id, digest } = await used(o);
    o.isAway = true;
    o.clock.advance(5000);
    expect(o.keys.standing(digest, id)).to.equal('unknown');
    expect(await o.keys.askStanding(digest, id)).to.equal('stands');
    o.calls.length = 0;
    expect(await o.keys.askStanding(digest, id), 'it has just failed').to.equal('stands');
    expect(o.calls).to.deep.equal([]);
    o.clock.advance(HOUR - 5000);
    expect(await o.keys.askStanding(digest, id)).to.equal('stands');
    o.clock.advance(1);
    expect(await o.keys.askStanding(digest, id)).to.equal('unheard');
  });
});

describe('whether a session that was admitted stands', () => {
  it('is a question of itself and of what it was made from', async () => {
    const o = open();
    const { id } = await used(o);
    const make = async (credentialId: string): Promise<{ digest: string; id: string }> => {
      const { token, session } = await o.sessions.create({ credentialId, subject: 'x', scopes: [] });
      await o.sessions.ask(digestOf(token));
      return { digest: digestOf(token), id: session.id };
    };
    const [one, two, lasting] = [await make(id), await make(id), await make('master')];
    const all = (): string[] => [one, two, lasting].map(({ digest }) => o.sessions.standing(digest));
    expect(all()).to.deep.equal(['stands', 'stands', 'stands']);
    await o.sessions.delete(one.id);
    expect([all(), await o.sessions.askStanding(one.digest)]).to.deep.equal([['unknown', 'stands', 'stands'], 'gone']);
    await o.keys.rotate(id, { endsSessions: true });
    expect(all().slice(1)).to.deep.equal(['replaced', 'stands']);
    const three = await make(id);
    await o.keys.update(id, { expiresAt: 1 }, 'other');
    expect(o.sessions.standing(three.digest)).to.equal('expired');
    await o.keys.revoke(id, 'other');
    expect(o.sessions.standing(three.digest)).to.equal('revoked');
    o.clock.advance(HOUR);
    expect(o.sessions.standing(lasting.digest), 'without use').to.equal('expired');
  });
});
