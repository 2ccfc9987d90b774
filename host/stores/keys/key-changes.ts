import type { Clock } from '../../common/clock.ts';
import { canonicalJson } from '../../config/canonical.ts';
import { ChangeInDoubt, changed, type Found } from '../changes.ts';
import type { StoreLink } from '../store-link.ts';
import { type Doubt, Doubts, type DoubtsDeps } from './doubts.ts';
import type { StoredKey } from './key-record.ts';
import type { KeyRepository, KeysAfter, KeysStep, KeyStep } from './key-repository.ts';

export interface KeyChangesDeps extends Omit<DoubtsDeps, 'mend'> {
  readonly clock: Clock;
  readonly link: StoreLink;
  readonly repository: () => KeyRepository;
  /** A key is another by now, or gone. */
  readonly settled: (id: string, after: StoredKey | undefined) => Promise<void> | undefined;
}

/** Changes of keys: each is done or not when it is answered, or the answer says that this is not known. What would leave a value that was given to no one is mended later. */
export class KeyChanges {
  readonly #deps: KeyChangesDeps;
  readonly #doubts: Doubts;

  constructor(deps: KeyChangesDeps) {
    this.#deps = deps;
    this.#doubts = new Doubts({ ...deps, mend: (doubt) => this.#mend(doubt) });
  }

  insert(key: StoredKey): Promise<void> {
    const { clock, link, repository } = this.#deps;
    const { id, digest } = key;
    return this.#remembering(
      () => ({ id, digest, before: undefined }),
      changed(link, clock, {
        make: (change) => repository().insert(key, change),
        look: async (): Promise<Found<void>> =>
          (await repository().look(id))?.digest === digest ? { isDone: true, answer: undefined } : { isDone: false },
      }),
    );
  }

  async change(id: string, step: KeyStep): Promise<StoredKey | undefined> {
    const { clock, link, repository, settled } = this.#deps;
    let before: StoredKey | undefined;
    let after: StoredKey | undefined;
    const apply: KeyStep['apply'] = (key, usableAdmins) => {
      before = key;
      after = step.apply(key, usableAdmins);
      return after;
    };
    const done = await this.#remembering(
      () => before && after && after.digest !== before.digest && { id, digest: after.digest, before },
      changed(link, clock, {
        make: (change) => repository().change(id, { ...step, apply }, change),
        look: async (): Promise<Found<StoredKey | undefined>> => {
          const now = await repository().look(id);
          if (isSame(now, after)) return { isDone: true, answer: after };
          return isSame(now, before) ? { isDone: false } : undefined;
        },
      }),
    );
    await settled(id, done);
    return done;
  }

  /** Nothing of it needs to be mended where it is in doubt: it makes no value that is given to anyone. */
  async changeMany(step: KeysStep): Promise<KeysAfter> {
    const { clock, link, repository, settled } = this.#deps;
    let before: readonly StoredKey[] = [];
    let after: KeysAfter = NOTHING;
    const apply: KeysStep['apply'] = (found) => {
      before = found;
      after = step.apply(found);
      return after;
    };
    const done = await changed(link, clock, {
      make: (change) => repository().changeMany({ ...step, apply }, change),
      look: async (): Promise<Found<KeysAfter>> => {
        const one = firstOf(after);
        if (!one) return { isDone: true, answer: after };
        const now = await repository().look(one.id);
        if (isSame(now, one.key)) return { isDone: true, answer: after };
        return isSame(
          now,
          before.find(({ id }) => id === one.id),
        )
          ? { isDone: false }
          : undefined;
      },
    });
    await Promise.all([
      ...[...done.made, ...done.changed].map((key) => settled(key.id, key)),
      ...done.removed.map((id) => settled(id, undefined)),
    ]);
    return done;
  }

  /** Before the repository closes. */
  close(): Promise<void> {
    return this.#doubts.close();
  }

  async #remembering<T>(doubt: () => Doubt | undefined | false, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const left = error instanceof ChangeInDoubt && doubt();
      if (left) this.#doubts.add(left);
      throw error;
    }
  }

  /** Whether there was something to mend: the key has the value that was given to no one. */
  async #mend({ id, digest, before }: Doubt): Promise<boolean> {
    const { link, repository, settled } = this.#deps;
    if ((await link.ask(() => repository().look(id)))?.digest !== digest) return false;
    const after = await link.ask(() =>
      repository().change(id, { apply: (key) => (key?.digest === digest ? withValueOf(key, before) : key) }),
    );
    await settled(id, after);
    return true;
  }
}

const NOTHING: KeysAfter = { made: [], changed: [], removed: [], openings: [] };

/** One of the keys that a change is about, as it is afterwards: all of them are changed together, or none. */
function firstOf({
  made,
  changed: others,
  removed,
}: KeysAfter): { id: string; key: StoredKey | undefined } | undefined {
  const [key = others[0]] = made;
  if (key) return { id: key.id, key };
  const [id] = removed;
  return id === undefined ? undefined : { id, key: undefined };
}

/** The value that counted before a rotation, or nothing of a key that is new. */
function withValueOf(key: StoredKey, before: StoredKey | undefined): StoredKey | undefined {
  if (!before) return undefined;
  const { digest, display, previous, rotatedAt, sessionsFrom } = before;
  return { ...key, digest, display, previous, rotatedAt, sessionsFrom };
}

/** Whether they are one state of a key. Uses are counted beside its changes. */
function isSame(one: StoredKey | undefined, other: StoredKey | undefined): boolean {
  const text = (key: StoredKey | undefined): string =>
    key ? canonicalJson({ ...key, usageCount: 0, lastUsedAt: undefined }) : '';
  return text(one) === text(other);
}
