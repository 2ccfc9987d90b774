import type { KeyLimits } from '../../common/host-principal.ts';
import type { Scope } from '../../contract/index.ts';

/** Why a sign-in was not completed, as the trail has it. */
export type SignInReason =
  | 'transaction'
  | 'state'
  | 'issuer'
  | 'provider_error'
  | 'code'
  | 'token'
  | 'no_access'
  | 'blocked'
  | 'unavailable';

/** A sign-in that was not completed. What the provider said is in the log alone. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
  readonly reason: SignInReason;
  /** Whose token it was, where that was good. */
  readonly subjectId: string | undefined;
  /** The code of the provider's error, cleaned. */
  readonly providerError: string | undefined;

  constructor(
    reason: SignInReason,
    more: {
      readonly subjectId?: string;
      readonly providerError?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(`the sign-in was not completed: ${reason}`, { cause: more.cause });
    this.reason = reason;
    this.subjectId = more.subjectId;
    this.providerError = more.providerError;
  }
}

/** What a browser is to do. */
export interface BegunSignIn {
  readonly authorizationUrl: string;
  /** Sealed; the tab keeps it and sends it back. */
  readonly transaction: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Who has signed in, and what for. */
export interface SignedIn {
  readonly id: string;
  readonly name: string;
  /** The place of the rule that matched, from 1 on. */
  readonly rule: number;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits | undefined;
  readonly sessionMs: number;
}

/** Signing in with a browser, as far as the admin API needs to know of it. */
export interface SignIn {
  /** Issuers that people sign in with, in the order of the file. */
  issuers(): readonly { readonly name: string; readonly label: string }[];
  /** Throws `SignInFailed` where the issuer is away. */
  begin(name: string, prompt: string | undefined): Promise<BegunSignIn>;
  /** `response` is the query that the provider sent the browser back with. Throws `SignInFailed`, and `StoreUnavailable`. */
  complete(name: string, transaction: string, response: string): Promise<SignedIn>;
}
