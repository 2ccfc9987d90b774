import { HostPrincipal } from '../../host/common/host-principal.ts';
import { OncePer } from '../../host/common/once-per.ts';
import { GatewayError } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import { limiterKey } from '../../host/http/client-address.ts';
import { createBuckets } from '../../host/state/buckets.ts';
import type { KnownIdentity } from '../../host/stores/identities/identity-store.ts';
import type { Standing } from '../../host/stores/credential-standing.ts';
import type { TokenSource } from '../../host/stores/principals.ts';
import type { Grant } from './access-rules.ts';
import { type Claims, claimsNamed } from './claims.ts';
import type { Issuers } from './issuers.ts';
import { looksLikeToken } from './token-text.ts';
import { countVerification, type Verification } from './verifications.ts';
import { type Refused, type Verified, verifyToken } from './verify-token.ts';

/** Checks of signatures that fail, for one client address. */
const CHECKS = { ratePerSecond: 5, burst: 50 };
const MOST_ADDRESSES = 10_000;
/** A token that was accepted is looked at again after so long. */
const KEPT_MS = 300_000;
const MOST_KEPT = 10_000;
const MINUTE_MS = 60_000;
/** What `typ` may be: of access tokens (RFC 9068) and of others. */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);

interface Kept {
  readonly principal: HostPrincipal;
  readonly until: number;
}

/** What a principal came from. */
interface Origin {
  readonly url: string;
  readonly claims: Claims;
}

type TokensHost = Pick<Host, 'services' | 'counters' | 'log' | 'stores'>;

/**
 * Tokens of issuers. One that was accepted is kept by its digest for minutes, and forgotten when rules or issuers change; what was refused is not kept,
 * so that requests from outside cannot fill anything. See docs/identity.md#tokens.
 */
export class Tokens implements TokenSource {
  readonly #host: TokensHost;
  readonly #issuers: Issuers;
  readonly #kept = new Map<string, Kept>();
  readonly #origins = new WeakMap<HostPrincipal, Origin>();
  readonly #buckets = createBuckets(MOST_ADDRESSES);
  readonly #told = new OncePer(MINUTE_MS);

  constructor(host: TokensHost, issuers: Issuers) {
    this.#host = host;
    this.#issuers = issuers;
  }

  owns(credential: string): boolean {
    return this.#issuers.haveTokens && looksLikeToken(credential);
  }

  find(digest: string): HostPrincipal | undefined {
    const kept = this.#kept.get(digest);
    if (!kept) return undefined;
    if (this.#host.services.clock.now() >= kept.until) this.#kept.delete(digest);
    else if (isOpen(this.#host.stores.identities.find(kept.principal.id))) return kept.principal;
    return undefined; // what is not known of it is asked for
  }

  async ask(token: string, digest: string, address: string): Promise<HostPrincipal | undefined> {
    const { clock } = this.#host.services;
    const version = this.#issuers.version;
    const client = limiterKey(address);
    let isCounted = false;
    const found = await verifyToken(token, {
      find: (url) => this.#issuers.ofTokens(url),
      types: TYPES,
      audiencesOf: ({ bearer }) => bearer?.audiences ?? new Set(),
      maxAgeOf: ({ bearer }) => bearer?.maxAgeMs ?? 0,
      now: clock.now(),
      beforeSignature: () => {
        isCounted = this.#takeCheck(client);
      },
    });
    const isBad = 'fault' in found && found.fault === 'signature';
    if (isCounted && !isBad) this.#buckets.take(client, CHECKS, clock.monotonic(), -1, Number.NEGATIVE_INFINITY);
    if ('fault' in found) return this.#refused(found);
    const principal = this.#granted(found);
    await this.#refuseBlocked(found);
    this.#count(found.issuer.name, 'ok');
    if (version === this.#issuers.version) this.#keep(digest, principal, found);
    return principal;
  }

  standing(principal: HostPrincipal): Standing {
    const origin = this.#origins.get(principal);
    const issuer = origin && this.#issuers.ofTokens(origin.url)?.issuer;
    if (!issuer) return 'gone';
    if (!issuer.rules.grantOf(origin.claims)) return 'revoked';
    if (this.#host.stores.identities.find(principal.id)?.record?.blockedAt !== undefined) return 'revoked';
    const { expiresAt = 0 } = principal;
    return this.#host.services.clock.now() < expiresAt + issuer.skewMs ? 'stands' : 'expired';
  }

  /** Rules, or issuers, are others. */
  forget(): void {
    this.#kept.clear();
  }

  /** Throws where that address has sent too many bad tokens. */
  #takeCheck(client: string): boolean {
    const { taken, retryAfterMs } = this.#buckets.take(client, CHECKS, this.#host.services.clock.monotonic());
    if (taken) return true;
    this.#host.counters.add('gateway_rate_limit_rejections_total', { key_type: 'identity' });
    throw new GatewayError('rate_limit_exceeded', 'too many tokens from this address are not valid', { retryAfterMs });
  }

  #refused({ fault, issuer }: Refused): undefined {
    this.#count(issuer?.name, fault);
    this.#host.log.debug('a token was refused', { issuer: issuer?.name ?? 'none', reason: fault });
    if (fault === 'unavailable')
      throw new GatewayError('identity_unavailable', 'the issuer of this token does not answer');
    return undefined;
  }

  #granted(found: Verified): HostPrincipal {
    const { issuer, claims, id, name, expiresAt } = found;
    const grant = issuer.rules.grantOf(claims);
    if (!grant) this.#withoutAccess(found);
    const { scopes, limits }: Grant = grant;
    const principal = new HostPrincipal({ id, name, scopes, limits, issuer: issuer.name, expiresAt });
    this.#origins.set(principal, { url: issuer.url, claims: claimsNamed(claims, issuer.rules.claims) });
    return principal;
  }

  /** Throws where it is blocked, and `StoreUnavailable` where that is not known. One that was never here gets its record in passing. */
  async #refuseBlocked({ issuer, subject, id, name }: Verified): Promise<void> {
    const { identities, clock } = this.#host.stores;
    const { record } = identities.find(id) ?? (await identities.ask(id));
    if (record?.blockedAt !== undefined) {
      this.#count(issuer.name, 'blocked');
      throw noAccess();
    }
    if (record) return;
    const made = { id, issuerUrl: issuer.url, issuer: issuer.name, subject, name, firstSeenAt: clock.now() };
    identities
      .change(id, (before) => before ?? made)
      .catch((error: unknown) => this.#host.log.warn('an identity could not be kept', { actor_id: id, error }));
  }

  #withoutAccess({ issuer, claims, id }: Verified): never {
    const { log, services } = this.#host;
    this.#count(issuer.name, 'no_access');
    if (this.#told.isFirst(id, services.clock.monotonic()))
      log.info('identity has no access', { issuer: issuer.name, actor_id: id, reason: whyNone(claims) });
    throw noAccess();
  }

  #keep(digest: string, principal: HostPrincipal, { issuer, expiresAt }: Verified): void {
    const until = Math.min(expiresAt + issuer.skewMs, this.#host.services.clock.now() + KEPT_MS);
    const [oldest] = this.#kept.size >= MOST_KEPT ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(digest, { principal, until });
  }

  #count(issuer: string | undefined, result: Verification): void {
    countVerification(this.#host.counters, { issuer, kind: 'bearer', result });
  }
}

const isOpen = (known: KnownIdentity | undefined): boolean =>
  known !== undefined && known.record?.blockedAt === undefined;

/** One text for all who are known and may not come in. */
const noAccess = (): GatewayError => new GatewayError('insufficient_scope', 'this account may not use this gateway');

/** Groups that are too many for a token stand elsewhere, and are not fetched. Source: Microsoft Learn, "Configure group claims", 2026-11-28. */
export const whyNone = (claims: Claims): 'groups_overage' | 'no_rule' =>
  Object.hasOwn(claims, '_claim_names') || Object.hasOwn(claims, 'hasgroups') ? 'groups_overage' : 'no_rule';
