import { within } from '../common/clock.ts';
import { CLOSE_LIMIT_MS, closeInTurn } from '../common/close-all.ts';
import type { Carryover, Prices, SharedState, StrategyDeps } from '../contract/index.ts';
import { DEFAULT_MAX_REQUEST_BYTES, type GatewayConfig, type TargetConfig } from '../config/document.ts';
import { parseDuration } from '../contract/duration.ts';
import { strategyTarget } from '../config/module-settings.ts';
import { createGenerationHooks, type GenerationHooks, sealGenerationHooks } from '../pipeline/hooks.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import { RetryBudget, retryPolicy } from '../pipeline/attempts/retry.ts';
import type { Target } from '../pipeline/target.ts';
import { walkTargets } from '../pipeline/turns/walk.ts';
import type { Registry } from '../registry/registry.ts';
import type { Variables } from '../environment/variables.ts';
import type { Stores } from '../stores/stores.ts';
import { type ConnectedProvider, connectProvider, disposeProvider } from '../upstream/connect.ts';
import { sendHttp } from '../upstream/send-http.ts';
import { type BindOptions, bindPlugins } from './bind-plugins.ts';
import { bindStrategy } from './bind-strategy.ts';
import { callPrices } from './call-prices.ts';
import type { CarryoverStore } from './carryover.ts';
import type { Generation, GenerationDraft } from './generation.ts';
import { configuredAs, KnownFacts } from './known-facts.ts';
import { LearnedFacts } from './learned-facts.ts';
import {
  advertisedOf,
  allOf,
  buildModelIndex,
  type KnownModels,
  type ModelCollector,
  type ModelIndex,
  type ModelSource,
} from './model-index.ts';

/** The host's hooks that a configuration is built with. */
export interface ModelHooks {
  readonly models: { call(collector: ModelCollector): void };
}

/** What a configuration is built from besides its own text. */
export interface GenerationDeps {
  readonly services: PipelineServices;
  readonly state: SharedState;
  readonly stores: Pick<Stores, 'requestLog' | 'ledgers'>;
  readonly registry: Registry;
  readonly carryover: CarryoverStore;
  readonly hooks: ModelHooks;
  /** Lets builtins tap the pipeline of a configuration. */
  readonly assemble: (draft: GenerationDraft) => Promise<void>;
  /** Providers whose credentials were found, by name. */
  readonly providers: ReadonlyMap<string, ConnectedProvider>;
  readonly variables: Variables;
}

/**
 * Builds a configuration that has passed every check: plugins, strategy, pipeline. Nothing serves it yet. Throws
 * `ConfigRefused` when a plugin cannot be built; what was built until then is closed again.
 */
export async function buildGeneration(
  deps: GenerationDeps,
  config: GatewayConfig,
  number: number,
): Promise<Generation> {
  const hooks = createGenerationHooks();
  const carryover = deps.carryover.open();
  const { trace } = deps.services;
  const undo: (() => Promise<void>)[] = [];
  const undoLater = (what: string, close: () => Promise<void>): void => {
    undo.unshift(() => within(close(), CLOSE_LIMIT_MS, deps.services.clock, what));
  };
  undoLater('what configurations share', () => carryover.release());
  const facts = new KnownFacts(deps.services.catalog);
  try {
    const mode = deps.registry.strategies.get(config.strategy.mode);
    const targetList = await everyResult(
      config.targets.map(async (target) => {
        const provider = await providerOf(deps, target.virtual_key);
        if (provider?.module.offline)
          undoLater(`the provider ${target.virtual_key}`, () => disposeProvider(provider, deps.services));
        const budget = (): RetryBudget =>
          carryover.lease(`retry budget ${target.virtual_key}`, () => new RetryBudget(deps.services.clock));
        return {
          ...buildTarget(target, provider, { budget, facts }),
          settings: mode && strategyTarget(mode, target).settings,
        };
      }),
    );
    const targets = new Map(targetList.map((target) => [target.virtualKey, target]));
    const models = buildModelIndex(targetList, (target) => modelsOf(deps, target));
    const forPlugins = pluginDeps(deps, targets, models, carryover);
    const plugins = await bindPlugins({
      config,
      registry: deps.registry,
      hooks,
      environment: deps.variables,
      deps: forPlugins,
      carryover,
      clock: deps.services.clock,
      closing: deps.services,
      trace,
      hide: (secret) => deps.services.redactor.register(secret),
    });
    undoLater('the plugins', () => plugins.dispose());
    const strategy = bindStrategy(
      config.strategy,
      deps.registry,
      hooks,
      targets,
      strategyDeps(deps, targets, hooks, carryover),
      { trace, closing: deps.services },
    );
    const { dispose } = strategy;
    if (dispose) undoLater(`dispose of the strategy "${config.strategy.mode}"`, async () => dispose());
    await deps.assemble({
      config,
      hooks,
      carryover,
      targets: targetList,
      registry: deps.registry,
      models,
      plugins,
      strategy,
      services: deps.services,
      ledger: forPlugins.ledger,
      prices: forPlugins.prices,
    });
    sealGenerationHooks(hooks);
    const generation: Generation = {
      number,
      config,
      services: deps.services,
      hooks,
      targets,
      targetList,
      models,
      strategy,
      plugins,
      modelCounts: countModels(deps, targetList),
      requestTimeoutMs: durationOf(config.request_timeout),
      maxRequestBytes: config.max_request_bytes || DEFAULT_MAX_REQUEST_BYTES,
      unsupportedParams: (config.compatibility.on_unsupported_param || 'warn') as Generation['unsupportedParams'],
      runTurns: hooks.turns.call((exchange, ask) => walkTargets(exchange, generation, ask)),
      dispose: () => closeInTurn(undo),
    };
    return generation;
  } catch (error) {
    await closeInTurn(undo).catch((cause: unknown) =>
      deps.services.log.error('a refused configuration could not be closed', { error: cause }),
    );
    throw error;
  }
}

/** As `Promise.all`, but it waits for all of them: what one opens behind another's failure must be undone as well. */
async function everyResult<T>(pending: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(pending);
  return Promise.all(pending);
}

/** A provider registered at start, or an offline one, which needs nothing but a target that names it. */
async function providerOf(deps: GenerationDeps, name: string): Promise<ConnectedProvider | undefined> {
  const module = deps.registry.providers.get(name);
  if (module?.offline)
    return connectProvider(module, deps.variables, {
      log: deps.services.log,
      now: deps.services.clock.now,
      trace: deps.services.trace,
      file: deps.registry.fileOf('provider', name),
    });
  return deps.providers.get(name);
}

function buildTarget(
  config: TargetConfig,
  provider: ConnectedProvider | undefined,
  { budget, facts }: { readonly budget: () => RetryBudget; readonly facts: KnownFacts },
): Target {
  const catalogProvider = catalogName(provider, config.virtual_key);
  const own = { config, catalogProvider };
  const mapped = new Map(Object.entries(config.model_map ?? {}));
  const retry = retryPolicy(config);
  const learned = new LearnedFacts();
  return {
    virtualKey: config.virtual_key,
    catalogProvider,
    weight: config.weight ?? 0,
    config,
    provider,
    retry,
    retryBudget: retry.attempts > 1 ? budget() : undefined,
    requestTimeoutMs: durationOf(config.request_timeout),
    factsOf: (model) => learned.over(facts.of(own, model), model),
    describedAs: (model) => configuredAs(config, model),
    learn: (model, learnt) => learned.learn(model, learnt),
    upstreamModel: mapped.size === 0 ? (model) => model : (model) => mapped.get(model) ?? model,
  };
}

/** What is known of a target's models: declared, mapped, configured, and what builtins add. */
function modelsOf(deps: GenerationDeps, { virtualKey, provider, config }: Target): KnownModels {
  return providerModels(deps, virtualKey, provider, [...(config.models ?? []), ...Object.keys(config.model_map ?? {})]);
}

/** What asks the catalog for the models of a provider: the name of its module, where it is connected. */
const catalogName = (provider: ConnectedProvider | undefined, name: string): string => provider?.module.name ?? name;

function providerModels(
  deps: Pick<GenerationDeps, 'hooks' | 'registry'>,
  name: string,
  provider: ConnectedProvider | undefined,
  declared: readonly string[],
): KnownModels {
  const added: Record<ModelSource, string[]> = { catalog: [], discovered: [] };
  deps.hooks.models.call({
    provider: name,
    catalogProvider: catalogName(provider, name),
    module: deps.registry.providers.get(catalogName(provider, name)),
    add: (source, models) => {
      for (const model of models) added[source].push(model);
    },
  });
  return { declared, configured: provider?.configuredModels ?? [], ...added };
}

/** What a registered provider lists that no target names. */
export function untargetedModels(
  deps: Pick<GenerationDeps, 'hooks' | 'registry'>,
  name: string,
  provider: ConnectedProvider | undefined,
): readonly string[] {
  return advertisedOf(providerModels(deps, name, provider, []));
}

/** How many models each registered provider has, a target or not. */
function countModels(deps: GenerationDeps, targets: readonly Target[]): Map<string, number> {
  const counts = new Map(
    deps.providers.entries().map(([name, provider]) => [name, allOf(providerModels(deps, name, provider, [])).size]),
  );
  for (const target of targets) if (target.provider) counts.set(target.virtualKey, allOf(modelsOf(deps, target)).size);
  return counts;
}

function durationOf(text: string | undefined): number | undefined {
  return text ? parseDuration(text) : undefined;
}

function pluginDeps(
  deps: GenerationDeps,
  targets: ReadonlyMap<string, Target>,
  models: ModelIndex,
  carryover: Carryover,
): BindOptions['deps'] {
  const { state, stores, services } = deps;
  const { log, counters } = services;
  return {
    log,
    counters,
    state,
    prices: { ...pricesOf(deps, targets), ...callPrices(deps, targets, models) },
    redact: (text) => services.redactor.excerpt(text),
    now: services.clock.now,
    random: services.random,
    send: sendHttp(services),
    requestLog: stores.requestLog.value,
    ledger: (name, bounds) => carryover.lease(`ledger ${name}`, () => stores.ledgers.value.open(name, bounds)),
  };
}

/** Reads the catalog that is in force when it is asked: a refresh reaches plugins that were made before it. */
function pricesOf({ services }: GenerationDeps, targets: ReadonlyMap<string, Target>): Prices {
  const catalogProvider = (target: string): string => targets.get(target)?.catalogProvider ?? target;
  return {
    tokenPrice: (target, model) => services.catalog.tokenPrice(catalogProvider(target), model),
    cost: (target, model, billed) => services.catalog.cost(catalogProvider(target), model, billed),
  };
}

function strategyDeps(
  deps: GenerationDeps,
  targets: ReadonlyMap<string, Target>,
  { median }: GenerationHooks,
  carryover: Carryover,
): StrategyDeps {
  const { services } = deps;
  return {
    log: services.log,
    now: services.clock.now,
    carryover,
    medianMs: (virtualKey) => median.call(virtualKey),
    price: pricesOf(deps, targets).tokenPrice,
    random: services.random,
  };
}
