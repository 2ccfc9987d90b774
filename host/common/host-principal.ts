import type { Principal, Scope } from '../contract/index.ts';
import type { Level } from './accounts/level.ts';
import type { KeyLimitValues } from './key-members.ts';

/** What a key may use, and how much of it. What is absent is not limited. The names are those of docs/admin.md#keys. */
export interface KeyLimits extends KeyLimitValues {
  /** What binds it beside itself: its account, those above it, and its tags. Set for a request as it arrives. */
  readonly levels?: readonly Level[] | undefined;
}

/** What a source of credentials says of one. */
export interface PrincipalFacts extends Principal {
  /** The session that the request was made with; `undefined` for keys. */
  readonly sessionId?: string | undefined;
  /** What the key may use, also behind a session; `undefined` when it has none, and for the master key. */
  readonly limits?: KeyLimits | undefined;
  /** Name of the issuer, where it is a person or a program of one. */
  readonly issuer?: string | undefined;
  /** Unix milliseconds from which on its credential does not count, where a token says so. */
  readonly expiresAt?: number | undefined;
}

/** A principal as the host works with it. Modules get its `view`, which holds no more than the contract names. */
export class HostPrincipal implements PrincipalFacts {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  declare readonly sessionId?: string;
  declare readonly limits?: KeyLimits;
  declare readonly issuer?: string;
  declare readonly expiresAt?: number;
  #view: Principal | undefined;

  constructor({ id, name, scopes, sessionId, limits, issuer, expiresAt }: PrincipalFacts) {
    this.id = id;
    this.name = name;
    this.scopes = Object.isFrozen(scopes) ? scopes : Object.freeze([...scopes]);
    if (sessionId !== undefined) this.sessionId = sessionId;
    if (limits !== undefined) this.limits = limits;
    if (issuer !== undefined) this.issuer = issuer;
    if (expiresAt !== undefined) this.expiresAt = expiresAt;
    Object.freeze(this);
  }

  /** One object per credential: it is shared by all of its requests, and so frozen. */
  get view(): Principal {
    const { id, name, scopes } = this;
    return (this.#view ??= Object.freeze({ id, name, scopes }));
  }
}
