import { type GatewayError, isFields, type UpstreamFault } from '../../contract/index.ts';
import { meaningOf } from '../fault-words.ts';

/** What a failure means for the credential that was used. See docs/reference/credentials.md#what-a-failure-means-for-a-credential. */
export type CredentialClass = 'rate' | 'billing' | 'no_access' | 'invalid_key';

/** A failure that is the credential's business. */
export interface CredentialFault {
  readonly class: CredentialClass;
  /** It depends on the request: nothing is remembered of it, and one other credential may follow. */
  readonly isOfRequest: boolean;
}

/** What must be known of the credential beside the failure. */
export interface Circumstances {
  /** Credentials of its instance. */
  readonly count: number;
  /** It has served within the last minute. */
  readonly isProtected: boolean;
}

/** Longest hint of a 429 that is waited for: above it, the account has spent what it may. */
const MAX_RATE_MS = 10 * 60_000;

/** Errors inside of errors that are looked at. */
const MAX_CAUSES = 4;

/** Codes by which a 403 says that the key itself is wrong. Source: docs.aws.amazon.com, "Common errors"; ai.google.dev, "Troubleshooting", 2026-11-27. */
const OF_KEY: ReadonlySet<string> = new Set([
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'ExpiredTokenException',
  'IncompleteSignature',
  'API_KEY_INVALID',
]);

/** Codes of a rate limit, where an answer that says 200 holds one. */
const OF_RATE: ReadonlySet<string> = new Set([
  'rate_limit_exceeded',
  'rate_limit_error',
  'rate_limit_reached',
  'RESOURCE_EXHAUSTED',
  'ThrottlingException',
  'throttlingException',
  '429',
]);

/** The class of a failure; `undefined` where it is the target's business, or the client's. */
export function credentialFault(error: GatewayError, known: Circumstances): CredentialFault | undefined {
  const { fault, retryAfterMs = 0 } = error;
  if (!fault) return undefined;
  const refused = fault.kind === 'transport' ? refusedBy(error.cause) : undefined;
  if (refused) return refused;
  const reason = reasonOf(fault);
  if (reason === 'billing') return { class: 'billing', isOfRequest: fault.ofRequest === true };
  if (reason === undefined || reason === 'key' || reason === 'model_access')
    return plain(fault, reason, { ...known, retryAfterMs });
  return undefined;
}

function plain(
  fault: UpstreamFault,
  reason: 'key' | 'model_access' | undefined,
  { count, isProtected, retryAfterMs }: Circumstances & { readonly retryAfterMs: number },
): CredentialFault | undefined {
  const { status, code = '' } = fault;
  if (status === 429 || (status === undefined && OF_RATE.has(code)))
    return of(retryAfterMs > MAX_RATE_MS ? 'billing' : 'rate');
  if (reason === 'model_access') return status === 404 && count < 2 ? undefined : of('no_access');
  if (reason !== 'key') return undefined;
  const isDoubted = status === 403 ? !OF_KEY.has(code) : status === 401 && isProtected;
  return of(isDoubted ? 'no_access' : 'invalid_key');
}

const of = (name: CredentialClass): CredentialFault => ({ class: name, isOfRequest: false });

/** The reason of a fault; of a reply that was not read, what its status alone says. */
function reasonOf({ reason, status }: UpstreamFault): UpstreamFault['reason'] {
  return reason ?? (status === undefined ? undefined : meaningOf({ status, codes: [], message: '' })?.reason);
}

/** What a provider's own `authorize` threw of a credential that was refused where it is exchanged for a token. */
function refusedBy(cause: unknown): CredentialFault | undefined {
  let each = cause;
  for (let depth = 0; depth < MAX_CAUSES && each instanceof Error; depth += 1) {
    if ('fault' in each && isFields(each.fault) && each.fault['reason'] === 'key') return of('invalid_key');
    each = each.cause;
  }
  return undefined;
}
