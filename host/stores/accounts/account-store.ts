import type { WrittenAccount } from '../../common/accounts/account-members.ts';
import type { StoredAccounts } from '../../common/accounts/current-accounts.ts';
import type { Raise } from '../../common/accounts/raise.ts';
import type { Timer } from '../../common/clock.ts';
import { canonicalJson } from '../../config/canonical.ts';
import { changed, type Found } from '../changes.ts';
import type { ChangeFeed } from '../change-feed.ts';
import { Place } from '../place.ts';
import type { StoreDeps } from '../store-deps.ts';
import type { StoreLink } from '../store-link.ts';
import type { AccountRepository, AccountStep, ImportRecord, StoredAccount } from './account-repository.ts';
import { MemoryAccounts } from './memory-accounts.ts';

/** Milliseconds after which what could not be read is asked for again, and after which a feed that hears nothing is asked how old memory is. */
const AGAIN_MS = 1000;

const NONE: readonly never[] = Object.freeze([]);

/**
 * Accounts and tags that administrators made, all of them in memory: admission asks nothing else. What this process changes counts from its next request
 * on, what another changes as soon as its word is heard. The version moves with each change.
 */
export class AccountStore implements StoredAccounts {
  readonly #deps: StoreDeps;
  readonly #link: StoreLink;
  readonly #place = new Place<AccountRepository>('account store', 'memory', new MemoryAccounts());
  readonly #accounts = new Map<string, StoredAccount>();
  readonly #raises = new Map<string, readonly Raise[]>();
  #version = 0;
  #feed: ChangeFeed | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  readonly #timers = new Set<Timer>();
  #hearing: Promise<void> = Promise.resolve();
  #onChange: (() => void) | undefined;

  /** `link`: how the database of the keys is reached. */
  constructor(deps: StoreDeps, link: StoreLink) {
    this.#deps = deps;
    this.#link = link;
  }

  get backend(): string {
    return this.#place.backend;
  }

  /** For the other processes of this gateway. */
  get repository(): AccountRepository {
    return this.#place.value;
  }

  get version(): number {
    return this.#version;
  }

  /** Reads everything first. What cannot be read throws: a start without limits that were set would be worse than none. */
  async supply(backend: string, repository: AccountRepository, feed?: ChangeFeed): Promise<void> {
    this.#place.supply(backend, repository);
    this.#feed = feed;
    feed?.onChange((subject) => {
      this.#hearing = this.#hearing.then(() => this.#heard(subject));
    });
    await this.#readAll();
    if (feed) this.#watch();
  }

  seal(): void {
    this.#place.seal();
  }

  /** Resolves once what was heard of so far has been read. */
  settled(): Promise<void> {
    return this.#hearing;
  }

  /** Before the repository closes. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** Calls `then` after each change of what is stored, by this process or another. */
  onChange(then: () => void): void {
    this.#onChange = then;
  }

  get count(): number {
    return this.#accounts.size;
  }

  accounts(): readonly WrittenAccount[] {
    return [...this.#accounts.values()].map(({ account }) => account);
  }

  stored(path: string): StoredAccount | undefined {
    return this.#accounts.get(path);
  }

  raisesOf(subject: string): readonly Raise[] {
    return this.#raises.get(subject) ?? NONE;
  }

  /** Resolves with what is kept afterwards. */
  async change(path: string, step: AccountStep): Promise<StoredAccount | undefined> {
    let before: StoredAccount | undefined;
    let after: StoredAccount | undefined;
    const remembered: AccountStep = (found) => {
      before = found;
      const changing = step(found);
      after = changing?.stored;
      return changing;
    };
    const done = await this.#changed(() => path, {
      make: (pending) => this.#place.value.change(path, remembered, pending),
      look: async (): Promise<Found<StoredAccount | undefined>> => {
        const now = await this.#place.value.get(path);
        if (isSame(now, after)) return { isDone: true, answer: after };
        return isSame(now, before) ? { isDone: false } : undefined;
      },
    });
    this.#keep(path, done);
    await this.#deps.spread?.('account', path);
    return done;
  }

  async addRaise(raise: Raise): Promise<void> {
    const { subject, id } = raise;
    await this.#changed(() => subject, {
      make: (pending) => this.#place.value.addRaise(raise, pending),
      look: async (): Promise<Found<void>> =>
        (await this.#has(subject, id)) ? { isDone: true, answer: undefined } : { isDone: false },
    });
    await this.#readSubject(subject);
    await this.#deps.spread?.('account', subject);
  }

  /** Whether there was one. */
  async removeRaise(subject: string, id: string): Promise<boolean> {
    const done = await this.#changed(() => subject, {
      make: (pending) => this.#place.value.removeRaise(subject, id, pending),
      look: async (): Promise<Found<boolean>> =>
        (await this.#has(subject, id)) ? { isDone: false } : { isDone: true, answer: true },
    });
    await this.#readSubject(subject);
    await this.#deps.spread?.('account', subject);
    return done;
  }

  /** Those that an import brought. */
  importedBy(id: string): readonly StoredAccount[] {
    return [...this.#accounts.values()].filter(({ importId }) => importId === id);
  }

  addImport(record: ImportRecord): Promise<void> {
    return changed(this.#link, this.#deps.clock, {
      make: (pending) => this.#place.value.addImport(record, pending),
      look: async (): Promise<Found<void>> =>
        (await this.#place.value.getImport(record.id)) ? { isDone: true, answer: undefined } : { isDone: false },
    });
  }

  getImport(id: string): Promise<ImportRecord | undefined> {
    return this.#link.ask(() => this.#place.value.getImport(id));
  }

  /** Whether there was one. */
  removeImport(id: string): Promise<boolean> {
    return changed(this.#link, this.#deps.clock, {
      make: (pending) => this.#place.value.removeImport(id, pending),
      look: async (): Promise<Found<boolean>> =>
        (await this.#place.value.getImport(id)) ? { isDone: false } : { isDone: true, answer: true },
    });
  }

  /** Where it is not known whether a change was made, memory goes by what is read later. */
  async #changed<T>(subject: () => string, changing: Parameters<typeof changed<T>>[2]): Promise<T> {
    try {
      return await changed(this.#link, this.#deps.clock, changing);
    } catch (error) {
      if (!this.#isClosed) void this.#heard(subject());
      throw error;
    }
  }

  async #has(subject: string, id: string): Promise<boolean> {
    return (await this.#place.value.raisesOf(subject, this.#now())).some((raise) => raise.id === id);
  }

  /** Another process changed an account, or a raise of it or of a key; without a subject all may be others by now. */
  async #heard(subject: string | undefined): Promise<void> {
    if (this.#isClosed) return;
    try {
      await (subject === undefined ? this.#readAll() : this.#readSubject(subject));
      await this.#deps.spread?.('account', subject);
    } catch (error) {
      this.#deps.log.warn('accounts that were changed could not be read', { error });
      this.#later(() => void this.#heard(subject));
    }
  }

  async #readSubject(subject: string): Promise<void> {
    const repository = this.#place.value;
    const [account, raises] = await this.#link.ask(() =>
      Promise.all([repository.get(subject), repository.raisesOf(subject, this.#now())]),
    );
    this.#keep(subject, account);
    if (raises.length > 0) this.#raises.set(subject, raises);
    else this.#raises.delete(subject);
  }

  async #readAll(): Promise<void> {
    const at = this.#deps.clock.monotonic();
    const repository = this.#place.value;
    const [accounts, raises] = await this.#link.ask(() =>
      Promise.all([repository.all(), repository.raises(this.#now())]),
    );
    const isOther =
      accounts.length !== this.#accounts.size ||
      accounts.some((each) => !isSameVersion(each, this.#accounts.get(each.account.path)));
    this.#accounts.clear();
    this.#raises.clear();
    for (const each of accounts) this.#accounts.set(each.account.path, each);
    for (const [subject, all] of Map.groupBy(raises, (raise) => raise.subject)) this.#raises.set(subject, all);
    this.#readAt = at;
    this.#version += 1;
    if (isOther) this.#onChange?.();
  }

  #keep(path: string, account: StoredAccount | undefined): void {
    const isOther = !isSameVersion(account, this.#accounts.get(path));
    if (account) this.#accounts.set(path, account);
    else this.#accounts.delete(path);
    this.#version += 1;
    if (isOther) this.#onChange?.();
  }

  /** While nothing can be heard, memory is read anew before it is older than the feed allows. */
  #watch(): void {
    this.#later(() => {
      if ((this.#feed?.freshSince() ?? Number.NEGATIVE_INFINITY) > this.#readAt) void this.#heard(undefined);
      this.#watch();
    });
  }

  #later(run: () => void): void {
    if (this.#isClosed) return;
    const timer = this.#deps.clock.timer(AGAIN_MS, () => {
      this.#timers.delete(timer);
      if (!this.#isClosed) run();
    });
    this.#timers.add(timer);
  }

  #now(): number {
    return this.#deps.clock.now();
  }
}

const isSame = (one: StoredAccount | undefined, other: StoredAccount | undefined): boolean =>
  (one && canonicalJson(one)) === (other && canonicalJson(other));

/** An account that was removed and made anew begins at version 1 again, at another moment. */
const isSameVersion = (one: StoredAccount | undefined, other: StoredAccount | undefined): boolean =>
  one?.version === other?.version && one?.updatedAt === other?.updatedAt;
