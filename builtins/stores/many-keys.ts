import type { Knex } from 'knex';
import type { StoredKey } from '../../host/stores/keys/key-record.ts';
import type { KeysAfter, KeysStep, OriginSlice } from '../../host/stores/keys/key-repository.ts';
import type { Database } from './database/database.ts';
import type { Tell } from './database/listen.ts';
import { KEY_COLUMNS, keyOf, type Row, rowOf } from './key-rows.ts';
import { insertOpenings } from './openings.ts';

const TABLE = 'api_keys';
/** Values, and rows, of one statement: SQLite takes some thousand values. */
const VALUES = 400;
const ROWS = 100;
/** Keys that other processes hear of one by one; of more they hear that all may be others. */
const TOLD_EACH = 100;

/** One change of many keys, in a transaction that no other change of keys comes into. */
export async function changeMany(
  trx: Knex.Transaction,
  { dialect }: Pick<Database, 'dialect'>,
  { digests = [], slice, apply }: KeysStep,
  tell: Tell,
): Promise<KeysAfter> {
  const found = [...(await ofDigests(trx, digests)), ...(slice ? await ofOrigin(trx, slice) : [])];
  const after = apply(found);
  const { made, changed, removed, openings } = after;
  for (const part of partsOf(removed, VALUES)) await trx(TABLE).whereIn('id', part).delete();
  for (const key of changed) await trx(TABLE).where({ id: key.id }).update(rowOf(key, dialect));
  for (const part of partsOf(made, ROWS)) await trx(TABLE).insert(part.map((key) => rowOf(key, dialect)));
  await insertOpenings(trx, dialect, openings);
  const others = [...changed.map(({ id }) => id), ...removed];
  if (others.length > TOLD_EACH) await tell(trx, 'key', undefined);
  else for (const id of others) await tell(trx, 'key', id);
  return after;
}

/** Each key once, by whichever of its values it is found. */
async function ofDigests(trx: Knex.Transaction, digests: readonly string[]): Promise<readonly StoredKey[]> {
  const found = new Map<string, StoredKey>();
  for (const part of partsOf(digests, VALUES)) {
    const rows = (await trx(TABLE)
      .whereIn('key_hash', part)
      .orWhereIn('previous_key_hash', part)
      .select(KEY_COLUMNS)) as Row[];
    for (const key of rows.map(keyOf)) found.set(key.id, key);
  }
  return [...found.values()];
}

async function ofOrigin(trx: Knex.Transaction, { origin, after, most }: OriginSlice): Promise<readonly StoredKey[]> {
  const rows = (await trx(TABLE)
    .where({ origin })
    .where('id', '>', after)
    .orderBy('id')
    .limit(most)
    .select(KEY_COLUMNS)) as Row[];
  return rows.map(keyOf);
}

function partsOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_none, at) => items.slice(at * size, (at + 1) * size));
}
