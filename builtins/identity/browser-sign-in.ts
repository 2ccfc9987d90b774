import { randomBytes } from 'node:crypto';
import { parseReference } from '../../host/config/references.ts';
import {
  type BegunSignIn,
  type SignedIn,
  SignInFailed,
  type SignIn,
} from '../../host/config/identity/identity-sign-in.ts';
import { lateFile } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { Grant } from './access-rules.ts';
import { claimsNamed, type Claims } from './claims.ts';
import type * as CodeFlowFile from './code-flow.ts';
import type { Client, Exchanged } from './code-flow.ts';
import { nameOf } from './issuer.ts';
import type { Issuers } from './issuers.ts';
import type { Seal, Transaction } from './seal.ts';
import { whyNone } from './tokens.ts';
import { UsedOnce } from './used-once.ts';
import { countVerification } from './verifications.ts';
import { type KnownIssuer, type Verified, verifyToken } from './verify-token.ts';

const { authorizationUrl, exchange } = lateFile<typeof CodeFlowFile>(
  import.meta,
  './code-flow.ts',
)(['authorizationUrl', 'exchange']);

/** From its beginning to its end. */
const LIFE_MS = 600_000;
const RANDOM_BYTES = 32;
const ID_TOKEN: ReadonlySet<string> = new Set(['jwt']);
const MOST_CLAIM_BYTES = 8192;

type SignInHost = Pick<Host, 'services' | 'stores' | 'settings' | 'secrets' | 'counters' | 'log'>;

/** Signing in with a browser: the authorization code flow of OpenID Connect with PKCE. See docs/identity.md#signing-in. */
export class BrowserSignIn implements SignIn {
  readonly #host: SignInHost;
  readonly #issuers: Issuers;
  readonly #seal: Seal;
  readonly #used: UsedOnce;

  constructor(host: SignInHost, issuers: Issuers, seal: Seal) {
    this.#host = host;
    this.#issuers = issuers;
    this.#seal = seal;
    this.#used = new UsedOnce(host.services.clock, LIFE_MS);
  }

  issuers(): readonly { readonly name: string; readonly label: string }[] {
    return this.#issuers.all.flatMap(({ issuer: { name, signIn } }) => (signIn ? [{ name, label: signIn.label }] : []));
  }

  async begin(name: string, prompt: string | undefined): Promise<BegunSignIn> {
    const known = this.#named(name);
    const client = await this.#client(known);
    const at = this.#host.services.clock.now();
    const transaction: Transaction = {
      id: random(),
      issuer: known.issuer.url,
      state: random(),
      nonce: random(),
      verifier: random(),
      at,
    };
    const scopes = known.issuer.signIn?.scopes ?? [];
    return {
      authorizationUrl: await authorizationUrl(client, { ...transaction, scopes, prompt }),
      transaction: this.#seal.close(transaction),
      expiresAt: at + LIFE_MS,
    };
  }

  async complete(name: string, box: string, response: string): Promise<SignedIn> {
    const known = this.#named(name);
    const transaction = this.#opened(box, known);
    this.#checkResponse(response, transaction);
    const client = await this.#client(known);
    const exchanged = await exchange(client, response, transaction);
    if ('fault' in exchanged)
      throw new SignInFailed(exchanged.fault, { providerError: cleaned(exchanged.error), cause: exchanged.cause });
    const verified = await this.#verified(known, client, exchanged);
    const claims = await this.#claims(known, verified, exchanged);
    const grant = this.#grant(verified, claims);
    return this.#entered(verified, claims, grant);
  }

  #named(name: string): KnownIssuer {
    const known = this.#issuers.named(name);
    if (!known?.issuer.signIn) throw new Error(`no people sign in with ${name}`);
    return known;
  }

  async #client({ issuer, keys }: KnownIssuer): Promise<Client> {
    const { signIn } = issuer;
    const metadata = await keys.metadata();
    const reference = signIn?.secret === undefined ? undefined : parseReference(signIn.secret);
    const secret = reference && (await this.#host.secrets.resolve(reference, 'header'));
    if (secret && 'reason' in secret)
      this.#host.log.error('the secret of a sign-in has no value', { issuer: issuer.name, reason: secret.reason });
    if (!metadata || (secret && 'reason' in secret)) throw new SignInFailed('unavailable');
    return {
      metadata: { ...metadata.document, id_token_signing_alg_values_supported: [...issuer.algorithms] },
      id: signIn?.clientId ?? '',
      secret: secret?.value,
      redirectUri: `${this.#host.settings.listeners.publicUrl ?? ''}/login/${issuer.name}`,
    };
  }

  #opened(box: string, { issuer }: KnownIssuer): Transaction {
    const transaction = this.#seal.open(box);
    const age = this.#host.services.clock.now() - (transaction?.at ?? 0);
    if (!transaction || transaction.issuer !== issuer.url || age > LIFE_MS || !this.#used.first(transaction.id))
      throw new SignInFailed('transaction');
    return transaction;
  }

  /** What the provider says beside the code; the library looks at all of it once more. */
  #checkResponse(response: string, { state, issuer }: Transaction): void {
    const query = new URLSearchParams(response);
    if (query.getAll('state').join('\n') !== state) throw new SignInFailed('state');
    const iss = query.get('iss');
    if (iss !== null && iss !== issuer) throw new SignInFailed('issuer');
    const error = query.get('error');
    if (error !== null) throw new SignInFailed('provider_error', { providerError: cleaned(error) });
  }

  /** The library takes TLS for the proof of an ID token: the signature is checked here, by the keys that count for tokens too. */
  async #verified(known: KnownIssuer, { id }: Client, { idToken }: Exchanged): Promise<Verified> {
    const found = await verifyToken(idToken, {
      find: (url) => (url === known.issuer.url ? known : undefined),
      types: ID_TOKEN,
      audiencesOf: () => new Set([id]),
      maxAgeOf: () => LIFE_MS,
      now: this.#host.services.clock.now(),
      beforeSignature: () => {},
    });
    const fault = 'fault' in found ? found.fault : wrongParty(found.claims, id);
    countVerification(this.#host.counters, { issuer: known.issuer.name, kind: 'sign_in', result: fault ?? 'ok' });
    if ('fault' in found || fault !== undefined)
      throw new SignInFailed(fault === 'unavailable' ? 'unavailable' : 'token');
    return found;
  }

  /** Claims of the userinfo endpoint stand in for those that the ID token has not. */
  async #claims({ issuer }: KnownIssuer, { claims }: Verified, { userinfo }: Exchanged): Promise<Claims> {
    if (!issuer.signIn?.userinfo) return claims;
    const more = await userinfo(String(claims['sub']));
    if (!more) throw new SignInFailed('unavailable');
    return { ...more, ...claims };
  }

  #grant({ issuer, id }: Verified, claims: Claims): Grant {
    const grant = issuer.rules.grantOf(claims);
    if (grant && grant.scopes.length > 0) return grant; // models alone need no page
    this.#host.log.info('identity has no access', { issuer: issuer.name, actor_id: id, reason: whyNone(claims) });
    throw new SignInFailed('no_access', { subjectId: id });
  }

  async #entered({ issuer, id, subject }: Verified, claims: Claims, grant: Grant): Promise<SignedIn> {
    const named = claimsNamed(claims, issuer.rules.claims);
    if (Buffer.byteLength(JSON.stringify(named)) > MOST_CLAIM_BYTES)
      throw new SignInFailed('no_access', { subjectId: id });
    const now = this.#host.stores.clock.now();
    const record = await this.#host.stores.identities.change(id, (before) => ({
      ...before,
      id,
      issuerUrl: issuer.url,
      issuer: issuer.name,
      subject,
      name: nameOf(issuer, claims, subject),
      claims: before?.blockedAt === undefined ? named : before.claims,
      firstSeenAt: before?.firstSeenAt ?? now,
      signedInAt: before?.blockedAt === undefined ? now : before.signedInAt,
    }));
    if (record?.blockedAt !== undefined) throw new SignInFailed('blocked', { subjectId: id });
    const { rule, scopes, limits } = grant;
    return {
      id,
      name: nameOf(issuer, claims, subject),
      rule,
      scopes,
      limits,
      sessionMs: issuer.signIn?.sessionMs ?? 0,
    };
  }
}

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');

/** What a provider calls an error, where it could be a word of OAuth 2.0. */
const cleaned = (error: string | undefined): string | undefined =>
  error !== undefined && /^[a-z_]{1,40}$/.test(error) ? error : undefined;

/** A token for several parties must have been asked for by this one. Source: OpenID Connect Core 1.0, 3.1.3.7. */
function wrongParty({ aud, azp }: Claims, id: string): 'audience' | undefined {
  const isForMany = Array.isArray(aud) && aud.length > 1;
  return (isForMany || azp !== undefined) && azp !== id ? 'audience' : undefined;
}
