import { lateFile } from '../../host/contract/index.ts';
import { isTooLong, claimOf, type Claims } from './claims.ts';
import { identityId, type Issuer, nameOf, subjectOf } from './issuer.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import type * as SignatureFile from './signature.ts';
import { readToken, type TokenText } from './token-text.ts';

const { isSigned } = lateFile<typeof SignatureFile>(import.meta, './signature.ts')(['isSigned']);

/** Why a token does not count, as figures have it. */
export type TokenFault =
  | 'malformed'
  | 'algorithm'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'time'
  | 'key'
  | 'signature'
  | 'claims'
  | 'unavailable';

export interface KnownIssuer {
  readonly issuer: Issuer;
  readonly keys: IssuerKeys;
}

/** What is asked of a token beside what is asked of all. */
export interface TokenQuestion {
  /** The issuer of that address, where it counts here. */
  readonly find: (url: string) => KnownIssuer | undefined;
  readonly types: ReadonlySet<string>;
  readonly audiencesOf: (issuer: Issuer) => ReadonlySet<string>;
  /** Milliseconds since it was issued. */
  readonly maxAgeOf: (issuer: Issuer) => number;
  /** Unix milliseconds. */
  readonly now: number;
  /** Asked before the signature is checked, which costs most. Throws to refuse. */
  readonly beforeSignature: () => void;
}

export interface Verified {
  readonly issuer: Issuer;
  readonly claims: Claims;
  readonly subject: string;
  readonly id: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export interface Refused {
  readonly fault: TokenFault;
  /** The configured issuer that it names. */
  readonly issuer: Issuer | undefined;
}

/** Checks a token, the cheapest first: form, algorithm, issuer, audience, times, key, signature, claims. */
export async function verifyToken(token: string, question: TokenQuestion): Promise<Verified | Refused> {
  const read = readToken(token);
  if (!read) return { fault: 'malformed', issuer: undefined };
  const { header, claims } = read;
  const { iss } = claims;
  const known = typeof iss === 'string' ? question.find(iss) : undefined;
  const issuer = known?.issuer;
  const fault = headerFault(read, question, issuer) ?? (issuer ? claimsFault(claims, issuer, question) : 'issuer');
  if (fault !== undefined || !known) return { fault: fault ?? 'issuer', issuer };
  const algorithm = String(header['alg']);
  const key = await known.keys.find(header['kid'] as string | undefined, algorithm);
  if (typeof key === 'string') return { fault: key === 'unknown' ? 'key' : 'unavailable', issuer };
  question.beforeSignature();
  if (!(await isSigned(token, key, algorithm))) return { fault: 'signature', issuer };
  return identified(known.issuer, claims);
}

const ALGORITHM = /^(?:[RPE]S(?:256|384|512)|EdDSA)$/;

function headerFault(
  { header: { alg, typ, crit, kid } }: TokenText,
  { types }: TokenQuestion,
  issuer: Issuer | undefined,
): TokenFault | undefined {
  if (typeof alg !== 'string' || !ALGORITHM.test(alg) || (issuer && !issuer.algorithms.has(alg))) return 'algorithm';
  if (typ !== undefined && !(typeof typ === 'string' && types.has(typ.toLowerCase()))) return 'algorithm';
  if (crit !== undefined) return 'algorithm';
  return kid === undefined || typeof kid === 'string' ? undefined : 'key';
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

function claimsFault(
  { aud, exp, nbf, iat }: Claims,
  issuer: Issuer,
  { audiencesOf, maxAgeOf, now }: TokenQuestion,
): TokenFault | undefined {
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  const ours = audiencesOf(issuer);
  if (!audiences.some((each) => typeof each === 'string' && ours.has(each))) return 'audience';
  const { skewMs } = issuer;
  if (!isTime(exp) || !isTime(iat) || (nbf !== undefined && !isTime(nbf))) return 'time';
  if (exp * 1000 + skewMs <= now) return 'expired';
  if (iat * 1000 - skewMs > now || (nbf !== undefined && nbf * 1000 - skewMs > now)) return 'time';
  return iat * 1000 + maxAgeOf(issuer) + skewMs <= now ? 'expired' : undefined;
}

function identified(issuer: Issuer, claims: Claims): Verified | Refused {
  const subject = subjectOf(issuer, claims);
  if (subject === undefined || issuer.rules.claims.some((name) => isTooLong(claimOf(claims, name))))
    return { fault: 'claims', issuer };
  return {
    issuer,
    claims,
    subject,
    id: identityId(issuer.url, subject),
    name: nameOf(issuer, claims, subject),
    expiresAt: Number(claims['exp']) * 1000,
  };
}
