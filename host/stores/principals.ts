import { hash } from 'node:crypto';
import type { Principal } from '../contract/index.ts';

/** A credential as everything but its holder knows it: the SHA-256 of it, in hex. Comparing digests tells nothing of a credential, its length included. */
export function digestOf(credential: string): string {
  return hash('sha256', credential);
}

/** How many digests are kept: those of the credentials in use. */
const MOST_KNOWN = 1000;

/**
 * The digests of credentials that were accepted, so that a request of a known client costs no hash. Whether a credential still
 * counts is asked of the sources each time. What is not accepted is never kept: nobody can fill this from outside.
 */
export class KnownDigests {
  readonly #digests = new Map<string, string>();

  of(credential: string): string {
    return this.#digests.get(credential) ?? digestOf(credential);
  }

  keep(credential: string, digest: string): void {
    if (this.#digests.has(credential)) return;
    if (this.#digests.size >= MOST_KNOWN) this.#digests.clear();
    this.#digests.set(credential, digest);
  }
}

/** Knows whose some credentials are: those of the environment, those of a store. */
export interface PrincipalSource {
  /** Looks in memory only: a request never waits here. A credential that has expired or was revoked is not found. */
  find(digest: string): Principal | undefined;
}

/** All sources of one host. They are asked in the order in which they were supplied: the environment comes first. */
export class Principals implements PrincipalSource {
  readonly #sources: PrincipalSource[] = [];
  #backend = 'memory';
  #isSealed = false;

  /** Where keys are kept that can be made and revoked. */
  get backend(): string {
    return this.#backend;
  }

  find(digest: string): Principal | undefined {
    for (const source of this.#sources) {
      const found = source.find(digest);
      if (found) return found;
    }
    return undefined;
  }

  /** `backend` names a store of keys; the environment's source has none. */
  supply(source: PrincipalSource, backend?: string): void {
    if (this.#isSealed) throw new Error('principals: a source is supplied too late, stores are supplied in open');
    this.#sources.push(source);
    if (backend !== undefined) this.#backend = backend;
  }

  seal(): void {
    this.#isSealed = true;
  }
}

/** Principals by digest, as long as nothing invalidates them. */
export class PrincipalTable implements PrincipalSource {
  readonly #principals = new Map<string, Principal>();

  find(digest: string): Principal | undefined {
    return this.#principals.get(digest);
  }

  /** Replaces whom the digest stood for. */
  set(digest: string, principal: Principal): void {
    this.#principals.set(digest, principal);
  }

  /** From the next request on the credential is unknown. */
  invalidate(digest: string): void {
    this.#principals.delete(digest);
  }
}
