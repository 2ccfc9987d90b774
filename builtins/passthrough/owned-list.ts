import { type Fields, GatewayError, isFields, parseExactJson } from '../../host/contract/index.ts';
import type { Owners } from '../../host/stores/owners.ts';
import { foreignIds } from './ownership.ts';

/** Longest list that is searched; providers list at most 10,000 files at once. Source: OpenAI API reference, "List files", 2026-11-23. */
export const MAX_LIST = 16 * 1024 * 1024;

/** A list of files or batches without those of others; the same bytes where there are none. Throws for what cannot be searched as a list. */
export async function withoutForeign(bytes: Buffer | undefined, owner: string, owners: Owners): Promise<Buffer> {
  const list = bytes && parsed(bytes);
  if (!bytes || !isFields(list) || !Array.isArray(list['data']))
    throw new GatewayError('upstream_error', 'the list of the provider cannot be searched for what belongs to others');
  const items: readonly unknown[] = list['data'];
  const foreign = await foreignIds(owners, 'file', items.flatMap(idsOf), owner);
  const own = items.filter((item) => !idsOf(item).some((id) => foreign.has(id)));
  return own.length === items.length
    ? bytes
    : Buffer.from(JSON.stringify({ ...list, ...edgesOf(own, list), data: own }));
}

/** With the digits of every number. */
function parsed(bytes: Buffer): unknown {
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const idsOf = (item: unknown): readonly string[] =>
  isFields(item) && typeof item['id'] === 'string' ? [item['id']] : [];

/** Ids that clients go on from. Of a page of which nothing is left the last one stays: more may follow. */
function edgesOf(own: readonly unknown[], { first_id: first, last_id: last }: Readonly<Fields>): Readonly<Fields> {
  const [begin] = own.slice(0, 1).flatMap(idsOf);
  const [end] = own.slice(-1).flatMap(idsOf);
  return {
    ...(first !== undefined && { first_id: begin ?? null }),
    ...(last !== undefined && { last_id: end ?? last }),
  };
}
