import { type ClosingServices, disposeModule } from '../boundary/dispose.ts';
import { faultAttributes, ModuleFault, type ModuleRef } from '../boundary/module-fault.ts';
import { type RequestTrace, withOwnLog } from '../boundary/module-log.ts';
import { Ranker } from '../boundary/ranking.ts';
import { refusePromise } from '../boundary/thenable.ts';
import {
  type ChatRequest,
  contentTexts,
  isChat,
  type Log,
  type RankNotes,
  type RouteQuery,
  type RouteTarget,
  type RunningStrategy,
  type StrategyDeps,
  type StrategyModule,
} from '../contract/index.ts';
import type { StrategyConfig } from '../config/document.ts';
import { readSettings, strategySettings } from '../config/module-settings.ts';
import { ORDER } from '../hooks/order.ts';
import type { DrawnOrder } from '../pipeline/exchange-state.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { GenerationHooks } from '../pipeline/hooks.ts';
import { createRunning } from './create-strategy.ts';
import type { Registry } from '../registry/registry.ts';
import type { FailoverRules } from '../pipeline/attempts/retry.ts';
import type { Attempt } from '../pipeline/attempts/attempt.ts';
import type { Target } from '../pipeline/target.ts';

/** A routing strategy of one generation, with its settings: that of the document, or of a group of models. */
export interface BoundStrategy extends FailoverRules {
  readonly module: StrategyModule;
  readonly ranker: Ranker;
  /** Hears how a call of a target ended. Never throws. Only of a strategy that asks: other requests pay nothing for it. */
  readonly settled?: (attempt: Attempt) => void;
  readonly dispose?: () => Promise<void> | undefined;
}

export interface StrategySurroundings {
  readonly registry: Registry;
  readonly trace: RequestTrace;
  readonly closing: ClosingServices;
}

/** Makes a configured strategy. `place` is the path of its block: what it throws refuses the configuration there. */
export function bindStrategy(
  config: StrategyConfig,
  place: string,
  given: StrategyDeps,
  { registry, trace, closing }: StrategySurroundings,
): BoundStrategy {
  const module = registry.strategies.get(config.mode);
  if (!module) throw new Error(`"${config.mode}" is not a strategy of this build`); // CV13 has refused it before
  const settings = readSettings(module.settings, strategySettings(module, config).value);
  const ref: ModuleRef = { kind: 'strategy', name: module.name, file: registry.fileOf('strategy', module.name) };
  const deps = withOwnLog(given, ref, trace);
  const { rank, settled, dispose } = trace.run(
    { module: ref, exchangeId: undefined },
    createRunning,
    module,
    settings,
    deps,
    { file: ref.file, place },
  );
  return {
    module,
    ranker: new Ranker(rank, { module: ref, log: given.log, trace }),
    ...(settled && { settled: hearing(ref, settled, given.log, trace) }),
    ...(dispose && { dispose: () => disposeModule(ref, dispose, closing) }),
    advances: module.advances ?? false,
    failoverOn: new Set(config.failover_on),
    failoverStatuses: new Set(config.failover_on_status_codes),
  };
}

/** A group of models with its strategy, at the place of its index. */
interface RankingGroup {
  readonly strategy: BoundStrategy;
  rank(routes: readonly RouteTarget[], exchange: LiveExchange): readonly RouteTarget[];
}

const NO_GROUP = -1;

/** Has the strategy rank the route of each request: in a group of models that of the group. */
export function tapStrategies(
  hooks: GenerationHooks,
  { ranker, settled }: BoundStrategy,
  targets: ReadonlyMap<string, Target>,
  groups: readonly RankingGroup[],
): void {
  hooks.route.tap({ name: 'strategy', stage: ORDER.strategy }, (all, exchange) => {
    const { routing } = exchange;
    const known = routing.drawn && drawnOrder(routing.drawn, all, exchange);
    if (known) return known;
    const group = groups[routing.group?.index ?? NO_GROUP];
    const order = group ? group.rank(all, exchange) : rankBy(ranker, all, exchange, targets);
    if (routing.alsoOn !== undefined) keepDrawn(order, exchange);
    return order;
  });
  if (groups.some(({ strategy }) => strategy.settled))
    hooks.settled.tap('strategy', (attempt) => {
      const group = groups[attempt.exchange.routing.group?.index ?? NO_GROUP];
      const hears = group ? group.strategy.settled : settled;
      hears?.(attempt);
    });
  else if (settled) hooks.settled.tap('strategy', settled);
}

/** Keeps what the strategy said while it is not clear how the request is answered, before anything reorders it. */
function keepDrawn(order: readonly RouteTarget[], { routing, model }: LiveExchange): void {
  const name = routing.fallback ?? model;
  routing.drawn = { name, keys: order.map(({ virtualKey }) => virtualKey), abLabel: undefined };
}

/** What was drawn for this request already, once; `undefined` where another model is asked for by now, or another configuration has it served by others. */
function drawnOrder(
  { name, keys, abLabel }: DrawnOrder,
  all: readonly RouteTarget[],
  { routing, model }: LiveExchange,
): readonly RouteTarget[] | undefined {
  if (name !== (routing.fallback ?? model)) return undefined;
  routing.drawn = undefined;
  const byKey = new Map(all.map((target) => [target.virtualKey, target]));
  const order = keys.flatMap((key) => byKey.get(key) ?? []);
  if (order.length < keys.length) return undefined;
  routing.abLabel = abLabel;
  return order;
}

/** Asks for one request. `targets` are those that are ranked, by the names that the strategy knows them by. */
export function rankBy(
  ranker: Ranker,
  all: readonly RouteTarget[],
  exchange: LiveExchange,
  targets: ReadonlyMap<string, Target>,
): readonly RouteTarget[] {
  return ranker.rank(
    all,
    routeQuery(exchange, targets),
    exchange.routing.explaining ?? notesFor(exchange),
    exchange.id,
  );
}

function hearing(
  ref: ModuleRef,
  settled: NonNullable<RunningStrategy['settled']>,
  log: Log,
  trace: RequestTrace,
): (attempt: Attempt) => void {
  return ({ target: { routeKey }, exchange, outcome, upstreamMs }) => {
    try {
      refusePromise(
        trace.run({ module: ref, exchangeId: exchange.id }, settled, {
          virtualKey: routeKey,
          exchangeId: exchange.id,
          outcome: outcome ?? 'ignored',
          durationMs: upstreamMs,
        }),
      );
    } catch (thrown) {
      log.error(
        'strategy failed to take an outcome',
        faultAttributes(new ModuleFault(ref, 'settled', thrown), { trace_id: exchange.id }),
      );
    }
  };
}

/** The view of an exchange that strategies rank by. Texts are read only when a strategy asks. */
export function routeQuery(exchange: LiveExchange, targets: ReadonlyMap<string, Target>): RouteQuery {
  const {
    surface,
    metadata,
    routing: { session },
  } = exchange;
  const model = exchange.routing.fallback ?? exchange.model;
  const request = exchange.turn?.request ?? exchange.request;
  const chat = isChat(exchange) ? (request as ChatRequest) : undefined;
  const { n: images } = request as { readonly n?: unknown };
  return {
    isListing: false,
    surface,
    model,
    metadata,
    upstreamModel: (virtualKey) => targets.get(virtualKey)?.upstreamModel(model) ?? model,
    userTexts: () =>
      (chat?.messages ?? [])
        .filter(({ role }) => role === 'user')
        .map((message) => [...contentTexts(message)].join('\n')),
    promptCharacters: () => (chat?.messages ?? []).reduce((sum, message) => sum + charactersOf(message.content), 0),
    maxTokens: numberOf(chat?.max_completion_tokens) ?? numberOf(chat?.max_tokens),
    images: (surface === 'images' || surface === 'images.edits') && typeof images === 'number' ? images : 1,
    user: exchange.user,
    principal: exchange.principal?.view,
    streaming: exchange.streaming,
    random: session === undefined || session === 'none' ? undefined : session.random,
  };
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Characters of a plain text; parts of a message count nothing (docs/reference/governance.md#expected-prices). */
function charactersOf(content: unknown): number {
  return typeof content === 'string' ? content.length : 0;
}

/** What a strategy may say of a request that is served. */
function notesFor({ routing }: LiveExchange): RankNotes {
  const { record } = routing;
  const variant = (label: string): void => {
    routing.abLabel = label;
  };
  const nothing = (why: string): void => {
    routing.unroutable = why;
  };
  return record
    ? {
        variant,
        nothing,
        rule: (path) => record.hearing.rule(path),
        target: (...note) => record.hearing.target(...note),
      }
    : { variant, nothing };
}
