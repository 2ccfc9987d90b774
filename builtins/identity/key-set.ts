import { isFields } from '../../host/contract/index.ts';
import { KeysRefused } from './keys-refused.ts';

/** A public key of an issuer, as it published it. */
export interface PublicKey {
  readonly kid: string | undefined;
  /** By which it may have signed. */
  readonly algorithms: readonly string[];
  readonly jwk: Readonly<Record<string, unknown>>;
  /** What a library made of it, by algorithm. */
  readonly made: Map<string, unknown>;
}

const MOST_KEYS = 100;
const LEAST_RSA_BITS = 2048;
const CURVES: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' };
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

/** The keys of a set that may sign. Throws where there are too many, or none. Everything that cannot sign is left out, secrets (`oct`) among it. */
export function keysIn(document: unknown, allowed: ReadonlySet<string>): readonly PublicKey[] {
  const listed = isFields(document) ? document['keys'] : undefined;
  if (!Array.isArray(listed)) throw new KeysRefused('no usable key');
  if (listed.length > MOST_KEYS) throw new KeysRefused('too many keys');
  const keys = listed.flatMap((each: unknown) => keyOf(each, allowed) ?? []);
  if (keys.length === 0) throw new KeysRefused('no usable key');
  return keys;
}

function keyOf(jwk: unknown, allowed: ReadonlySet<string>): PublicKey | undefined {
  if (!isFields(jwk) || !isForSignatures(jwk)) return undefined;
  const { alg, kid } = jwk;
  const algorithms = algorithmsOf(jwk).filter(
    (each) => allowed.has(each) && (alg === undefined || alg === each || (alg === 'Ed25519' && each === 'EdDSA')),
  );
  if (algorithms.length === 0) return undefined;
  return { kid: typeof kid === 'string' ? kid : undefined, algorithms, jwk: publicPart(jwk), made: new Map() };
}

const isForSignatures = ({ use, key_ops: operations }: Readonly<Record<string, unknown>>): boolean =>
  (use === undefined || use === 'sig') &&
  (operations === undefined || (Array.isArray(operations) && operations.includes('verify')));

function algorithmsOf({ kty, crv, n }: Readonly<Record<string, unknown>>): readonly string[] {
  if (kty === 'RSA') return bitsOf(n) >= LEAST_RSA_BITS ? RSA : [];
  if (kty === 'EC' && typeof crv === 'string' && Object.hasOwn(CURVES, crv)) return [CURVES[crv] ?? ''];
  return kty === 'OKP' && crv === 'Ed25519' ? ['EdDSA'] : [];
}

/** How many bits an unsigned number in base64url has, without leading zeros. */
function bitsOf(number: unknown): number {
  if (typeof number !== 'string') return 0;
  const bytes = Buffer.from(number, 'base64url');
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - (Math.clz32(bytes[first] ?? 0) - 24);
}

/** What verifying needs, and no more: neither addresses nor certificates of the key are ever looked at. */
function publicPart({ kty, crv, n, e, x, y }: Readonly<Record<string, unknown>>): PublicKey['jwk'] {
  return kty === 'RSA' ? { kty, n, e } : { kty, crv, x, ...(y !== undefined && { y }) };
}
