import { looserMembers } from '../../../host/common/accounts/looser.ts';
import type { StoredKey } from '../../../host/stores/keys/key-record.ts';
import type { Ledgers } from '../../../host/stores/ledgers/ledgers.ts';
import type { Opening } from '../../../host/stores/ledgers/opening.ts';
import { openingsOf } from '../openings.ts';
import type { WrittenKey } from './adopt-body.ts';
import { ownersOf } from './adoption.ts';

/** A key that lets more through than it did, by its place in the question, and by which members. */
interface LooserKey {
  readonly index: number;
  readonly members: readonly string[];
}

export interface CheckedKeys {
  /** Places of keys that no key here has the value of. */
  readonly missing: readonly number[];
  readonly looser: readonly LooserKey[];
  /** Micro-dollars that they had spent in their windows, and that are counted here. */
  readonly opening_micro_usd: number;
  readonly spent_micro_usd: number;
}

/** How keys of another gateway differ from those that were made of them. It changes nothing. */
export function checkKeys(
  keys: readonly WrittenKey[],
  found: readonly StoredKey[],
  { ledgers, now }: { readonly ledgers: Pick<Ledgers, 'peek'>; readonly now: number },
): CheckedKeys {
  const owners = ownersOf(found);
  const pairs = keys.map((key, index) => ({ key, index, here: owners.get(key.digest) }));
  const spentOf = ({ ledger, key }: Opening): number => ledgers.peek(ledger, key).committed;
  const present = pairs.flatMap(({ key, index, here }) =>
    here ? [{ key, index, here, openings: openingsOf(`k:${here.id}`, key.budgets, now) }] : [],
  );
  const dollars = present.flatMap(({ openings }) => openings).filter(({ key }) => key.split('|')[1] === 'usd');
  return {
    missing: pairs.flatMap(({ index, here }) => (here ? [] : [index])),
    looser: present
      .map(({ key, index, here, openings }) => ({
        index,
        members: [
          ...looserThan(here, key),
          ...(openings.every((opening) => spentOf(opening) >= opening.amount) ? [] : ['opening']),
        ],
      }))
      .filter(({ members }) => members.length > 0),
    opening_micro_usd: dollars.reduce((sum, { amount }) => sum + amount, 0),
    spent_micro_usd: dollars.reduce((sum, opening) => sum + spentOf(opening), 0),
  };
}

/** A key that was ended lets nothing through. */
function looserThan(here: StoredKey, { digest, expiresAt, limits }: WrittenKey): readonly string[] {
  if (!here.active) return [];
  return [
    ...(here.digest === digest ? [] : ['digest']),
    ...(here.scopes.length > 0 ? ['scopes'] : []),
    ...(expiresAt !== undefined && (here.expiresAt ?? Number.POSITIVE_INFINITY) > expiresAt ? ['expires_at'] : []),
    ...looserMembers({ ...here.limits }, { ...limits }),
  ];
}
