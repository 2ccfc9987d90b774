import { hash } from 'node:crypto';
import { canonicalJson } from '../canonical.ts';
import type { SignIn } from './identity-sign-in.ts';
import type { Decoded } from '../decode.ts';
import type { GatewayConfig } from '../document.ts';

export type IdentityConfig = NonNullable<GatewayConfig['identity']>;

/** The block `identity` of a file. */
export interface IdentityBlock {
  readonly config: IdentityConfig;
  /** As it was written. */
  readonly document: unknown;
  /** 12 hex digits by which replicas compare it. */
  readonly digest: string;
}

/** How an issuer is doing, for people. */
export interface IssuerState {
  readonly name: string;
  readonly state: 'answers' | 'away' | 'refused' | 'not asked';
  /** How many keys count. */
  readonly keys: number;
  readonly keys_age_seconds?: number | undefined;
}

const DIGITS = 12;

/**
 * Who may come in with credentials of others. It belongs to the configuration file and to no generation: a configuration that is written by the
 * admin API changes nothing of it. See docs/decisions/0093-identity-belongs-to-the-file.md.
 */
export class IdentityPlace {
  /** Set by what asks the issuers. */
  states: () => readonly IssuerState[] = () => [];
  /** Set by what people sign in by. */
  signIn: SignIn | undefined;
  #block: IdentityBlock | undefined;
  #source: string | undefined;
  readonly #listeners: (() => void)[] = [];

  get block(): IdentityBlock | undefined {
    return this.#block;
  }

  /** Path of the file, whether or not it has the block. */
  get source(): string | undefined {
    return this.#source;
  }

  /** Whether the file has another block than the one in force. */
  isOther({ document }: Pick<Decoded, 'document'>): boolean {
    return digestOf(document['identity'] ?? undefined) !== this.#block?.digest;
  }

  /** Takes the block of a file that was checked. */
  take({ config, document }: Pick<Decoded, 'config' | 'document'>, source: string | undefined): void {
    const { identity } = config ?? {};
    const written = document['identity'];
    const digest = digestOf(written ?? undefined);
    this.#source = source;
    this.#block = identity && digest !== undefined ? { config: identity, document: written, digest } : undefined;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

const digestOf = (written: unknown): string | undefined =>
  written === undefined ? undefined : hash('sha256', canonicalJson(written)).slice(0, DIGITS);
