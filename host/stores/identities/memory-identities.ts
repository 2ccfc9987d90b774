import type {
  IdentityFilters,
  IdentityPage,
  IdentityRepository,
  IdentityStep,
  StoredIdentity,
} from './identity-record.ts';

const MOST = 10_000;

/** Identities of this process, gone with it. Beyond the limit the oldest that are not blocked go. */
export class MemoryIdentities implements IdentityRepository {
  readonly #identities = new Map<string, StoredIdentity>();

  async findAll(ids: readonly string[]): Promise<readonly StoredIdentity[]> {
    return ids.flatMap((id) => this.#identities.get(id) ?? []);
  }

  async change(id: string, step: IdentityStep): Promise<StoredIdentity | undefined> {
    const after = step(this.#identities.get(id));
    this.#identities.delete(id);
    if (after) this.#identities.set(id, after);
    if (this.#identities.size > MOST) {
      const oldest = this.#identities.values().find((each) => each.blockedAt === undefined && each.id !== id);
      if (oldest) this.#identities.delete(oldest.id);
    }
    return after;
  }

  async page(filters: IdentityFilters, limit: number, offset: number): Promise<IdentityPage> {
    const found = [...this.#identities.values()]
      .filter((each) => fits(each, filters))
      .toSorted((a, b) => lastOf(b) - lastOf(a) || (a.id < b.id ? -1 : 1));
    return { identities: found.slice(offset, offset + limit), total: found.length };
  }
}

const lastOf = ({ signedInAt, firstSeenAt }: StoredIdentity): number => signedInAt ?? firstSeenAt;

function fits({ issuer, name, blockedAt }: StoredIdentity, filters: IdentityFilters): boolean {
  if (filters.issuer !== undefined && filters.issuer !== issuer) return false;
  if (filters.blocked !== undefined && filters.blocked !== (blockedAt !== undefined)) return false;
  return filters.q === undefined || name.toLowerCase().includes(filters.q.toLowerCase());
}
