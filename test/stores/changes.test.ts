import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRedactor } from '../../host/log/redact.ts';
import { ChangeInDoubt, type PendingChange } from '../../host/stores/changes.ts';
import type { Mended } from '../../host/stores/keys/doubts.ts';
import type { StoredKey } from '../../host/stores/keys/key-record.ts';
import type { KeyStep } from '../../host/stores/keys/key-repository.ts';
import { KeyStore } from '../../host/stores/keys/key-store.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { digestOf } from '../../host/stores/principals.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import { cases, Dice, fakeClock, type FakeClock } from '../kit/index.ts';
import { allKeys, SILENT } from './backends.ts';

/** What becomes of a change: it is answered, it fails before it decides, or the answer to what decided is lost, and the store has it or not. */
const FATES = ['answered', 'before', 'kept', 'undone'] as const;
type Fate = (typeof FATES)[number];

/** Keys of which changes end as the test wants, and which cannot be looked at while they are away. */
class Lossy extends MemoryKeys {
  fate: Fate = 'answered';
  isAway = false;
  looks = 0;
  /** What a change waits for before it decides. */
  hangs: Promise<void> | undefined;
  decided = 0;

  override insert(key: StoredKey, change?: PendingChange): Promise<void> {
    return this.#meet(change, (isKept) => (isKept ? super.insert(key) : Promise.resolve()));
  }

  override change(id: string, step: KeyStep, change?: PendingChange): Promise<StoredKey | undefined> {
    return this.#meet(change, async (isKept) =>
      isKept ? super.change(id, step) : step.apply(await this.get(id), Infinity),
    );
  }

  override async look(id: string): Promise<StoredKey | undefined> {
    this.looks += 1;
    if (this.isAway) throw new Error('away');
    return this.get(id);
  }

  async #meet<T>(change: PendingChange | undefined, make: (isKept: boolean) => Promise<T>): Promise<T> {
    if (this.fate === 'before' || (this.isAway && !change)) throw new Error('away');
    await this.hangs;
    change?.goOn();
    const isKept = this.fate !== 'undone' || !change;
    const made = await make(isKept);
    change?.decide();
    this.decided += 1;
    if (change && this.fate !== 'answered') throw new Error('the connection ended');
    return made;
  }
}

interface Scene {
  readonly clock: FakeClock;
  readonly keys: KeyStore;
  readonly store: Lossy;
  readonly mended: Mended[];
  readonly told: string[];
  /** What comes of it, with time passing as long as it takes: an answer, or an error. */
  readonly end: <T>(work: Promise<T>) => Promise<T | Error>;
}

function scene(): Scene {
  const clock = fakeClock();
  const mended: Mended[] = [];
  const told: string[] = [];
  const note = (message: string): void => {
    told.push(message);
  };
  const keys = new KeyStore({
    clock,
    log: { ...SILENT, warn: note, error: note },
    redactor: createRedactor({}),
    randomBytes,
    mended: (what) => mended.push(what),
  });
  const store = new Lossy();
  keys.supply('test', store);
  return {
    clock,
    keys,
    store,
    mended,
    told,
    end: async (work) => {
      const ended: object[] = [];
      const settled = work.catch((error: unknown) => error as Error).finally(() => ended.push({}));
      while (ended.length === 0) {
        await turns();
        clock.advance(100);
      }
      return settled;
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

const found = async (store: Lossy, key: string): Promise<StoredKey | undefined> =>
  (await store.findAll([digestOf(key)]))[0];

const draft = { name: 'k', scopes: ['read_only'] as const };

describe('a change of a key whose answer is lost', () => {
  it('is what the store has, where that can be seen', async () => {
    const { keys, store, end } = scene();
    store.fate = 'kept';
    const made = await end(keys.create(draft));
    if (made instanceof Error) throw made;
    expect((await found(store, made.key))?.id).to.equal(made.record.id);
    const updated = await end(keys.update(made.record.id, { name: 'other' }, 'x'));
    expect(updated).to.have.nested.property('record.name', 'other');
    expect(await end(keys.delete(made.record.id, 'x'))).to.equal(true);
    store.fate = 'undone';
    const refused = await end(keys.create(draft));
    expect(refused).to.be.instanceOf(StoreUnavailable).and.not.instanceOf(ChangeInDoubt);
    expect(store.looks).to.equal(4);
  });

  it('is not looked for where it failed before it decided', async () => {
    const { keys, store, end } = scene();
    store.fate = 'before';
    expect(await end(keys.create(draft)))
      .to.be.instanceOf(StoreUnavailable)
      .and.not.instanceOf(ChangeInDoubt);
    expect(store.looks).to.equal(0);
  });

  it('is in doubt where the store does not say so within ten seconds', async () => {
    const { keys, store, end, clock } = scene();
    store.fate = 'kept';
    store.isAway = true;
    const begun = clock.monotonic();
    expect(await end(keys.create(draft))).to.be.instanceOf(ChangeInDoubt);
    expect(clock.monotonic() - begun).to.be.within(9000, 10_100);
    expect(store.looks).to.be.within(3, 20);
  });

  it('is in doubt where another change came after it', async () => {
    const { keys, store, end } = scene();
    const made = await keys.create(draft);
    store.fate = 'kept';
    store.isAway = true;
    const work = keys.update(made.record.id, { name: 'mine' }, 'x');
    await turns();
    store.fate = 'answered';
    await MemoryKeys.prototype.change.call(store, made.record.id, {
      apply: (key) => key && { ...key, name: 'theirs' },
    });
    store.isAway = false;
    expect(await end(work)).to.be.instanceOf(ChangeInDoubt);
  });

  it('does nothing once its caller has given up', async () => {
    const { keys, store, end } = scene();
    const late = Promise.withResolvers<void>();
    store.hangs = late.promise;
    expect(await end(keys.create(draft)))
      .to.be.instanceOf(StoreUnavailable)
      .and.not.instanceOf(ChangeInDoubt);
    late.resolve();
    await turns();
    expect([store.decided, await allKeys(store)]).to.deep.equal([0, []]);
  });
});

describe('a value of a key that was given to no one', () => {
  it('goes with its key, or with its rotation, once the store is back', async () => {
    const { keys, store, end, clock, mended, told } = scene();
    const old = await keys.create({ ...draft, name: 'old' });
    store.fate = 'kept';
    store.isAway = true;
    await end(keys.create(draft));
    await end(keys.rotate(old.record.id, { graceMs: 1000 }));
    await end(keys.update(old.record.id, { name: 'new' }, 'x'));
    expect(await allKeys(store)).to.have.length(2);
    expect(await found(store, old.key)).to.include({ name: 'new' });
    expect((await store.get(old.record.id))?.digest).not.to.equal(digestOf(old.key));
    clock.advance(5000);
    await turns();
    expect(mended).to.deep.equal([]);
    store.fate = 'answered';
    store.isAway = false;
    clock.advance(5000);
    await turns();
    const left = await allKeys(store);
    expect(
      left.map(({ id, digest, name, previous, rotatedAt }) => [id, digest, name, previous, rotatedAt]),
    ).to.deep.equal([[old.record.id, digestOf(old.key), 'new', undefined, undefined]]);
    expect(mended.map(({ action }) => action).toSorted()).to.deep.equal(['key.create', 'key.rotate']);
    expect(told.filter((line) => line === 'a doubt was mended')).to.have.length(2);
    expect((await keys.ask(digestOf(old.key)))?.name).to.equal('new');
    expect(clock.waiting).to.equal(1); // what is left writes uses
  });

  it('is left alone where the store did not keep it, or has another by now', async () => {
    const { keys, store, end, clock, mended } = scene();
    const old = await keys.create(draft);
    store.isAway = true;
    store.fate = 'undone';
    await end(keys.create(draft));
    store.fate = 'kept';
    await end(keys.rotate(old.record.id));
    store.fate = 'answered';
    store.isAway = false;
    const later = await keys.rotate(old.record.id);
    clock.advance(5000);
    await turns();
    expect(mended).to.deep.equal([]);
    expect((await allKeys(store)).map(({ digest }) => digest)).to.deep.equal([digestOf(later?.key ?? '')]);
  });

  it('is tried once more by a clean stop, which says what is left', async () => {
    for (const isAway of [false, true]) {
      const { keys, store, end, told } = scene();
      store.fate = 'kept';
      store.isAway = true;
      await end(keys.create(draft));
      store.fate = 'answered';
      store.isAway = isAway;
      await keys.close();
      expect((await allKeys(store)).length).to.equal(isAway ? 1 : 0);
      expect(told.includes('changes of keys are left in doubt: their store did not come back')).to.equal(isAway);
    }
  });
});

/** A key as its owner knows it. */
interface Owned {
  readonly id: string;
  /** The value that was given out last. */
  key: string;
  /** What its name may be: an answer may be in doubt. */
  names: string[];
}

describe('keys, whatever answers are lost', () => {
  for (let seed = 1; seed <= cases(300); seed += 1) {
    it(`are what was answered, and none loses its only value: seed ${seed}`, async () => {
      const dice = new Dice(seed);
      const { keys, store, end, clock } = scene();
      const owned: Owned[] = [];
      for (let step = 0; step < 12; step += 1) {
        store.fate = dice.pick(FATES);
        store.isAway = dice.below(3) === 0;
        await act({ keys, end, owned, dice }, `n${step}`);
        store.isAway = false;
        store.fate = 'answered';
        if (dice.below(2) === 0) clock.advance(5000); // some are mended before the next change, and some after it
        await turns();
      }
      clock.advance(5000);
      await turns();
      expect(await allKeys(store)).to.have.length(owned.length);
      for (const { id, key, names } of owned) {
        const stored = await found(store, key);
        expect(stored?.id).to.equal(id);
        expect(names).to.include(stored?.name);
      }
    });
  }
});

type Acting = Pick<Scene, 'keys' | 'end'> & { readonly owned: Owned[]; readonly dice: Dice };

async function act({ keys, end, owned, dice }: Acting, name: string): Promise<void> {
  const known = owned.length > 0 && dice.below(4) > 0 ? dice.pick(owned) : undefined;
  if (!known) {
    const made = await end(keys.create({ ...draft, name }));
    if (!(made instanceof Error)) owned.push({ id: made.record.id, key: made.key, names: [name] });
  } else if (dice.below(2) === 0) {
    const made = await end(keys.rotate(known.id));
    if (made && !(made instanceof Error)) known.key = made.key;
  } else {
    const updated = await end(keys.update(known.id, { name }, 'x'));
    if (updated instanceof ChangeInDoubt) known.names.push(name);
    else if (!(updated instanceof Error)) known.names = [name];
  }
}
