import { HostPrincipal } from '../../host/common/host-principal.ts';
import type { StoredIdentity } from '../../host/stores/identities/identity-record.ts';
import type { IdentityStore } from '../../host/stores/identities/identity-store.ts';
import type { PeopleSource } from '../../host/stores/principals.ts';
import type { Issuers } from './issuers.ts';

interface Made {
  readonly version: number;
  readonly principal: HostPrincipal | undefined;
}

/**
 * People who have signed in, by what their claims were at the last time and by the rules that are in force now: a rule that changes, an issuer that is gone
 * and a block count from the next request on, and a newer sign-in with fewer groups narrows the older sessions.
 */
export class People implements PeopleSource {
  readonly #identities: IdentityStore;
  readonly #issuers: Issuers;
  readonly #made = new WeakMap<StoredIdentity, Made>();

  constructor(identities: IdentityStore, issuers: Issuers) {
    this.#identities = identities;
    this.#issuers = issuers;
  }

  find(id: string): HostPrincipal | undefined {
    return this.#principalOf(this.#identities.find(id)?.record);
  }

  async ask(id: string): Promise<HostPrincipal | undefined> {
    return this.#principalOf((this.#identities.find(id) ?? (await this.#identities.ask(id))).record);
  }

  /** One object as long as nothing changes: by it sessions see that nothing did. */
  #principalOf(record: StoredIdentity | undefined): HostPrincipal | undefined {
    if (!record) return undefined;
    const known = this.#made.get(record);
    if (known?.version === this.#issuers.version) return known.principal;
    const principal = this.#newPrincipal(record);
    this.#made.set(record, { version: this.#issuers.version, principal });
    return principal;
  }

  #newPrincipal({ id, name, issuerUrl, claims, blockedAt }: StoredIdentity): HostPrincipal | undefined {
    const issuer = this.#issuers.at(issuerUrl);
    if (blockedAt !== undefined || !claims || !issuer?.signIn) return undefined;
    const grant = issuer.rules.grantOf(claims);
    if (!grant || grant.scopes.length === 0) return undefined;
    const { scopes, limits } = grant;
    return new HostPrincipal({ id, name, scopes, limits, issuer: issuer.name });
  }
}
