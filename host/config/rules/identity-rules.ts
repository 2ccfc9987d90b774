import { parseDuration } from '../../contract/duration.ts';
import type { GatewayConfig } from '../document.ts';
import { isIssuerUrl } from '../identity/identity-url.ts';
import { isReference } from '../scrub-text.ts';
import { accessRuleChecks } from './identity-access-rules.ts';
import type { ConfigRule, RuleContext } from './rule.ts';

export type IdentityConfig = NonNullable<GatewayConfig['identity']>;
export type IssuerConfig = NonNullable<IdentityConfig['issuers']>[number];

/** Looks at one issuer, which stands at `path`. */
export type IssuerCheck = (issuer: IssuerConfig, path: string, report: RuleContext['report']) => void;

const MOST_ISSUERS = 16;
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const LABEL = /^[^\p{C}\p{Zl}\p{Zp}]{1,40}$/u;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export const ALGORITHMS: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];
const MOST_AUDIENCES = 10;
/** A word of OAuth 2.0 (RFC 6749, 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Claims that say how a person is called or reached: another one may have them tomorrow. */
const NAMES_OF_PEOPLE: ReadonlySet<string> = new Set([
  'email',
  'preferred_username',
  'upn',
  'unique_name',
  'name',
  'nickname',
]);

function eachIssuer(id: string, check: IssuerCheck): ConfigRule {
  return {
    id,
    check: ({ identity }, { report }) =>
      identity?.issuers?.forEach((issuer, at) => check(issuer, `identity.issuers[${at}]`, report)),
  };
}

/** Who may come in with credentials of others. See docs/identity.md. */
export const identityRules: readonly ConfigRule[] = [
  { id: 'CV91', check: checkIssuers },
  eachIssuer('CV92', checkTimes),
  eachIssuer('CV93', checkSignIn),
  eachIssuer('CV94', checkAudiences),
  ...accessRuleChecks.map(({ id, check }) => eachIssuer(id, check)),
  eachIssuer('CV97', ({ claims: { subject } = {} }, path, report) => {
    if (subject !== undefined && NAMES_OF_PEOPLE.has(subject))
      report(
        `${path}.claims.subject`,
        `the claim "${subject}" may be another one's tomorrow`,
        'use sub, or another claim that never changes',
      );
  }),
];

function checkIssuers({ identity }: GatewayConfig, { report }: RuleContext): void {
  if (!identity) return;
  const { issuers = [] } = identity;
  if (issuers.length === 0 || issuers.length > MOST_ISSUERS)
    report(
      'identity.issuers',
      issuers.length === 0
        ? 'no issuer is listed'
        : `${issuers.length} issuers are listed, the limit is ${MOST_ISSUERS}`,
      `list 1 to ${MOST_ISSUERS}, or leave identity out`,
    );
  const seen = { name: new Map<string, number>(), issuer: new Map<string, number>() };
  issuers.forEach((each, at) => {
    const path = `identity.issuers[${at}]`;
    checkOne(each, path, report);
    for (const field of ['name', 'issuer'] as const) {
      const value = each[field] ?? '';
      const twin = seen[field].get(value);
      if (twin === undefined) seen[field].set(value, at);
      else if (value !== '')
        report(`${path}.${field}`, `issuers[${twin}] has the ${field} "${value}" too`, 'write each once');
    }
  });
}

function checkOne(each: IssuerConfig, path: string, report: RuleContext['report']): void {
  const { name = '', issuer = '', jwks_url: keys, bearer, sign_in: signIn, label } = each;
  if (!NAME.test(name))
    report(
      `${path}.name`,
      name === '' ? 'the issuer has no name' : `"${name}" cannot be the name of an issuer`,
      'write 1 to 32 small letters, digits and hyphens that do not begin with a hyphen',
    );
  if (!isIssuerUrl(issuer))
    report(
      `${path}.issuer`,
      issuer === '' ? 'the address of the issuer is missing' : 'the address of the issuer cannot be used',
      'write an https address without user, query and fragment; http on loopback only',
    );
  else if (isTemplate(issuer))
    report(`${path}.issuer`, 'the address is that of many tenants', 'write the address of one tenant');
  if (keys !== undefined && (!isIssuerUrl(keys) || new URL(keys).pathname === '/'))
    report(`${path}.jwks_url`, 'the address of the keys cannot be used', 'write an https address with a path');
  if (!bearer && !signIn)
    report(path, 'nothing is allowed with this issuer', 'write sign_in, or bearer with its audiences');
  if (label !== undefined && !LABEL.test(label))
    report(`${path}.label`, 'the label cannot stand on a button', 'write 1 to 40 characters that can be printed');
}

/** Tokens of such addresses name another issuer, one per tenant. Source: Microsoft Learn, "OpenID Connect on the Microsoft identity platform", 2026-11-28. */
const isTemplate = (issuer: string): boolean =>
  issuer.includes('{') ||
  /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/i.test(issuer);

function checkTimes(issuer: IssuerConfig, path: string, report: RuleContext['report']): void {
  const { algorithms, clock_skew: skew, max_stale: stale, bearer: { max_age: age } = {}, sign_in: signIn } = issuer;
  if (algorithms?.length === 0) report(`${path}.algorithms`, 'no algorithm is listed', 'list one, or leave it out');
  algorithms?.forEach((algorithm, at) => {
    if (!ALGORITHMS.includes(algorithm))
      report(
        `${path}.algorithms[${at}]`,
        `"${algorithm}" is not an algorithm that counts here`,
        `use of ${ALGORITHMS.join(', ')}`,
      );
  });
  checkTime(`${path}.clock_skew`, skew, { least: 0, most: 5 * MINUTE_MS, words: '0 to 5m' }, report);
  checkTime(`${path}.max_stale`, stale, { least: 0, most: 168 * HOUR_MS, words: '0 to 168h' }, report);
  const session = { least: 5 * MINUTE_MS, most: 24 * HOUR_MS, words: '5m to 24h' };
  checkTime(`${path}.sign_in.max_session`, signIn?.max_session, session, report);
  checkTime(`${path}.bearer.max_age`, age, { least: MINUTE_MS, most: 24 * HOUR_MS, words: '1m to 24h' }, report);
}

interface TimeBounds {
  readonly least: number;
  readonly most: number;
  readonly words: string;
}

function checkTime(
  path: string,
  text: string | undefined,
  { least, most, words }: TimeBounds,
  report: RuleContext['report'],
): void {
  if (text === undefined) return;
  const ms = parseDuration(text);
  if (ms === undefined || ms < least || ms > most)
    report(path, `"${text}" is not a duration of ${words}`, `write a duration of ${words}, such as 1m`);
}

function checkSignIn({ sign_in: signIn }: IssuerConfig, path: string, report: RuleContext['report']): void {
  if (!signIn) return;
  const { client_id: id = '', client_secret: secret, scopes } = signIn;
  const at = `${path}.sign_in`;
  if (id === '') report(`${at}.client_id`, 'the id of this gateway at the issuer is missing', 'write it');
  if (secret !== undefined && !isReference(secret))
    report(`${at}.client_secret`, 'the secret is not one reference', 'write ${NAME} or ${file:/path}');
  if (
    scopes &&
    (!scopes.includes('openid') || scopes.includes('offline_access') || scopes.some((each) => !SCOPE.test(each)))
  )
    report(`${at}.scopes`, 'these scopes cannot be asked for', 'write openid among them, and not offline_access');
}

function checkAudiences(
  { bearer, sign_in: signIn, jwks_url: keys }: IssuerConfig,
  path: string,
  report: RuleContext['report'],
): void {
  if (signIn && keys !== undefined)
    report(`${path}.jwks_url`, 'people sign in with issuers that have metadata', 'leave jwks_url or sign_in out');
  if (!bearer) return;
  const { audiences = [] } = bearer;
  if (audiences.length === 0 || audiences.length > MOST_AUDIENCES)
    report(
      `${path}.bearer.audiences`,
      audiences.length === 0
        ? 'no audience is listed: tokens for any service would count'
        : `${audiences.length} audiences are listed, the limit is ${MOST_AUDIENCES}`,
      'list what the aud of tokens for this gateway is',
    );
  audiences.forEach((audience, at) => {
    if (audience !== '' && audience === signIn?.client_id)
      report(
        `${path}.bearer.audiences[${at}]`,
        'this audience is the client of sign_in: what the dashboard is given would count as a token for programs',
        'have tokens issued for another audience',
      );
    if (audience === '') report(`${path}.bearer.audiences[${at}]`, 'the audience is empty', 'write it, or remove it');
  });
}
