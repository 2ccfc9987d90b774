import type { Plan } from '../plan/plan.ts';
import type { PlannedName, PlannedRoute } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';
import { readPortkeyConditions } from './conditions.ts';
import { type Leaf, leafOf, type PlacedLeaf, readReliability } from './leaf.ts';
import { readTree, statusesIn, type Tier } from './tree.ts';

/** The format has literals only; those who fill it in by a script write `${NAME}`, and so does its documentation `{{NAME}}`. */
export const portkeyReference = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? /^(?:\$\{([^}]+)\}|\{\{([^}]+)\}\})$/
        .exec(value)
        ?.slice(1)
        .find((name) => name !== undefined)
    : undefined;

/** Reads a Portkey gateway config: an object with a strategy and targets, which may hold others, or with one provider. */
export function readPortkey(root: Entry, plan: Plan): void {
  const leaves = leavesBelow(root, []);
  const placed = new Map(
    leaves.flatMap((leaf) => {
      const one = leafOf(leaf, plan);
      return one ? [[leaf.entry.where, one] as const] : [];
    }),
  );
  readReliability(leaves, { placed, plan });
  const tree = readTree(root, placed);
  const isNamed = [...placed.values()].some(({ model }) => model !== undefined);
  const isNested = leaves.some(({ line }) => line.length > 2);
  const kinds = new Set(plan.instances.map(({ module }) => module));
  const isPlain =
    !isNamed &&
    !isNested &&
    kinds.size === plan.instances.length &&
    ![...kinds].some(({ connection }) => connection.onlyDeclared === true);
  if (isPlain) return topLevel(root, { tiers: tree, placed, plan });
  everyName(root, { tiers: tree, placed, plan });
}

const leavesBelow = (entry: Entry, above: readonly Entry[]): readonly Leaf[] => {
  const line = [entry, ...above];
  const { items } = entry.at('targets');
  return items.length === 0 ? [{ entry, line }] : items.flatMap((item) => leavesBelow(item, line));
};

export interface Config {
  readonly tiers: readonly Tier[];
  readonly placed: ReadonlyMap<string, PlacedLeaf>;
  readonly plan: Plan;
}

const MODES = new Set<string | undefined>(['single', 'fallback', 'loadbalance', 'conditional']);

/** Targets of several kinds, each for the models that gw knows of it. */
function topLevel(root: Entry, { placed, plan }: Config): void {
  const mode = root.at('strategy').at('mode');
  const isKnown = MODES.has(mode.text);
  const chosen = isKnown ? (mode.text ?? '') : plan.instances.length > 1 ? 'fallback' : 'single';
  if (isKnown) mode.carry();
  else mode.leave('gw has no strategy like it; the targets are asked in their order');
  for (const { instance, weight } of placed.values()) {
    if (weight.number !== undefined && weight.number >= 0) plan.weigh(instance, weight);
    else if (chosen === 'loadbalance') instance.settled.set('weight', Number(instance.settled.get('weight') ?? 0) + 1);
  }
  const isDrawn = plan.instances.some(({ settled }) => Number(settled.get('weight') ?? 0) > 0);
  const statuses = statusesIn(root.at('strategy'));
  const affinity = affinityOf(root.at('strategy'));
  const conditions = chosen === 'conditional' ? readPortkeyConditions(root, { placed, plan }) : [];
  const isRuled = chosen !== 'conditional' || conditions.length > 0;
  plan.strategy = {
    mode: !isRuled ? 'single' : chosen === 'loadbalance' && !isDrawn ? 'fallback' : chosen,
    ...affinity,
    ...(statuses.length > 0 && { failover_on_status_codes: statuses }),
    ...(conditions.length > 0 && {
      conditions: conditions.map(({ rule, leaf }) => ({ ...rule, target_key: leaf.instance.module.name })),
    }),
  };
}

/** Any name goes to any of the targets: one group takes every name, and others follow it. */
function everyName(root: Entry, { tiers, placed, plan }: Config): void {
  plan.needsFleet = true;
  const mode = root.at('strategy').at('mode');
  if (MODES.has(mode.text)) mode.carry();
  else mode.leave('gw has no strategy like it; the targets are asked in their order');
  const star = plan.name('*');
  addAll(star, mode.text === 'conditional' ? [tiers.flat()] : tiers, plan);
  const statuses = statusesIn(root.at('strategy'));
  if (statuses.length > 0) star.statuses = statuses;
  if (Object.keys(affinityOf(root.at('strategy'))).length > 0) star.affinity = true;
  plan.prune();
  if (mode.text === 'conditional') conditional(root, star, { placed, plan });
}

function conditional(root: Entry, star: PlannedName, { placed, plan }: Pick<Config, 'placed' | 'plan'>): void {
  const conditions = readPortkeyConditions(root, { placed, plan });
  const routeOf = ({ instance, model }: PlacedLeaf): PlannedRoute | undefined =>
    star.routes.find((route) => route.instance === instance && route.model === model?.text);
  star.conditions = conditions.flatMap(({ rule, leaf }) => {
    const route = routeOf(leaf);
    return route ? [{ rule, route }] : [];
  });
  if (star.conditions.length > 0) star.mode = 'conditional';
}

/** Tiers of one target each are one list; of several, each is a group that needs the models of its targets. */
function addAll(star: PlannedName, tiers: readonly Tier[], plan: Plan): void {
  const isList = tiers.every(({ length }) => length === 1);
  for (const [at, tier] of tiers.entries()) {
    const isNamed = tier.every(({ leaf }) => leaf.model !== undefined);
    if (isList || at === 0) addRoutes(star, { tier, at: isList ? at : 0 }, plan);
    else if (isNamed) addFollower(star, { tier, at }, plan);
    else
      for (const { leaf } of tier)
        leaf.entry.leave('what follows a group of targets needs a model of its own: override_params.model');
  }
}

interface At {
  readonly tier: Tier;
  readonly at: number;
}

function addFollower(star: PlannedName, { tier, at }: At, plan: Plan): void {
  const follower = plan.name(`targets-${at + 1}`);
  follower.isListed = false;
  addRoutes(follower, { tier, at: 0 }, plan);
  const before = at === 1 ? star : plan.names.get(`targets-${at}`);
  const [first] = tier;
  if (first) before?.fallbacks.push({ name: follower.name, entry: first.leaf.entry.at('fallback') });
}

function addRoutes(name: PlannedName, { tier, at }: At, plan: Plan): void {
  for (const { leaf, share } of tier) {
    plan.route(name, {
      instance: leaf.instance,
      credential: leaf.credential,
      model: leaf.model?.text,
      weight: share,
      tier: at,
      entry: leaf.model ?? leaf.entry.at('provider', 'virtual_key', 'virtualKey'),
    });
  }
  for (const pool of Map.groupBy(tier, ({ leaf }) => leaf.instance).values())
    if (new Set(pool.map(({ leaf }) => leaf.credential)).size > 1)
      for (const { leaf } of pool) leaf.credential.weight = leaf.weight.number ?? 1;
}

/** Sticky balancing keeps a caller with a target. Source: portkey.ai/docs, "Load Balancing", 2026-11-22. */
function affinityOf(strategy: Entry): { readonly affinity?: 'session' } {
  const sticky = strategy.at('sticky', 'sticky_session', 'stickySession');
  if (!sticky.isThere || sticky.value === false || sticky.at('enabled').value === false) return {};
  if (sticky.value === true) sticky.carry('gw keeps a session with its target: affinity: session');
  else sticky.at('enabled').carry('gw keeps a session with its target: affinity: session');
  for (const member of ['hash_fields', 'hashFields', 'ttl'])
    sticky.at(member).leave('gw knows a session by X-Gateway-Session, and by what clients send as theirs');
  return { affinity: 'session' };
}
