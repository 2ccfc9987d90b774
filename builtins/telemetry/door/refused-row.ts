import type { RequestLogRow } from '../../../host/contract/index.ts';
import { sessionIn } from '../../../host/common/session-headers.ts';
import { rawPath, type RequestContext } from '../../../host/http/context.ts';
import { NO_METADATA, readMetadata } from '../../../host/http/metadata-header.ts';
import type { Refused } from '../../../host/http/door/refused.ts';
import { originOf } from '../../../host/pipeline/ending/origin-of.ts';
import { outcomeOf } from '../../../host/pipeline/ending/outcome-of.ts';
import { payerOf } from '../../../host/pipeline/ending/payer-of.ts';
import { reasonOf } from '../../../host/pipeline/ending/reason-of.ts';
import { READS, surfaceOfPath } from './surface-of-path.ts';

/** A refusal of a credential that is known. */
export interface KnownRefusal extends Refused {
  /** Id of the credential; empty where none is needed and none was sent. */
  readonly keyId: string;
  readonly reason: string;
  /** Tag of what the path asks for. */
  readonly surface: string;
}

/** Why requests are refused before their path is looked at. */
const BY_CREDENTIAL: ReadonlySet<string> = new Set(['key_rpm', 'key_tpm', 'key_expired', 'key_revoked', 'blocked']);

/** What is recorded of a refusal: `undefined` where no path for models was asked, where nothing is known of the credential, and of questions that its key may ask. */
export function knownRefusal({ context, error }: Refused): KnownRefusal | undefined {
  const { protectedBy, endedKey, isAdmitted, principal, request } = context;
  if (protectedBy?.isLimited !== true) return undefined;
  const keyId = principal?.id ?? (isAdmitted ? '' : endedKey?.id);
  if (keyId === undefined) return undefined;
  const reason =
    endedKey && !isAdmitted
      ? `key_${endedKey.standing}`
      : reasonOf({ error, forwardedStatus: undefined, rejectedBy: undefined, refused: undefined, attempts: 0 });
  const surface = surfaceOfPath(context.misspelling?.path ?? rawPath(request));
  if (reason === undefined || (surface === READS && !BY_CREDENTIAL.has(reason))) return undefined;
  return { context, error, keyId, reason, surface };
}

/** The row of a refusal. `now` in Unix milliseconds, `durationMs` from the arrival of the request. */
export function refusedRow(
  { context, error, keyId, reason, surface }: KnownRefusal,
  now: number,
  durationMs: number,
): RequestLogRow {
  const { id, askedModel = '', limits } = context;
  const { address, userAgent, method, path } = originOf(context);
  const payer = payerOf(limits, undefined);
  return {
    trace_id: id,
    stage: 'on_error',
    model: askedModel,
    api_key_id: keyId,
    created_at: now,
    error_message: error.message,
    duration_ms: durationMs,
    surface,
    session_id: sessionIn(context.request.headers),
    status: error.status,
    outcome: outcomeOf({ error, forwardedStatus: undefined, reason, attempts: 0 }),
    code: error.code,
    reason,
    method,
    path,
    metadata: metadataOf(context),
    address,
    user_agent: userAgent,
    account: payer?.account,
    tags: payer?.tags,
  };
}

const MOST_ENTRIES = 16;
const LONGEST_NAME = 64;
const LONGEST_VALUE = 256;

/** A header that cannot be read gives none: it may be what was refused. */
function metadataOf({ request: { headers } }: RequestContext): Readonly<Record<string, string>> | undefined {
  let read = NO_METADATA;
  try {
    read = readMetadata(headers['x-gateway-metadata']);
  } catch {
    return undefined;
  }
  const entries = Object.entries(read).slice(0, MOST_ENTRIES);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(0, LONGEST_NAME), cut(value)]));
}

const cut = (value: string): string => (value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE - 1)}…` : value);
