import {
  type Fields,
  GatewayError,
  isFields,
  type PluginModule,
  type RouteTarget,
  type Surface,
} from '../contract/index.ts';
import type { PluginEntry, StrategyConfig } from '../config/document.ts';
import { parsePath } from '../config/problems.ts';
import type { Generation } from '../generation/generation.ts';
import type { ExplainedRequest } from '../pipeline/explained.ts';
import { HeardNotes } from '../pipeline/heard-notes.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { ModelGroup } from '../pipeline/model-group.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import { modelNotFound } from '../pipeline/shown.ts';
import { fallbackRoutes, rankedRoutes, routedTarget } from '../pipeline/turns/ranked-routes.ts';
import { openExchange } from './asked-exchange.ts';
import { type ExplainedPlugins, readPlugins } from './explained-plugins.ts';
import {
  type DroppedTarget,
  droppedTarget,
  type ExplainedList,
  type OrderedTarget,
  orderedTarget,
} from './explained-targets.ts';
import { explainedPrice, type ExplainedPrice } from './explained-price.ts';
import type { RouteQuestion } from './question.ts';

/** Where a request would go and why, as it is printed. */
export interface Explanation extends Readonly<ExplainedRequest> {
  /** After aliases. */
  readonly model: string;
  readonly requested_model: string;
  readonly surface: Surface;
  readonly streaming: boolean;
  /** `strategy.mode` */
  readonly strategy: string;
  readonly on_failure: 'next target' | 'error';
  /** The rule that matched, as a path inside the `strategy` block; of a group of models from the top of the document. */
  readonly rule: string | null;
  /** What that rule asks: its members in the configuration, its target aside. */
  readonly condition: Readonly<Record<string, string>> | null;
  /** The variant an `ab-test` drew. */
  readonly ab_label: string | null;
  /** Why the request would be refused before any target is tried. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** Targets in the order in which they would be tried. */
  readonly order: readonly OrderedTarget[];
  readonly dropped: readonly DroppedTarget[];
  /** The group of models that serves the model; absent outside groups. */
  readonly group?: ExplainedGroup;
  /** What would run, in its order. Nothing has run: what a plugin would refuse or change is not known. */
  readonly plugins: ExplainedPlugins['running'];
  readonly notes: readonly string[];
  /** What the first target of `order` would cost; absent where none would be tried. */
  readonly price?: ExplainedPrice;
}

export interface ExplainedGroup {
  /** As it is written. */
  readonly name: string;
  readonly matched: 'exact' | 'prefix';
  readonly fallbacks: readonly string[];
}

export interface ExplainDeps {
  readonly services: PipelineServices;
  readonly registry: { readonly plugins: ReadonlyMap<string, PluginModule> };
  /** The configured plugins, when the generation was built without. */
  readonly plugins?: readonly PluginEntry[];
}

/** Takes a request through everything that decides its route, and stops there: no upstream is called, nothing is counted. */
export function explain(generation: Generation, question: RouteQuestion, deps: ExplainDeps): Explanation {
  const { config, hooks } = generation;
  const { surface, streaming } = question;
  const { exchange, atDoor, byTags } = openExchange(question, generation, deps.services);
  const unfit = refusalOf(() => hooks.prepare.call(exchange));
  const charge: ExplainedRequest = {};
  const denied = hooks.explainCharge.call(charge, exchange);
  const early = atDoor ?? unfit ?? byTags ?? denied;
  const plugins = readPlugins(deps.plugins ?? config.plugins, surface, deps.registry.plugins);
  const routed = routedLists(generation, exchange, streaming);
  const { heard, order, dropped, group } = routed;
  const strategy = strategyOf(generation, group);
  const refusal =
    early ??
    plugins.refusal ??
    (order.length > 0
      ? undefined
      : (exchange.routing.refusal?.() ?? modelNotFound(exchange.model, deps.services.redactor, heard.why)));
  return {
    model: exchange.model,
    requested_model: question.request.model ?? '',
    surface,
    streaming,
    strategy: strategy.config.mode,
    on_failure: strategy.advances ? 'next target' : 'error',
    rule: heard.path === undefined ? null : strategy.place + heard.path,
    condition: heard.path === undefined ? null : conditionAt(strategy.config, heard.path),
    ab_label: heard.label ?? null,
    refusal: refusal ? { code: refusal.code, message: refusal.message } : null,
    order,
    dropped,
    plugins: plugins.running,
    notes: plugins.notes,
    ...priceOf(order[0], exchange, generation),
    ...(group && { group: { name: group.name, matched: group.matched, fallbacks: group.fallbacks } }),
    ...charge,
    ...routed.members,
  };
}

/** What the target would cost that is tried first. */
function priceOf(
  first: OrderedTarget | undefined,
  exchange: LiveExchange,
  { targets, services }: Generation,
): { readonly price?: ExplainedPrice } {
  const target = first && routedTarget(first.route ?? first.target, exchange, { targets });
  return target ? { price: explainedPrice(target, exchange, services) } : {};
}

interface Routed {
  /** Notes of the strategy on what serves the model asked for. */
  readonly heard: HeardNotes;
  readonly group: ModelGroup | undefined;
  readonly order: OrderedTarget[];
  readonly dropped: DroppedTarget[];
  readonly members: ExplainedRequest;
}

/** Ranks what serves the model, then what serves each fallback of its group. */
function routedLists(generation: Generation, exchange: LiveExchange, streaming: boolean): Routed {
  const { routing } = exchange;
  const heard = new HeardNotes();
  routing.explaining = heard;
  const own = explainedList({ generation, exchange, heard }, rankedRoutes(exchange, generation, streaming), streaming);
  const { group } = routing;
  const routed = {
    heard,
    group,
    members: toldOf(generation, exchange),
    order: [...own.order],
    dropped: [...own.dropped],
  };
  for (const resolved of (group && generation.groups?.behind(exchange.model, group)) ?? []) {
    const list = { generation, exchange, heard: (routing.explaining = new HeardNotes()) };
    const behind = explainedList(list, fallbackRoutes(resolved, exchange, generation, streaming), streaming);
    for (const target of behind.order)
      if (!routed.order.some((other) => isSame(target, other))) routed.order.push(target);
    for (const target of behind.dropped) routed.dropped.push(target);
  }
  return routed;
}

/** The first of two is tried, wherever the other stands. */
const isSame = (one: OrderedTarget, other: OrderedTarget): boolean =>
  one.target === other.target && one.upstream_model === other.upstream_model;

function explainedList(
  list: ExplainedList,
  ranked: readonly RouteTarget[],
  streaming: boolean,
): Pick<Routed, 'order' | 'dropped'> {
  const { generation, exchange } = list;
  const { surface, model, routing } = exchange;
  const { group, fallback } = routing;
  const marked = (group ?? generation.models).routeTargets(fallback ?? model, surface, streaming);
  const order = ranked.filter(
    ({ virtualKey, serves }) => serves && routedTarget(virtualKey, exchange, generation)?.provider,
  );
  const tried = new Set(order.map(({ virtualKey }) => virtualKey));
  const left = marked.filter(
    ({ virtualKey, serves }) => !tried.has(virtualKey) && (serves || group || fallback === undefined),
  );
  return {
    order: order.map((target) => orderedTarget(list, target)),
    dropped: left.map((target) => droppedTarget(list, target)),
  };
}

interface ExplainedStrategy {
  readonly config: StrategyConfig;
  readonly advances: boolean;
  /** What stands before a path inside its block. */
  readonly place: string;
}

function strategyOf({ config, strategy }: Generation, group: ModelGroup | undefined): ExplainedStrategy {
  const own = group && config.models?.[group.index];
  return group && own
    ? { config: own.strategy, advances: group.strategy.advances, place: `models[${group.index}].strategy.` }
    : { config: config.strategy, advances: strategy.advances, place: '' };
}

/** What those that tap `explainRequest` add; none of it where nothing of theirs applies. */
function toldOf({ hooks }: Generation, exchange: LiveExchange): ExplainedRequest {
  const members: ExplainedRequest = {};
  hooks.explainRequest.call(members, exchange);
  return members;
}

/** The texts of the entry that a path inside the `strategy` block ends at. */
function conditionAt(strategy: StrategyConfig, path: string): Explanation['condition'] {
  const entry = parsePath(path).reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null && Object.hasOwn(at, part) ? (at as Fields)[part] : undefined),
    strategy,
  );
  if (!isFields(entry)) return null;
  return Object.fromEntries(
    Object.entries(entry).flatMap(([name, value]) =>
      typeof value === 'string' && name !== 'target_key' ? [[name, value]] : [],
    ),
  );
}

function refusalOf(prepare: () => void): GatewayError | undefined {
  try {
    prepare();
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
