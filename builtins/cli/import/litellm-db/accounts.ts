import type { WrittenAccount } from '../../../../host/common/accounts/account-members.ts';
import { isTagName, ROOT } from '../../../../host/common/accounts/account-path.ts';
import type { KeyBudget } from '../../../../host/common/budgets/key-budget.ts';
import type { Fields } from '../../../../host/contract/json/fields.ts';
import { type LitellmDatabase, pairOf, windowOwner } from './database.ts';
import { joinedLimits, limitsOf, type LimitsSource, rulesOf, type SharedLimits } from './limits.ts';
import { Slugs } from './names.ts';
import { restrictionsIn, type TableName } from './tables.ts';
import { fieldsIn, momentIn, textIn, textsIn } from './values.ts';
import type { SourceClock } from './windows.ts';

/** An account or a tag to be made of a row, with what of it is not carried. */
export interface Node {
  readonly account: WrittenAccount;
  readonly restrictions: readonly string[];
  /** Names of models that it allows. */
  readonly names: readonly string[];
}

export interface Place {
  readonly database: LitellmDatabase;
  readonly clock: SourceClock;
  /** The path below which accounts are made; `/` is none. */
  readonly prefix: string;
}

/** Accounts of users whose keys belong to no team. */
const USERS = 'users';
/** What tags of users begin with. */
const USER_TAG = 'litellm-user:';

/** Organizations, teams, projects, members, users and tags of LiteLLM as accounts and tags of gw. Each is made when it is asked for. */
export class Accounts {
  readonly #place: Place;
  readonly #slugs: Slugs;
  readonly #userSlugs = new Slugs();
  readonly #made = new Map<string, Node>();

  constructor(place: Place) {
    this.#place = place;
    this.#slugs = new Slugs(new Map([[place.prefix, [USERS]]]));
    const { organizations, teams, projects, users, tags } = place.database;
    // In the order in which they were made there, so that of two of one name the same one has it each time.
    for (const [id] of inOrder(organizations)) this.organization(id);
    for (const [id] of inOrder(teams)) this.team(id);
    for (const [id] of inOrder(projects)) this.project(id);
    for (const [id] of inOrder(users)) this.userTag(id);
    for (const [name] of tags) this.tag(name);
  }

  /** All that were made, those above first, but for tags that bind nothing. */
  get all(): readonly Node[] {
    return [...this.#made.values()]
      .filter(({ account }) => !account.path.startsWith('#') || Object.keys(account).length > 2)
      .toSorted((a, b) => (a.account.path < b.account.path ? -1 : 1));
  }

  organization(id: string): Node | undefined {
    const row = this.#place.database.organizations.get(id);
    return (
      row &&
      this.#once(`organization ${id}`, () =>
        this.#node('LiteLLM_OrganizationTable', row, {
          above: this.#place.prefix,
          title: textIn(row, 'organization_alias') ?? id,
        }),
      )
    );
  }

  team(id: string): Node | undefined {
    const row = this.#place.database.teams.get(id);
    if (!row) return undefined;
    return this.#once(`team ${id}`, () => {
      const above = this.organization(textIn(row, 'organization_id') ?? '')?.account.path ?? this.#place.prefix;
      const title = textIn(row, 'team_alias') ?? id;
      const node = this.#node('LiteLLM_TeamTable', row, { above, title, windows: windowOwner('team', id) });
      const member = this.#budget(textIn(fieldsIn(row, 'metadata'), 'team_member_budget_id'));
      if (!member) return node;
      const { limits, restrictions } = limitsOf({ row: member, spent: {}, clock: this.#place.clock });
      const { blocked, ...rates } = limits;
      const shared = { ...rates, ...(rates.budgets && { budgets: rates.budgets.map(withoutOpening) }) };
      return {
        ...node,
        account: { ...node.account, ...(Object.keys(shared).length > 0 && { child_default: shared }) },
        restrictions: [...node.restrictions, ...restrictions, ...(blocked ? ['team_member_budget'] : [])],
      };
    });
  }

  project(id: string): Node | undefined {
    const row = this.#place.database.projects.get(id);
    if (!row) return undefined;
    return this.#once(`project ${id}`, () => {
      const above = this.team(textIn(row, 'team_id') ?? '')?.account.path ?? this.#place.prefix;
      return this.#node('LiteLLM_ProjectTable', row, { above, title: textIn(row, 'project_alias') ?? id });
    });
  }

  /** A user in a team. */
  member(teamId: string, userId: string): Node | undefined {
    const row = this.#place.database.memberships.get(pairOf(teamId, userId));
    const team = this.team(teamId);
    if (!row || !team) return undefined;
    const place = { above: team.account.path, title: this.#userName(userId) };
    return this.#once(`member ${pairOf(teamId, userId)}`, () => this.#node('LiteLLM_TeamMembership', row, place));
  }

  /** Whether a member's own budget binds it in its team. */
  hasBudget(teamId: string, userId: string): boolean {
    const row = this.#place.database.memberships.get(pairOf(teamId, userId));
    return (
      row !== undefined &&
      (textIn(row, 'budget_id') !== undefined || this.team(teamId)?.account.child_default !== undefined)
    );
  }

  /** The account of a user's keys that belong to no team: its models bind those alone. */
  user(id: string): Node | undefined {
    const tag = this.userTag(id);
    const row = this.#place.database.users.get(id);
    if (!tag || !row) return undefined;
    return this.#once(`user ${id}`, () => {
      const path = below(below(this.#place.prefix, USERS), tag.account.path.slice(1 + USER_TAG.length));
      const { rules, restrictions, names } = rulesOf(textsIn(row, 'models'));
      return {
        account: { path, title: titleOf(this.#userName(id)), ...(rules && { models: rules }) },
        restrictions,
        names,
      };
    });
  }

  /** What binds all keys of a user, wherever they belong. */
  userTag(id: string): Node | undefined {
    const row = this.#place.database.users.get(id);
    return (
      row &&
      this.#once(`user tag ${id}`, () => {
        const name = USER_TAG + this.#userSlugs.of(this.#userName(id), '');
        const { limits, restrictions } = limitsOf({ row, spent: row, clock: this.#place.clock });
        return {
          account: { path: `#${name}`, title: titleOf(this.#userName(id)), ...limits },
          restrictions: [...restrictionsIn('LiteLLM_UserTable', row), ...restrictions],
          names: [],
        };
      })
    );
  }

  /** `undefined` of a tag that has no row, and of one whose name no tag here can have. */
  tag(name: string): Node | undefined {
    const row = this.#place.database.tags.get(name);
    if (!row || !isTagName(name)) return undefined;
    return this.#once(`tag ${name}`, () => {
      const { limits, restrictions } = this.#limitsOf('LiteLLM_TagTable', row);
      const own: WrittenAccount = { path: `#${name}`, title: name, ...limits };
      const isBinding = Object.keys(limits).length > 0;
      return { account: isBinding ? { ...own, brought_by: 'both' } : own, restrictions, names: [] };
    });
  }

  #userName(id: string): string {
    const row = this.#place.database.users.get(id);
    return (row && textIn(row, 'user_alias')) ?? id;
  }

  #once(name: string, make: () => Node): Node {
    const known = this.#made.get(name);
    if (known) return known;
    const node = make();
    this.#made.set(name, node);
    return node;
  }

  #budget(id: string | undefined): Fields | undefined {
    return id === undefined ? undefined : this.#place.database.budgets.get(id);
  }

  #node(
    table: TableName,
    row: Fields,
    { above, title, windows }: { readonly above: string; readonly title: string; readonly windows?: string },
  ): Node {
    const { limits, restrictions } = this.#limitsOf(table, row, windows);
    const budget = this.#budget(textIn(row, 'budget_id'));
    const models = [...textsIn(row, 'models'), ...(budget ? textsIn(budget, 'allowed_models') : [])];
    const found = rulesOf(models);
    return {
      account: {
        path: below(above, this.#slugs.of(title, above)),
        title: titleOf(title),
        ...limits,
        ...((row['blocked'] === true || limits.blocked) && { blocked: true }),
        ...(found.rules && { models: found.rules }),
      },
      restrictions: [...restrictions, ...found.restrictions, ...this.#permission(row)],
      names: found.names,
    };
  }

  #permission(row: Fields): readonly string[] {
    const permission = this.#place.database.permissions.get(textIn(row, 'object_permission_id') ?? '');
    const isBound = permission && restrictionsIn('LiteLLM_ObjectPermissionTable', permission).length > 0;
    return isBound ? ['object_permission'] : [];
  }

  /** Its own limits, and those of the budget that it names. */
  #limitsOf(
    table: TableName,
    row: Fields,
    windows?: string,
  ): { limits: SharedLimits; restrictions: readonly string[] } {
    const { clock, database } = this.#place;
    const budget = this.#budget(textIn(row, 'budget_id'));
    const windowSpend = windows === undefined ? undefined : windowsOf(database, windows);
    return limitsOfBoth({ row, spent: row, windowSpend, clock }, budget, restrictionsIn(table, row));
  }
}

const LONGEST_TITLE = 256;

/** What an account may be called. */
const titleOf = (text: string): string =>
  text.replaceAll('\0', '').toWellFormed().slice(0, LONGEST_TITLE).toWellFormed();

export const windowsOf = ({ windowSpend }: LitellmDatabase, owner: string): LimitsSource['windowSpend'] =>
  windowSpend && (windowSpend.get(owner) ?? new Map());

/** Limits of a row, and of the budget row that it names, against which it spends too. */
export function limitsOfBoth(
  source: LimitsSource,
  budget: Fields | undefined,
  more: readonly string[],
): { readonly limits: SharedLimits; readonly restrictions: readonly string[] } {
  const own = limitsOf(source);
  if (!budget) return { limits: own.limits, restrictions: [...more, ...own.restrictions] };
  const other = limitsOf({ row: budget, spent: source.spent, clock: source.clock });
  return {
    limits: joinedLimits(own.limits, other.limits),
    restrictions: [
      ...more,
      ...own.restrictions,
      ...other.restrictions,
      ...restrictionsIn('LiteLLM_BudgetTable', budget),
    ],
  };
}

export const below = (above: string, slug: string): string => (above === ROOT ? `/${slug}` : `${above}/${slug}`);

const withoutOpening = ({ opening: _opening, ...budget }: KeyBudget): KeyBudget => budget;

/** The oldest first, and of one moment by id. */
const inOrder = (rows: ReadonlyMap<string, Fields>): readonly (readonly [id: string, row: Fields])[] =>
  [...rows].toSorted(
    ([a, one], [b, other]) =>
      (momentIn(one, 'created_at') ?? 0) - (momentIn(other, 'created_at') ?? 0) || (a < b ? -1 : 1),
  );
