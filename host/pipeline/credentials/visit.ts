import type { Credential } from '../../upstream/instance.ts';
import type { CredentialClass } from '../../upstream/credentials/credential-class.ts';

/** What the end of a call says of its credential: everything; of a response that is forwarded, by its status; of a count; or nothing. */
export type Tells = 'all' | 'status' | 'count' | 'nothing';

/** The next credential of a target follows at once. */
export interface CredentialStep {
  readonly step: 'credential';
  /** Name of the credential that failed. */
  readonly from: string;
  readonly class: CredentialClass;
}

/** What a target's concurrency limit has given out. */
interface HeldSlot {
  giveBack(): void;
}

/** Further credentials that a visit may try, and those of them after a refusal that may be the request's own fault. */
const FURTHER = 3;
const FURTHER_IN_DOUBT = 1;

/**
 * The calls of a request at a target whose credentials are chosen: what is tried, and kept from one to the next. A visit is one
 * try of the retry policy; within it, one credential follows another.
 */
export class Visit {
  readonly tells: Tells;
  /** The only vendor account that may be called. */
  readonly account: string | undefined;
  /** What the client reads where that vendor account has none left. */
  readonly unusable: string | undefined;
  /** Credentials that have failed in this visit. */
  tried: Credential[] = [];
  /** The one that the next call keeps, while it is a candidate. */
  preferred: Credential | undefined;
  /** What the last call's failure meant for its credential. */
  class: CredentialClass | undefined;
  /** Set where another credential follows the last call. */
  next: CredentialStep | undefined;
  /** Some of the last call's answer is on its way: whatever fails now, nothing follows. */
  hasBegun = false;
  /** The target's slot, on its way from a call to the next. */
  kept: HeldSlot | undefined;
  #further = FURTHER;
  #furtherInDoubt = FURTHER_IN_DOUBT;

  constructor({ tells = 'all', account, unusable }: Partial<Pick<Visit, 'tells' | 'account' | 'unusable'>> = {}) {
    this.tells = tells;
    this.account = account;
    this.unusable = unusable;
  }

  /** A try of the retry policy begins: every credential may be tried again. */
  begin(): void {
    this.tried = [];
    this.class = undefined;
    this.next = undefined;
    this.hasBegun = false;
    this.#further = FURTHER;
    this.#furtherInDoubt = FURTHER_IN_DOUBT;
  }

  /** Takes one of the further credentials that may follow; false when there is none left. */
  takeFurther(isInDoubt: boolean): boolean {
    if (this.#further === 0 || (isInDoubt && this.#furtherInDoubt === 0)) return false;
    this.#further -= 1;
    if (isInDoubt) this.#furtherInDoubt -= 1;
    return true;
  }

  /** A call begins with a credential. */
  calls(credential: Credential): void {
    if (!this.tried.includes(credential)) this.tried.push(credential);
    this.next = undefined;
    this.class = undefined;
    this.hasBegun = false;
  }

  begins(): void {
    this.hasBegun = true;
  }

  /** Gives back what no call took over. */
  end(): void {
    this.kept?.giveBack();
    this.kept = undefined;
  }
}
