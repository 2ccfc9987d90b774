import { hash } from 'node:crypto';
import { HostPrincipal, type PrincipalFacts } from '../common/host-principal.ts';
import type { CredentialChange, OnEnded, Plane, Standing } from './credential-standing.ts';
import type { IdentityStore } from './identities/identity-store.ts';
import type { KeyStore } from './keys/key-store.ts';
import { SESSION_PREFIX, SessionStore } from './sessions/session-store.ts';
import type { StoreDeps } from './store-deps.ts';

/** A credential as everything but its holder knows it: the SHA-256 of it, in hex. Comparing digests tells nothing of a credential, its length included. */
export function digestOf(credential: string): string {
  return hash('sha256', credential);
}

/** How many digests are kept: those of the credentials in use. */
const MOST_KNOWN = 1000;

/**
 * The digests of credentials that were accepted, so that a request of a known client costs no hash. Whether a credential still
 * counts is asked of the sources each time. What is not accepted is never kept, so that requests from outside cannot fill this.
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

/** Beside a credential, what is said of the request that it came with, and who hears of a key that is known and no longer counts. */
interface AskedFor {
  readonly address?: string;
  readonly onEnded?: OnEnded;
}

/** Knows whose some credentials are, beside those of the key store: those of the environment. */
export interface PrincipalSource {
  /** Looks in memory only: a request never waits here. A credential that has expired or was revoked is not found. */
  find(digest: string): HostPrincipal | undefined;
  /** By the principal's id. */
  byId?(id: string): HostPrincipal | undefined;
}

/** Knows whose tokens of others are: those that issuers sign. Without it no credential is one. */
export interface TokenSource {
  /** Whether a credential has the form of a token, and tokens count. The key store is not asked of it. */
  owns(credential: string): boolean;
  /** One that was accepted a moment ago. */
  find(digest: string): HostPrincipal | undefined;
  /** `undefined` where it is not valid. Throws a `GatewayError` where something else is wrong. `address` is that of the client. */
  ask(credential: string, digest: string, address: string): Promise<HostPrincipal | undefined>;
  /** What it is worth by now. */
  standing(principal: HostPrincipal): Standing;
}

/** How ids of people and programs of issuers begin. */
export const IDENTITY_PREFIX = 'oidc:';

/** What people may do who have signed in with an issuer, by the rules that are in force. */
export interface PeopleSource {
  /** In memory. `undefined`: ask. */
  find(id: string): HostPrincipal | undefined;
  /** `undefined`: nothing any more. Throws `StoreUnavailable`. */
  ask(id: string): Promise<HostPrincipal | undefined>;
}

/** What a change was of. */
export type ChangedCredential = 'key' | 'session' | 'identity';

/**
 * Whose a credential is. `gws_` begins the token of a session, and is never looked for elsewhere. Of all others the sources are asked
 * first, in the order in which they were supplied, the environment's before all, and then the key store.
 */
export class Principals {
  readonly #identities: IdentityStore;
  readonly #sources: PrincipalSource[] = [];
  readonly #known = new KnownDigests();
  readonly #keys: KeyStore;
  readonly #sessions: SessionStore;
  #tokens: TokenSource | undefined;
  #people: PeopleSource | undefined;
  #isSealed = false;

  constructor(deps: StoreDeps, keys: KeyStore, identities: IdentityStore) {
    this.#keys = keys;
    this.#identities = identities;
    this.#sessions = new SessionStore(deps, keys, {
      find: (id) => this.#byId(id) ?? this.#people?.find(id),
      ask: async (id) => this.#people?.ask(id),
      owns: (id) => id.startsWith(IDENTITY_PREFIX),
    });
  }

  get sessions(): SessionStore {
    return this.#sessions;
  }

  /** What a credential is known by from here on. */
  digestOf(credential: string): string {
    return this.#known.of(credential);
  }

  /** In memory, without waiting. `undefined`: `ask`. Each find of a stored key is a use of it. */
  find(credential: string, digest: string = this.digestOf(credential)): HostPrincipal | undefined {
    if (this.isToken(credential)) return this.#source(digest) ?? this.#tokens?.find(digest);
    const found = credential.startsWith(SESSION_PREFIX)
      ? this.#sessions.find(digest)
      : (this.#source(digest) ?? this.#keys.find(digest));
    if (found) this.#known.keep(credential, digest);
    return found;
  }

  /** What memory did not find. Throws `StoreUnavailable` when only a store that is away could tell, and of tokens what `TokenSource` throws. */
  ask(
    credential: string,
    digest = digestOf(credential),
    { address = '', onEnded }: AskedFor = {},
  ): Promise<HostPrincipal | undefined> {
    if (this.#tokens?.owns(credential)) return this.#tokens.ask(credential, digest, address);
    return credential.startsWith(SESSION_PREFIX)
      ? this.#sessions.ask(digest, onEnded)
      : this.#keys.ask(digest, onEnded);
  }

  /** Whether a credential is a token of an issuer, valid or not. */
  isToken(credential: string): boolean {
    return this.#tokens?.owns(credential) === true;
  }

  /** Whose a key is: for signing in, where the token of a session is not accepted, and none of an issuer: the session would outlive it. */
  async identify(credential: string): Promise<HostPrincipal | undefined> {
    if (credential.startsWith(SESSION_PREFIX)) return undefined;
    if (this.isToken(credential)) return this.#source(digestOf(credential));
    return this.find(credential) ?? (await this.ask(credential));
  }

  /** Whether a credential may end while the process runs: those of the environment stand as long as it does. */
  mayEnd(digest: string): boolean {
    return this.#source(digest) === undefined;
  }

  /** What a credential that was admitted is worth by now, by memory alone. */
  standing(digest: string, principal: HostPrincipal, plane: Plane = 'data'): Standing {
    const { id, sessionId } = principal;
    if (!this.mayEnd(digest)) return 'stands';
    if (isOfToken(principal)) return this.#tokens?.standing(principal) ?? 'gone';
    return sessionId === undefined ? this.#keys.standing(digest, id, plane) : this.#sessions.standing(digest);
  }

  /** What it is worth by its store. */
  async askStanding(digest: string, principal: HostPrincipal, plane: Plane = 'data'): Promise<Standing> {
    const { id, sessionId } = principal;
    if (isOfToken(principal)) return this.standing(digest, principal);
    return sessionId === undefined ? this.#keys.askStanding(digest, id, plane) : this.#sessions.askStanding(digest);
  }

  /** Hears of keys, sessions and identities that are others now, or may be. */
  onChange(changed: (of: ChangedCredential, change: CredentialChange) => void): void {
    this.#identities.notices.listen((change) => changed('identity', change));
    this.#keys.notices.listen((change) => changed('key', change));
    this.#sessions.notices.listen((change) => changed('session', change));
  }

  supply(source: PrincipalSource): void {
    if (this.#isSealed) throw new Error('principals: a source is supplied too late, stores are supplied in open');
    this.#sources.push(source);
  }

  supplyTokens(tokens: TokenSource): void {
    if (this.#isSealed) throw new Error('principals: tokens are supplied too late, stores are supplied in open');
    this.#tokens = tokens;
  }

  supplyPeople(people: PeopleSource): void {
    if (this.#isSealed) throw new Error('principals: people are supplied too late, stores are supplied in open');
    this.#people = people;
  }

  seal(): void {
    this.#isSealed = true;
  }

  #source(digest: string): HostPrincipal | undefined {
    for (const source of this.#sources) {
      const found = source.find(digest);
      if (found) return found;
    }
    return undefined;
  }

  #byId(id: string): HostPrincipal | undefined {
    for (const source of this.#sources) {
      const found = source.byId?.(id);
      if (found) return found;
    }
    return undefined;
  }
}

/** Whether a request was let in by a token of an issuer itself, and not by a session. */
const isOfToken = ({ issuer, sessionId }: HostPrincipal): boolean => issuer !== undefined && sessionId === undefined;

/** Principals by digest, as long as nothing invalidates them. */
export class PrincipalTable implements PrincipalSource {
  readonly #principals = new Map<string, HostPrincipal>();

  find(digest: string): HostPrincipal | undefined {
    return this.#principals.get(digest);
  }

  byId(id: string): HostPrincipal | undefined {
    return this.#principals.values().find((principal) => principal.id === id);
  }

  /** Replaces whom the digest stood for. */
  set(digest: string, principal: PrincipalFacts): void {
    this.#principals.set(digest, principal instanceof HostPrincipal ? principal : new HostPrincipal(principal));
  }

  /** From the next request on the credential is unknown. */
  invalidate(digest: string): void {
    this.#principals.delete(digest);
  }
}
