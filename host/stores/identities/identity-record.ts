import type { PendingChange } from '../changes.ts';

/** A person or a program of an issuer. Times are Unix milliseconds. */
export interface StoredIdentity {
  /** `oidc:` and 32 hex digits of the issuer's address and the subject. */
  readonly id: string;
  /** Address of the issuer; empty of one that was blocked before it came. */
  readonly issuerUrl: string;
  /** Its name at the time. */
  readonly issuer: string;
  readonly subject: string;
  /** For show. */
  readonly name: string;
  /** Claims that rules named at the last sign-in; `undefined` of one that has never signed in. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  readonly firstSeenAt: number;
  readonly signedInAt?: number | undefined;
  readonly blockedAt?: number | undefined;
  /** Id of who did it. */
  readonly blockedBy?: string | undefined;
}

/** What becomes of a record; `undefined` in and out: there is none. */
export type IdentityStep = (before: StoredIdentity | undefined) => StoredIdentity | undefined;

export interface IdentityFilters {
  readonly issuer?: string | undefined;
  readonly blocked?: boolean | undefined;
  /** Part of the name, in any case of letters. */
  readonly q?: string | undefined;
}

export interface IdentityPage {
  readonly identities: readonly StoredIdentity[];
  /** How many fit. */
  readonly total: number;
}

/** Where identities are kept, as `KeyRepository` keeps keys. */
export interface IdentityRepository {
  findAll(ids: readonly string[]): Promise<readonly StoredIdentity[]>;
  /** Looks and writes in one step. Resolves with what is kept afterwards. */
  change(id: string, step: IdentityStep, change?: PendingChange): Promise<StoredIdentity | undefined>;
  /** The last to sign in first, then by id. */
  page(filters: IdentityFilters, limit: number, offset: number): Promise<IdentityPage>;
}
