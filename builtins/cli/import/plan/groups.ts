import { rounded } from '../amounts.ts';
import type { Plan } from './plan.ts';
import type { PlannedInstance, PlannedName, PlannedRoute } from './planned.ts';

type NameOf = (instance: PlannedInstance) => string;
type Group = Readonly<Record<string, unknown>>;

const MOST_ROUTES = 64;
const MOST_FALLBACKS = 16;
const DRAWN = 'loadbalance';

/** The entries of `models`: one for each name that clients ask for, and behind it those that only follow. */
export function groupsOf(plan: Plan, nameOf: NameOf): readonly Group[] {
  const taken = new Set([...plan.names.keys(), ...plan.aliases.keys()]);
  return [...plan.names.values()]
    .filter(({ routes }) => routes.length > 0)
    .flatMap((name) => groupsOfName(name, { plan, nameOf, taken }));
}

interface Groups {
  readonly plan: Plan;
  readonly nameOf: NameOf;
  readonly taken: Set<string>;
}

function groupsOfName(name: PlannedName, groups: Groups): readonly Group[] {
  for (const { entry } of name.routes.slice(MOST_ROUTES)) entry.leave(`a group has ${MOST_ROUTES} routes at most`);
  const routes = name.routes.slice(0, MOST_ROUTES);
  for (const { entry } of routes) entry.carry();
  const tiers = [...Map.groupBy(routes, ({ tier }) => tier)].toSorted(([a], [b]) => a - b).map(([, tier]) => tier);
  const fallbacks = fallbacksOf(name, groups.plan);
  if (tiers.length === 1) return [group(name, routes, { ...groups, fallbacks })];
  if (name.conditions) return [group(name, routes, { ...groups, fallbacks })];
  if (tiers.every(({ length }) => length === 1))
    return [group({ ...name, mode: 'fallback' }, tiers.flat(), { ...groups, fallbacks })];
  if (name.name.includes('*')) return [firstTier(name, tiers, { ...groups, fallbacks })];
  return tieredGroups(name, tiers, { ...groups, fallbacks });
}

interface Group1 extends Groups {
  readonly fallbacks: readonly string[];
}

/** A group for each order, each followed by the next. */
function tieredGroups(name: PlannedName, tiers: readonly PlannedRoute[][], groups: Group1): readonly Group[] {
  const names = tiers.map((_tier, at) =>
    at === 0 ? name.name : freeName(`${name.name}-order-${at + 1}`, groups.taken),
  );
  return tiers.map((tier, at) => {
    const next = names[at + 1];
    return group({ ...name, name: names[at] ?? name.name, isListed: at === 0 && name.isListed }, tier, {
      ...groups,
      fallbacks: next === undefined ? groups.fallbacks : [next],
    });
  });
}

/** What follows a name of many names would have to be one name. */
function firstTier(name: PlannedName, [first = [], ...later]: readonly PlannedRoute[][], groups: Group1): Group {
  for (const { entry } of later.flat()) entry.amend('not carried: what follows a name with a star is one name here');
  return group(name, first, groups);
}

function freeName(wished: string, taken: Set<string>): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wished : `${wished}-${count}`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

function group(name: PlannedName, routes: readonly PlannedRoute[], { nameOf, fallbacks }: Group1): Group {
  const isSplit = routes.length > 1;
  const isDrawn = isSplit && name.mode === DRAWN;
  const needsWeights = isDrawn && !routes.some(({ weight }) => weight > 0);
  const isStated = isSplit || name.failoverOn.size > 0 || name.affinity || name.statuses !== undefined;
  return {
    name: name.name,
    routes: routes.map(({ instance, model, weight }) => ({
      target: nameOf(instance),
      ...(model !== undefined && { model }),
      ...(isDrawn && { weight: needsWeights ? 1 : rounded(weight) }),
    })),
    ...(isStated && {
      strategy: {
        mode: isSplit ? name.mode : 'fallback',
        ...(name.affinity && { affinity: 'session' }),
        ...(name.failoverOn.size > 0 && { failover_on: [...name.failoverOn] }),
        ...(name.statuses && { failover_on_status_codes: [...name.statuses] }),
        ...(isSplit && name.conditions && { conditions: conditionsOf(name.conditions, { ...name, routes }, nameOf) }),
      },
    }),
    ...(fallbacks.length > 0 && { fallbacks }),
    ...(!name.isListed && { listed: false }),
  };
}

/** Conditions name a route by its target, and by its model too where the target has several. */
function conditionsOf(
  conditions: NonNullable<PlannedName['conditions']>,
  { name, routes }: { readonly name: string; readonly routes: readonly PlannedRoute[] },
  nameOf: NameOf,
): readonly object[] {
  return conditions.map(({ rule, route: { instance, model } }) => {
    const isOnly = routes.filter((one) => one.instance === instance).length === 1;
    return { ...rule, target_key: isOnly ? nameOf(instance) : `${nameOf(instance)}@${model ?? name}` };
  });
}

/** Names that follow, each once, without those that nothing answers. */
function fallbacksOf(name: PlannedName, plan: Plan): readonly string[] {
  const names: string[] = [];
  for (const { name: follower, entry } of name.fallbacks) {
    if (follower === name.name) continue; // it may follow others
    if (follower.includes('*')) entry.leave('what follows is a name without a star');
    else if (!plan.answers(follower)) entry.leave(`nothing answers to "${follower}"`);
    else if (names.length >= MOST_FALLBACKS && !names.includes(follower))
      entry.leave(`a group has ${MOST_FALLBACKS} fallbacks at most`);
    else {
      if (!names.includes(follower)) names.push(follower);
      entry.carry();
    }
  }
  return names;
}
