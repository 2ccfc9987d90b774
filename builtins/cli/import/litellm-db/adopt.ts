import { isFields } from '../../../../host/contract/json/fields.ts';
import type { Client } from '../../client.ts';
import { batchesOf } from './batches.ts';
import type { WrittenKey } from './keys.ts';

export interface Adopted {
  readonly adopted: number;
  readonly updated: number;
  readonly kept: number;
  /** Names of keys whose value another key of the gateway has. */
  readonly conflicts: readonly string[];
}

/** Brings keys, each batch in one transaction. */
export async function adoptKeys(client: Client, importId: string, keys: readonly WrittenKey[]): Promise<Adopted> {
  let sum: Adopted = { adopted: 0, updated: 0, kept: 0, conflicts: [] };
  for (const batch of batchesOf(keys)) {
    const answer = await client.object('POST', '/admin/keys/adopt', { import_id: importId, keys: batch });
    sum = {
      adopted: sum.adopted + Number(answer['adopted']),
      updated: sum.updated + Number(answer['updated']),
      kept: sum.kept + Number(answer['kept']),
      conflicts: [...sum.conflicts, ...indexesIn(answer['conflicts']).map((at) => batch[at]?.name ?? '')],
    };
  }
  return sum;
}

export interface CheckedKeys {
  /** Names of keys that are not here, and of those that let more through, with the members that do. */
  readonly differences: readonly string[];
  readonly openingMicroUsd: number;
  readonly spentMicroUsd: number;
}

/** Compares keys with what the gateway has of them. It changes nothing. */
export async function checkKeys(client: Client, keys: readonly WrittenKey[]): Promise<CheckedKeys> {
  let sum: CheckedKeys = { differences: [], openingMicroUsd: 0, spentMicroUsd: 0 };
  for (const batch of batchesOf(keys)) {
    const answer = await client.object('POST', '/admin/keys/adopt', { check: true, keys: batch });
    const nameOf = (at: number): string => `key ${JSON.stringify(batch[at]?.name ?? '')}`;
    const looser = Array.isArray(answer['looser']) ? answer['looser'].filter(isFields) : [];
    sum = {
      differences: [
        ...sum.differences,
        ...indexesIn(answer['missing']).map((at) => `${nameOf(at)}: missing`),
        ...looser.map(({ index, members }) => `${nameOf(Number(index))}: ${String(members).replaceAll(',', ', ')}`),
      ],
      openingMicroUsd: sum.openingMicroUsd + Number(answer['opening_micro_usd']),
      spentMicroUsd: sum.spentMicroUsd + Number(answer['spent_micro_usd']),
    };
  }
  return sum;
}

const indexesIn = (value: unknown): readonly number[] =>
  Array.isArray(value) ? value.filter((index) => typeof index === 'number') : [];
