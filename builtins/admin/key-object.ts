import type { KeyRecord } from '../../host/stores/keys/key-record.ts';
import { timestamp } from './timestamps.ts';

/** A key as every route shows it, in the order of docs/admin.md#keys. What is unset is left out. `key` is the whole value right after it was made. */
export function keyObject(record: KeyRecord, key: string = record.display): object {
  const { id, name, scopes, createdAt, revokedAt, expiresAt, rotatedAt, lastUsedAt, usageCount, active, limits } =
    record;
  const { models, providers, tags, mcp_tools, rpm, tpm, budget_usd } = limits;
  return {
    id,
    key,
    name,
    scopes,
    created_at: timestamp(createdAt),
    revoked_at: optional(revokedAt),
    expires_at: optional(expiresAt),
    rotated_at: optional(rotatedAt),
    last_used_at: optional(lastUsedAt),
    usage_count: usageCount,
    active,
    models,
    providers,
    tags,
    mcp_tools,
    rpm,
    tpm,
    budget_usd,
  };
}

/** JSON leaves `undefined` out. */
function optional(at: number | undefined): string | undefined {
  return at === undefined ? undefined : timestamp(at);
}
