import { memberOf } from '../../../../host/contract/json/members.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedName } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';
import { readFallbacks } from './fallbacks.ts';
import { isName } from './deployment.ts';
import { readOrders } from './orders.ts';
import { AFFINITY, STRATEGIES } from './strategies.ts';
import { readWeights } from './weights.ts';

/** What the router does between deployments: strategy, weights, order, aliases, groups, affinity, fallbacks. */
export function readLitellmRouting(root: Entry, plan: Plan): void {
  const [router, settings] = [root.at('router_settings'), root.at('litellm_settings')];
  readStrategy(router, [...plan.names.values()]);
  const virtual = router.at('routing_groups').items.map((group) => readGroup(group, plan));
  readOrders(root, plan);
  readWeights(root, plan);
  openStars(plan);
  for (const add of virtual) add?.();
  for (const [name, entry] of router.at('model_group_alias').members) readAlias(name, entry, plan);
  for (const from of [router, settings]) readAffinity(from, plan);
  readFallbacks([router, settings], plan);
}

function readStrategy(router: Entry, names: readonly PlannedName[]): void {
  const entry = router.at('routing_strategy');
  const [mode, difference] = memberOf(STRATEGIES, entry.text ?? 'simple-shuffle') ?? [];
  if (mode === undefined) return entry.leave('gw has no strategy like it; its groups draw by weight');
  for (const name of names) name.mode = mode;
  if (names.some(({ routes }) => routes.length > 1)) entry.carry(difference);
  else entry.carry('no name has several routes, between which it could choose');
}

/** A group of names has a strategy, and is itself a name that clients may ask for. Source: docs.litellm.ai, "Manage Routing Groups", 2026-10-09. */
function readGroup(group: Entry, plan: Plan): (() => void) | undefined {
  const [strategy, called] = [group.at('routing_strategy'), group.at('group_name')];
  const members = group.at('models').items.flatMap((entry) => {
    const name = plan.names.get(entry.text ?? '');
    if (name) entry.carry();
    else entry.leave('no entry of model_list has that name, or it is not carried');
    return name ? [name] : [];
  });
  const isPriority = strategy.text === 'priority';
  const [mode, difference] = isPriority ? ['loadbalance'] : (memberOf(STRATEGIES, strategy.text ?? '') ?? []);
  if (mode === undefined) {
    strategy.leave('gw has no strategy like it');
    return undefined;
  }
  strategy.carry(difference);
  if (!isPriority) for (const name of members) name.mode = mode;
  const priorities = isPriority ? group.at('model_priorities') : undefined;
  return () => addVirtual(called, { members, mode, priorities }, plan);
}

interface Virtual {
  readonly members: readonly PlannedName[];
  readonly mode: string;
  readonly priorities: Entry | undefined;
}

function addVirtual(called: Entry, { members, mode, priorities }: Virtual, plan: Plan): void {
  const text = called.text ?? '';
  if (!isName(text) || text.includes('*') || plan.names.has(text) || members.length === 0)
    return called.leave('it is the name of a model, or none that can be asked for');
  const name = plan.name(text);
  name.mode = mode;
  for (const member of members) {
    const priority = priorities?.at(member.name);
    priority?.carry();
    for (const route of member.routes) plan.route(name, { ...route, tier: priority?.number ?? 0 });
  }
  called.carry();
}

/** The only place of the name `*` is asked for every model that nothing else answers; of several, a group chooses. */
function openStars(plan: Plan): void {
  const star = plan.names.get('*');
  const [route, ...more] = star?.routes ?? [];
  if (!star || !route || more.length > 0 || route.model !== '*') return;
  route.instance.anyModel = true;
  route.entry.carry('the target is asked for every model that nothing else answers');
  plan.names.delete('*');
  plan.any = route;
  if (route.credential.models) route.credential.models = undefined;
}

/** Aliases go before the names of `model_list`. A hidden one is a group that is not listed: `aliases` has no such mark. */
function readAlias(name: string, entry: Entry, plan: Plan): void {
  const model = entry.text === undefined ? entry.at('model') : entry;
  const hidden = entry.at('hidden');
  if (model.text === undefined) return entry.leave('it names no model');
  if (!isNamed(model.text, plan))
    return entry.leave('it leads to no name of model_list, and an alias is followed once');
  const own = plan.names.get(model.text);
  const isHidden = hidden.value === true;
  if (own && own.name !== name && isName(name) && (isHidden || plan.names.has(name))) {
    plan.names.set(name, { ...own, name, routes: [...own.routes], fallbacks: [...own.fallbacks], isListed: !isHidden });
    model.carry(isHidden ? undefined : 'it takes the place of the deployments of that name');
    return hidden.carry();
  }
  plan.alias(name, model.text, model);
  if (isHidden) hidden.carry();
  else hidden.leave('gw lists no aliases');
}

/** Whether an entry of `model_list` has that name, or a star that takes it. */
const isNamed = (name: string, { names, any }: Plan): boolean =>
  any !== undefined ||
  names.has(name) ||
  [...names.keys()].some((one) => one.endsWith('*') && name.startsWith(one.slice(0, -1)));

function readAffinity(from: Entry, plan: Plan): void {
  for (const check of from.at('optional_pre_call_checks').items) {
    if (!AFFINITY.has(check.text ?? '')) continue;
    for (const name of plan.names.values()) name.affinity = true;
    check.carry(check.text === 'session_affinity' ? undefined : 'gw keeps a session with its place: affinity: session');
  }
}
