import type { WrittenAccount } from '../../../../host/common/accounts/account-members.ts';
import { textIn } from './values.ts';
import { Accounts, type Place } from './accounts.ts';
import { type PlannedKey, plannedKey, type WrittenKey } from './keys.ts';

/** Something that restricts there, and is not carried. */
export interface Restriction {
  readonly name: string;
  /** Keys that it restricts. */
  readonly keys: number;
  readonly accepted: boolean;
}

export interface LitellmPlan {
  readonly accounts: readonly WrittenAccount[];
  readonly keys: readonly WrittenKey[];
  readonly counts: Readonly<Record<'organizations' | 'teams' | 'users' | 'tags' | 'keys' | 'blocked', number>>;
  readonly restrictions: readonly Restriction[];
  /** One of them is for all keys, and not accepted: nothing may be applied. */
  readonly stops: boolean;
  /** Names of models that requests may come with. */
  readonly models: readonly string[];
  readonly notes: readonly string[];
}

/** Keys of people who are signed in at LiteLLM's own pages. */
const DASHBOARD = 'litellm-dashboard';

/** What becomes of a database. A key whose restriction is neither carried nor accepted comes blocked. */
export function planOf(place: Place, accepted: ReadonlySet<string>): LitellmPlan {
  const { database } = place;
  const accounts = new Accounts(place);
  const rows = database.keys.filter((row) => textIn(row, 'team_id') !== DASHBOARD);
  const found = rows.map((row) => plannedKey(row, place, accounts));
  const planned = found.filter((key) => key !== undefined);
  const keys = planned.map((each) => blockedWhere(each, accepted));
  const ofAll = restrictionsOfAll(place, planned);
  const unread = found.length - planned.length;
  return {
    accounts: accounts.all.map(({ account }) => account),
    keys,
    counts: {
      organizations: database.organizations.size,
      teams: database.teams.size,
      users: database.users.size,
      tags: database.tags.size,
      keys: keys.length,
      blocked: keys.filter(({ blocked }) => blocked).length,
    },
    restrictions: [
      ...ofAll.map((name) => ({ name, keys: keys.length, accepted: accepted.has(name) })),
      ...(unread > 0 ? [{ name: 'token', keys: unread, accepted: accepted.has('token') }] : []),
      ...countsOf(planned, accepted),
    ],
    stops: ofAll.some((name) => !accepted.has(name)),
    models: [...new Set(planned.flatMap(({ names }) => names))].toSorted(),
    notes: notesOf(planned, database.keys.length - rows.length),
  };
}

function blockedWhere({ key, restrictions }: PlannedKey, accepted: ReadonlySet<string>): WrittenKey {
  return restrictions.every((name) => accepted.has(name)) ? key : { ...key, blocked: true };
}

function countsOf(planned: readonly PlannedKey[], accepted: ReadonlySet<string>): readonly Restriction[] {
  const counts = new Map<string, number>();
  for (const { restrictions } of planned)
    for (const name of restrictions) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, keys]) => ({ name, keys, accepted: accepted.has(name) }));
}

/** A budget of a tag that no key carries binds requests that name it in their bodies. */
function restrictionsOfAll({ database }: Place, planned: readonly PlannedKey[]): readonly string[] {
  const carried = new Set(planned.flatMap(({ key }) => key.tags ?? []));
  const isForeign = [...database.tags].some(
    ([name, row]) => textIn(row, 'budget_id') !== undefined && !carried.has(name),
  );
  return [...database.restrictionsOfAll, ...(isForeign ? ['tag_budgets'] : [])];
}

function notesOf(planned: readonly PlannedKey[], sessions: number): readonly string[] {
  const older = planned.reduce((sum, { older: count }) => sum + count, 0);
  const note = (count: number, text: string): readonly string[] => (count > 0 ? [`${count} ${text}`] : []);
  return [
    ...note(sessions, "keys of sessions at LiteLLM's pages are left out"),
    ...note(older, 'replaced values beside the newest of their key are left out'),
  ];
}
