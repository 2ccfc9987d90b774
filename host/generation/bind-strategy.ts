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
  type RunningStrategy,
  type StrategyDeps,
  type StrategyModule,
} from '../contract/index.ts';
import type { StrategyConfig } from '../config/document.ts';
import { readSettings, strategySettings } from '../config/module-settings.ts';
import { ORDER } from '../hooks/order.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { GenerationHooks } from '../pipeline/hooks.ts';
import { createRunning } from './create-strategy.ts';
import type { Registry } from '../registry/registry.ts';
import type { FailoverRules } from '../pipeline/attempts/retry.ts';
import type { Target } from '../pipeline/target.ts';

/** The routing strategy of one generation, with its settings. */
export interface BoundStrategy extends FailoverRules {
  readonly module: StrategyModule;
  readonly ranker: Ranker;
  readonly dispose?: () => Promise<void> | undefined;
}

export interface StrategySurroundings {
  readonly trace: RequestTrace;
  readonly closing: ClosingServices;
}

/** Makes the configured strategy and taps it on the route.  */
export function bindStrategy(
  config: StrategyConfig,
  registry: Registry,
  hooks: GenerationHooks,
  targets: ReadonlyMap<string, Target>,
  given: StrategyDeps,
  { trace, closing }: StrategySurroundings,
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
    ref.file,
  );
  const ranker = new Ranker(rank, { module: ref, log: given.log, trace });
  hooks.route.tap({ name: 'strategy', stage: ORDER.strategy }, (all, exchange) =>
    ranker.rank(all, routeQuery(exchange, targets), exchange.routing.explaining ?? notesFor(exchange), exchange.id),
  );
  if (settled) tapSettled(hooks, ref, settled, given.log, trace);
  return {
    module,
    ranker,
    ...(dispose && { dispose: () => disposeModule(ref, dispose, closing) }),
    advances: module.advances ?? false,
    failoverOn: new Set(config.failover_on),
    failoverStatuses: new Set(config.failover_on_status_codes),
  };
}

/** Only for a strategy that asks: other requests pay nothing for it. */
function tapSettled(
  hooks: GenerationHooks,
  ref: ModuleRef,
  settled: NonNullable<RunningStrategy['settled']>,
  log: Log,
  trace: RequestTrace,
): void {
  hooks.settled.tap('strategy', ({ target: { virtualKey }, exchange, outcome, upstreamMs }) => {
    try {
      refusePromise(
        trace.run({ module: ref, exchangeId: exchange.id }, settled, {
          virtualKey,
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
  });
}

/** The view of an exchange that strategies rank by. Texts are read only when a strategy asks. */
export function routeQuery(exchange: LiveExchange, targets: ReadonlyMap<string, Target>): RouteQuery {
  const { model, surface, metadata } = exchange;
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
    ? { variant, nothing, rule: (path) => record.heard.rule(path), target: (...note) => record.heard.target(...note) }
    : { variant, nothing };
}
