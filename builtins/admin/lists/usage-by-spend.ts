import { accessOf } from '../../../host/stores/keys/access-of-keys.ts';
import type { KeyRecord } from '../../../host/stores/keys/key-record.ts';
import type { UsagePage, UsageQuery } from '../../../host/stores/keys/key-repository.ts';
import type { KeyStore } from '../../../host/stores/keys/key-store.ts';

/** Keys that are read at once. */
const SLICE = 200;

type Keys = Pick<KeyStore, 'page' | 'usage'>;
type Query = Omit<UsageQuery, 'sort'>;

/**
 * A page of keys in the order of what they have spent, those that spent most first; keys that have spent nothing follow in the order of their
 * use. No more keys are read than stand before the end of the page.
 */
export async function usageBySpend(
  keys: Keys,
  query: Query,
  spent: ReadonlyMap<string, number>,
): Promise<UsagePage<KeyRecord>> {
  const { limit, offset } = query;
  const page = await keys.usage({ ...query, sort: 'usage', limit: 1, offset: 0 });
  const found: KeyRecord[] = [];
  for await (const record of inOrder(keys, query, spent)) {
    found.push(record);
    if (found.length === offset + limit) break;
  }
  return { ...page, keys: found.slice(offset) };
}

async function* inOrder(keys: Keys, query: Query, spent: ReadonlyMap<string, number>): AsyncGenerator<KeyRecord> {
  const spenders = [...spent]
    .filter(([, micro]) => micro !== 0)
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .map(([id]) => id);
  for (let at = 0; at < spenders.length; at += SLICE) {
    const ids = spenders.slice(at, at + SLICE);
    const records = new Map((await keys.page({ ids }, SLICE)).keys.map((record) => [record.id, record]));
    for (const id of ids) {
      const record = records.get(id);
      if (record && isAskedFor(record, query)) yield record;
    }
  }
  const known = new Set(spenders);
  for (let offset = 0; ; offset += SLICE) {
    const { keys: slice } = await keys.usage({ ...query, sort: 'usage', limit: SLICE, offset });
    yield* slice.filter(({ id }) => !known.has(id));
    if (slice.length < SLICE) return;
  }
}

function isAskedFor(record: KeyRecord, query: Query): boolean {
  const { active, lastUsedAt } = record;
  if (query.active !== undefined && active !== query.active) return false;
  if (query.access !== undefined && accessOf(record) !== query.access) return false;
  return query.since === undefined || (lastUsedAt !== undefined && lastUsedAt >= query.since);
}
