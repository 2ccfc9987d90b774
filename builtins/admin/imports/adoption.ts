import { hash } from 'node:crypto';
import { factsOf } from '../../../host/common/budgets/key-budget.ts';
import { canonicalJson } from '../../../host/config/canonical.ts';
import type { StoredKey } from '../../../host/stores/keys/key-record.ts';
import type { KeysAfter } from '../../../host/stores/keys/key-repository.ts';
import { identityOf, openingsOf } from '../openings.ts';
import type { WrittenKey } from './adopt-body.ts';

/** What became of a key: made, changed, left as it was changed here, or not taken, because its value belongs to another credential. */
export type AdoptionOutcome = 'adopted' | 'updated' | 'kept' | 'conflict';

export interface AdoptionPlace {
  /** `litellm:` and the id of the import. */
  readonly origin: string;
  /** The gateway that keys come from, as origins begin. */
  readonly source: string;
  readonly now: number;
  readonly newId: () => string;
  /** Whether a value is that of the master key. */
  readonly isTaken: (digest: string) => boolean;
}

export interface Adoption {
  readonly after: KeysAfter;
  readonly outcomes: readonly AdoptionOutcome[];
}

type Step = Pick<KeysAfter, 'made' | 'changed' | 'openings'> & { readonly outcome: AdoptionOutcome };

/** What becomes of keys of another gateway, beside those of this one that have one of their values. */
export function adoptionOf(keys: readonly WrittenKey[], found: readonly StoredKey[], place: AdoptionPlace): Adoption {
  const known = ownersOf(found);
  const seen = new Set<string>();
  const steps = keys.map((key) => {
    const values = [key.digest, ...(key.previous ? [key.previous.digest] : [])];
    const isTwice = values.some((digest) => seen.has(digest)) || new Set(values).size < values.length;
    for (const digest of values) seen.add(digest);
    if (isTwice || values.some(place.isTaken)) return CONFLICT;
    return stepOf(key, known, place);
  });
  return {
    after: {
      made: steps.flatMap(({ made }) => made),
      changed: steps.flatMap(({ changed }) => changed),
      removed: [],
      openings: steps.flatMap(({ openings }) => openings),
    },
    outcomes: steps.map(({ outcome }) => outcome),
  };
}

const CONFLICT: Step = { made: [], changed: [], openings: [], outcome: 'conflict' };
const KEPT: Step = { ...CONFLICT, outcome: 'kept' };

/** Each key by both of its values. */
export const ownersOf = (keys: readonly StoredKey[]): ReadonlyMap<string, StoredKey> =>
  new Map(keys.flatMap((key) => [...(key.previous ? [[key.previous.digest, key] as const] : []), [key.digest, key]]));

function stepOf(key: WrittenKey, known: ReadonlyMap<string, StoredKey>, place: AdoptionPlace): Step {
  const owners = [key.digest, ...(key.previous ? [key.previous.digest] : [])].flatMap(
    (digest) => known.get(digest) ?? [],
  );
  const [before] = owners;
  if (!before) return made(key, place);
  const isSame = owners.every(({ id }) => id === before.id) && isOf(before, place.source);
  if (!isSame || (before.digest !== key.digest && before.digest !== key.previous?.digest)) return CONFLICT;
  return isChanged(before) ? KEPT : changed(key, before, place);
}

const isOf = ({ origin }: StoredKey, source: string): boolean => origin?.startsWith(`${source}:`) === true;

function made(key: WrittenKey, { origin, now, newId }: AdoptionPlace): Step {
  const id = newId();
  const after = withMark({
    ...membersOf(key),
    id,
    scopes: [],
    createdAt: key.createdAt ?? now,
    usageCount: 0,
    active: true,
    origin,
  });
  return { ...CONFLICT, made: [after], openings: openingsOf(`k:${id}`, key.budgets, now), outcome: 'adopted' };
}

/** Budgets that the key has already go on where they stand. */
function changed(key: WrittenKey, before: StoredKey, { now }: AdoptionPlace): Step {
  const counted = new Set(
    (before.limits.budgets ?? []).map((budget, at) => identityOf(factsOf(budget, `budgets[${at}]`))),
  );
  const begun = key.budgets.filter((facts) => !counted.has(identityOf(facts)));
  const after = withMark({ ...before, ...membersOf(key) });
  return { ...CONFLICT, changed: [after], openings: openingsOf(`k:${before.id}`, begun, now), outcome: 'updated' };
}

const membersOf = ({ digest, display, name, previous, expiresAt, limits }: WrittenKey) => ({
  digest,
  display,
  name,
  previous,
  expiresAt,
  limits,
});

const withMark = (key: StoredKey): StoredKey => ({ ...key, adoptedAs: markOf(key) });

/** Whether an administrator changed a key here since it was brought, or ended it. */
export const isChanged = (key: StoredKey): boolean => key.adoptedAs !== markOf(key);

/** One text for keys that are alike, whatever was used of them. */
function markOf({ digest, display, name, previous, expiresAt, limits, scopes, active, revokedAt }: StoredKey): string {
  const members = { digest, display, name, previous, expiresAt, limits, scopes, active, revokedAt };
  return hash('sha256', canonicalJson(members));
}
