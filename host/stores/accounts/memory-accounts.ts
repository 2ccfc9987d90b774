import type { Raise } from '../../common/accounts/raise.ts';
import type { AccountRepository, AccountStep, ImportRecord, StoredAccount } from './account-repository.ts';

/** Accounts of this process, gone with it. */
export class MemoryAccounts implements AccountRepository {
  readonly #accounts = new Map<string, StoredAccount>();
  readonly #raises = new Map<string, Raise>();
  readonly #imports = new Map<string, ImportRecord>();

  async all(): Promise<readonly StoredAccount[]> {
    return [...this.#accounts.values()];
  }

  async get(path: string): Promise<StoredAccount | undefined> {
    return this.#accounts.get(path);
  }

  async change(path: string, step: AccountStep): Promise<StoredAccount | undefined> {
    const after = step(this.#accounts.get(path))?.stored;
    if (after) this.#accounts.set(path, after);
    else this.#accounts.delete(path);
    return after;
  }

  async raises(now: number): Promise<readonly Raise[]> {
    return [...this.#raises.values()].filter(({ until }) => until > now);
  }

  async raisesOf(subject: string, now: number): Promise<readonly Raise[]> {
    return (await this.raises(now)).filter((raise) => raise.subject === subject);
  }

  async addRaise(raise: Raise): Promise<void> {
    this.#raises.set(raise.id, raise);
  }

  async removeRaise(subject: string, id: string): Promise<boolean> {
    return this.#raises.get(id)?.subject === subject && this.#raises.delete(id);
  }

  async addImport(record: ImportRecord): Promise<void> {
    this.#imports.set(record.id, record);
  }

  async getImport(id: string): Promise<ImportRecord | undefined> {
    return this.#imports.get(id);
  }

  async removeImport(id: string): Promise<boolean> {
    return this.#imports.delete(id);
  }
}
