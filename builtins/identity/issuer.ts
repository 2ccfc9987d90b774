import { hash } from 'node:crypto';
import { parseDuration } from '../../host/contract/index.ts';
import type { IdentityConfig } from '../../host/config/identity/identity-place.ts';
import { AccessRules } from './access-rules.ts';
import { claimOf, type Claims } from './claims.ts';
import { shownName } from './shown-name.ts';

type IssuerConfig = NonNullable<IdentityConfig['issuers']>[number];

/** An issuer as the configuration has it, with its defaults. */
export interface Issuer {
  readonly name: string;
  /** As it stands in tokens, character by character. */
  readonly url: string;
  /** Where its keys are, where its metadata are not asked. */
  readonly keysUrl: string | undefined;
  readonly algorithms: ReadonlySet<string>;
  readonly skewMs: number;
  /** How long keys count that could not be looked at again. */
  readonly staleMs: number;
  readonly subjectClaim: string;
  readonly nameClaims: readonly string[];
  readonly rules: AccessRules;
  /** `undefined` where no people sign in with it. */
  readonly signIn: IssuerSignIn | undefined;
  /** `undefined` where no tokens count. */
  readonly bearer: { readonly audiences: ReadonlySet<string>; readonly maxAgeMs: number } | undefined;
}

interface IssuerSignIn {
  readonly label: string;
  readonly clientId: string;
  /** The reference as it was written; `undefined` of a public client. */
  readonly secret: string | undefined;
  readonly scopes: readonly string[];
  readonly userinfo: boolean;
  readonly sessionMs: number;
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const NAMES = ['preferred_username', 'email', 'name'];
const SCOPES = ['openid', 'profile', 'email'];
const LONGEST_SUBJECT = 255;
const ID_DIGITS = 32;

const msOf = (text: string | undefined, otherwise: string): number => parseDuration(text ?? otherwise) ?? 0;

export function readIssuer(config: IssuerConfig): Issuer {
  const { name = '', issuer = '', jwks_url: keysUrl, algorithms = ALGORITHMS, claims = {}, bearer, access } = config;
  return {
    name,
    url: issuer,
    keysUrl,
    algorithms: new Set(algorithms),
    skewMs: msOf(config.clock_skew, '30s'),
    staleMs: msOf(config.max_stale, '24h'),
    subjectClaim: claims.subject ?? 'sub',
    nameClaims: claims.name === undefined ? NAMES : [claims.name],
    rules: new AccessRules(access),
    signIn: readSignIn(config),
    bearer: bearer && { audiences: new Set(bearer.audiences), maxAgeMs: msOf(bearer.max_age, '24h') },
  };
}

function readSignIn({ name = '', label, sign_in: signIn }: IssuerConfig): IssuerSignIn | undefined {
  return (
    signIn && {
      label: label ?? name,
      clientId: signIn.client_id ?? '',
      secret: signIn.client_secret,
      scopes: signIn.scopes ?? SCOPES,
      userinfo: signIn.userinfo ?? false,
      sessionMs: msOf(signIn.max_session, '24h'),
    }
  );
}

/** The claim that never changes; `undefined` where the token does not have it. */
export function subjectOf({ subjectClaim }: Issuer, claims: Claims): string | undefined {
  const subject = claimOf(claims, subjectClaim);
  return typeof subject === 'string' && subject !== '' && subject.length <= LONGEST_SUBJECT ? subject : undefined;
}

/** An id that is the same on every replica, before any record is there, and holds no name. */
export const identityId = (url: string, subject: string): string =>
  `oidc:${hash('sha256', `${url}\n${subject}`).slice(0, ID_DIGITS)}`;

/** For show alone: names are not unique. */
export function nameOf({ nameClaims }: Issuer, claims: Claims, subject: string): string {
  const found = nameClaims
    .map((name) => claimOf(claims, name))
    .find((value) => typeof value === 'string' && value !== '');
  return shownName(typeof found === 'string' ? found : subject) || shownName(subject);
}
