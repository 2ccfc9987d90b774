import type { KeyLimits } from '../../host/common/host-principal.ts';
import { KEY_LIMIT_LIST, type KeyLimitName, type KeyMemberName } from '../../host/common/key-members.ts';
import { accessOf, shownScopes } from '../../host/stores/keys/access-of-keys.ts';
import type { KeyRecord } from '../../host/stores/keys/key-record.ts';
import { timestamp } from '../../host/common/timestamps.ts';

type KeyObject = { readonly [Name in Exclude<KeyMemberName, KeyLimitName>]: unknown } & KeyLimits;

/** A key as every route shows it, in the order of docs/admin.md#keys. What is unset is left out. `key` is the whole value right after it was made. */
export function keyObject(record: KeyRecord, key: string = record.display): KeyObject {
  const {
    id,
    name,
    createdAt,
    revokedAt,
    expiresAt,
    rotatedAt,
    lastUsedAt,
    usageCount,
    active,
    limits,
    previousUntil,
    origin,
  } = record;
  return {
    id,
    key,
    name,
    scopes: shownScopes(record),
    created_at: timestamp(createdAt),
    revoked_at: optional(revokedAt),
    expires_at: optional(expiresAt),
    rotated_at: optional(rotatedAt),
    last_used_at: optional(lastUsedAt),
    usage_count: usageCount,
    active,
    access: accessOf(record) === 'inference' ? 'inference' : undefined,
    previous_expires_at: optional(previousUntil),
    ...Object.fromEntries(KEY_LIMIT_LIST.map(([name]) => [name, limits[name]])),
    origin,
  };
}

/** JSON leaves `undefined` out. */
function optional(at: number | undefined): string | undefined {
  return at === undefined ? undefined : timestamp(at);
}
