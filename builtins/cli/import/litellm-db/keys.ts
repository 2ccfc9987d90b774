import type { KeyBudget } from '../../../../host/common/budgets/key-budget.ts';
import type { NameRules } from '../../../../host/common/accounts/name-rules.ts';
import { isTagName } from '../../../../host/common/accounts/account-path.ts';
import type { Fields } from '../../../../host/contract/json/fields.ts';
import { type Accounts, limitsOfBoth, type Node, type Place, windowsOf } from './accounts.ts';
import { pairOf, windowOwner } from './database.ts';
import { rulesOf, type SharedLimits } from './limits.ts';
import { restrictionsIn } from './tables.ts';
import { fieldsIn, momentIn, textIn, textsIn } from './values.ts';

/** A key as `POST /admin/keys/adopt` takes it. */
export interface WrittenKey extends SharedLimits {
  readonly digest: string;
  readonly display: string;
  readonly name: string;
  readonly previous?: { readonly digest: string; readonly until: string };
  readonly expires_at?: string;
  readonly created_at?: string;
  readonly account?: string;
  readonly tags?: readonly string[];
  readonly model_rules?: NameRules;
  readonly mcp_tools: readonly string[];
  readonly budgets?: readonly KeyBudget[];
}

export interface PlannedKey {
  readonly key: WrittenKey;
  /** Names of what restricts it, and is not carried. */
  readonly restrictions: readonly string[];
  readonly names: readonly string[];
  /** Values before the one before, which end with the import. */
  readonly older: number;
}

const DIGEST = /^[0-9a-f]{64}$/;
const DISPLAY = /^sk-\.\.\.[\w-]{1,8}$/;
const LONGEST_NAME = 1024;
/** Requests of models, whatever their path. */
const MODEL_ROUTES = 'llm_api_routes';
const MOST_TAGS = 1000;
const LONGEST_TAG = 2048;

/** `undefined` of a row whose value is not a digest: it is copied nowhere. */
export function plannedKey(row: Fields, place: Place, accounts: Accounts): PlannedKey | undefined {
  const digest = textIn(row, 'token') ?? '';
  if (!DIGEST.test(digest)) return undefined;
  const { node, restrictions: ofPlace } = whereOf(row, place, accounts);
  const user = accounts.userTag(textIn(row, 'user_id') ?? '');
  const tags = tagsOf(row, place, accounts, user);
  const { limits, restrictions } = limitsOfBoth(
    { row, spent: row, windowSpend: windowsOf(place.database, windowOwner('key', digest)), clock: place.clock },
    place.database.budgets.get(textIn(row, 'budget_id') ?? ''),
    restrictionsIn('LiteLLM_VerificationToken', row),
  );
  const models = rulesOf(textsIn(row, 'models'));
  const older = (place.database.replaced.get(digest) ?? []).filter((each) => isValid(each, place.clock.now));
  const levels = levelsOf(row, place, accounts, [node, user]);
  return {
    key: {
      digest,
      ...namesOf(row),
      ...previousOf(older),
      ...moment('expires_at', momentIn(row, 'expires')),
      ...moment('created_at', momentIn(row, 'created_at')),
      ...limits,
      ...(row['blocked'] === true && { blocked: true }),
      ...(node && { account: node.account.path }),
      ...(tags.names.length > 0 && { tags: tags.names }),
      ...(models.rules && { model_rules: models.rules }),
      mcp_tools: toolsOf(row, place),
    },
    restrictions: [
      ...new Set([
        ...restrictions,
        ...models.restrictions,
        ...ofPlace,
        ...tags.restrictions,
        ...levels.flatMap((level) => level.restrictions),
        ...routesOf(row),
        ...permissionOf(row, place),
        ...membershipOf(row, place),
      ]),
    ],
    names: [...models.names, ...levels.flatMap((level) => level.names)],
    older: Math.max(0, older.length - 1),
  };
}

/** Letters and digits of a key's end are shown there, and no more. */
function namesOf(row: Fields): Pick<WrittenKey, 'display' | 'name'> {
  const shown = textIn(row, 'key_name');
  const display = shown !== undefined && DISPLAY.test(shown) ? shown : 'sk-...';
  const name = (textIn(row, 'key_alias') ?? display).replaceAll('\0', '').slice(0, LONGEST_NAME).toWellFormed();
  return { display, name: name.trim() === '' || name === 'sk-...' ? 'imported key' : name };
}

const isValid = (row: Fields, now: number): boolean =>
  (momentIn(row, 'revoke_at') ?? 0) > now && DIGEST.test(textIn(row, 'token') ?? '');

function previousOf([newest]: readonly Fields[]): Pick<WrittenKey, 'previous'> {
  const until = newest && momentIn(newest, 'revoke_at');
  if (!newest || until === undefined) return {};
  return { previous: { digest: textIn(newest, 'token') ?? '', until: new Date(until).toISOString() } };
}

const moment = (name: 'expires_at' | 'created_at', at: number | undefined): object =>
  at === undefined ? {} : { [name]: new Date(at).toISOString() };

interface Where {
  readonly node: Node | undefined;
  readonly restrictions: readonly string[];
}

/** The account of a key. One that names what does not exist any more has none, and is blocked. */
function whereOf(row: Fields, { database }: Place, accounts: Accounts): Where {
  const [team, project, user] = ['team_id', 'project_id', 'user_id'].map((name) => textIn(row, name));
  const organization = textIn(row, 'organization_id');
  if (team !== undefined) {
    const { node, restrictions } = inTeam({ team, project, user }, accounts);
    const isElsewhere = organization !== undefined && organization !== database.teams.get(team)?.['organization_id'];
    return { node, restrictions: [...restrictions, ...(isElsewhere ? ['organization_id'] : [])] };
  }
  if (project !== undefined)
    return { node: accounts.project(project), restrictions: missing('project_id', accounts.project(project)) };
  if (organization === undefined) return { node: accounts.user(user ?? ''), restrictions: [] };
  const node = accounts.organization(organization);
  const isUnbound = accounts.user(user ?? '')?.account.models !== undefined; // the user's list of models stands elsewhere
  return { node, restrictions: [...missing('organization_id', node), ...(isUnbound ? ['models'] : [])] };
}

function inTeam(
  { team, project, user = '' }: { team: string; project: string | undefined; user: string | undefined },
  accounts: Accounts,
): Where {
  const node = accounts.team(team);
  if (!node) return { node, restrictions: ['team_id'] };
  if (project === undefined) return { node: accounts.member(team, user) ?? node, restrictions: [] };
  const inside = accounts.project(project);
  const isBound = accounts.hasBudget(team, user); // a key has one account
  return {
    node: inside ?? node,
    restrictions: [...missing('project_id', inside), ...(isBound ? ['project_id'] : [])],
  };
}

const missing = (name: string, node: Node | undefined): readonly string[] => (node ? [] : [name]);

/** What binds the key beside its own row: whatever is lost of those is lost of the key. */
function levelsOf(
  row: Fields,
  { database }: Place,
  accounts: Accounts,
  found: readonly (Node | undefined)[],
): readonly Node[] {
  const id = textIn(row, 'team_id') ?? '';
  const team = accounts.team(id);
  const organization = accounts.organization(textIn(database.teams.get(id) ?? {}, 'organization_id') ?? '');
  return [...new Set([...found, team, organization])].filter((node) => node !== undefined);
}

/** Words of the key, its team, its project and its user. */
function tagsOf(
  row: Fields,
  { database }: Place,
  accounts: Accounts,
  user: Node | undefined,
): { readonly names: readonly string[]; readonly restrictions: readonly string[] } {
  const team = database.teams.get(textIn(row, 'team_id') ?? '') ?? {};
  const project = database.projects.get(textIn(row, 'project_id') ?? '') ?? {};
  const written = [row, team, project].flatMap((from) => textsIn(fieldsIn(from, 'metadata'), 'tags'));
  const names = [...new Set(written)].filter(
    (tag) => tag.trim() !== '' && tag.length <= LONGEST_TAG && !tag.includes('\0'),
  );
  const nodes = names.flatMap((name) => accounts.tag(name) ?? []);
  const isLost = (tag: string): boolean =>
    !isTagName(tag) && textIn(database.tags.get(tag) ?? {}, 'budget_id') !== undefined;
  return {
    names: [...names, ...(user ? [user.account.path.slice(1)] : [])].slice(-MOST_TAGS),
    restrictions: [
      ...nodes.flatMap(({ restrictions }) => restrictions),
      ...(names.some(isLost) || names.length >= MOST_TAGS ? ['tags'] : []),
    ],
  };
}

function routesOf(row: Fields): readonly string[] {
  const routes = textsIn(row, 'allowed_routes');
  return routes.length === 0 || routes.includes(MODEL_ROUTES) ? [] : ['allowed_routes'];
}

function permissionOf(row: Fields, { database }: Place): readonly string[] {
  const permission = database.permissions.get(textIn(row, 'object_permission_id') ?? '');
  const isBound = permission && restrictionsIn('LiteLLM_ObjectPermissionTable', permission).length > 0;
  return isBound ? ['object_permission'] : [];
}

function membershipOf(row: Fields, { database }: Place): readonly string[] {
  const team = database.teams.get(textIn(row, 'team_id') ?? '');
  const organization = textIn(row, 'organization_id') ?? (team && textIn(team, 'organization_id')) ?? '';
  const found = database.organizationMemberships.get(pairOf(organization, textIn(row, 'user_id') ?? ''));
  return found ? restrictionsIn('LiteLLM_OrganizationMembership', found).map((name) => `organization_${name}`) : [];
}

/** Tools of the key, or those that its team has too; none where neither names any. */
function toolsOf(row: Fields, { database }: Place): readonly string[] {
  const of = (from: Fields | undefined): readonly string[] => {
    const permission = database.permissions.get(textIn(from ?? {}, 'object_permission_id') ?? '') ?? {};
    const tools = fieldsIn(permission, 'mcp_tool_permissions');
    return textsIn(permission, 'mcp_servers').flatMap((id) => {
      const named = textsIn(tools, id);
      const server = database.servers.get(id);
      if (named.length > 0) return named;
      return server === undefined ? [] : [`${server}/*`];
    });
  };
  const own = of(row);
  const ofTeam = of(database.teams.get(textIn(row, 'team_id') ?? ''));
  if (own.length === 0) return ofTeam;
  return ofTeam.length === 0 ? own : own.filter((tool) => ofTeam.includes(tool));
}
