import type { Carryover } from '../contract/index.ts';
import type { Catalog } from '../common/catalog.ts';
import type { GatewayConfig, TargetConfig } from '../config/document.ts';
import { strategyTarget } from '../config/module-settings.ts';
import { priceReports } from '../config/unpriced-rule.ts';
import { RetryBudget, retryPolicy } from '../pipeline/attempts/retry.ts';
import type { Target } from '../pipeline/target.ts';
import { type ConnectedProvider, connectProvider, disposeProvider } from '../upstream/connect.ts';
import { connectionOf, type ProviderInstance } from '../upstream/instance.ts';
import { durationOf } from './duration-of.ts';
import type { GenerationDeps } from './generation-deps.ts';
import { configuredAs, KnownFacts, knownSources } from './known-facts.ts';
import { catalogName } from './known-models.ts';
import { LearnedFacts } from './learned-facts.ts';
import type { Undo } from './undo.ts';

/** What targets call, by name, and what outlives them. */
export interface TargetParts {
  readonly environment: ReadonlyMap<string, ConnectedProvider>;
  readonly instances: ReadonlyMap<string, ProviderInstance>;
  readonly carryover: Carryover;
  readonly undo: Undo;
}

/** The targets of a configuration, with their providers. Those of offline providers are connected here, and so undone. */
export async function buildTargets(
  deps: GenerationDeps,
  config: GatewayConfig,
  { environment, instances, carryover, undo }: TargetParts,
): Promise<Target[]> {
  const mode = deps.registry.strategies.get(config.strategy.mode);
  const { catalog } = deps.services;
  const facts = new KnownFacts(catalog);
  return everyResult(
    config.targets.map(async (target) => {
      const instance = instances.get(target.virtual_key);
      const provider = instance ? connectionOf(instance) : await providerOf(deps, target.virtual_key, environment);
      if (provider?.module.offline)
        undo.later(`the provider ${target.virtual_key}`, () => disposeProvider(provider, deps.services));
      const budget = (): RetryBudget =>
        carryover.lease(`retry budget ${target.virtual_key}`, () => new RetryBudget(deps.services.clock));
      return {
        ...buildTarget(target, provider, { instance, budget, catalog, facts, now: deps.services.clock.monotonic }),
        settings: mode && strategyTarget(mode, target).settings,
        priceReports: priceReports(config),
      };
    }),
  );
}

/** As `Promise.all`, but it waits for all of them: what one opens behind another's failure must be undone as well. */
async function everyResult<T>(pending: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(pending);
  return Promise.all(pending);
}

/** A provider of the environment, or an offline one, which needs nothing but a target that names it. */
async function providerOf(
  deps: GenerationDeps,
  name: string,
  environment: ReadonlyMap<string, ConnectedProvider>,
): Promise<ConnectedProvider | undefined> {
  const module = deps.registry.providers.get(name);
  if (module?.offline)
    return connectProvider(module, deps.variables, {
      log: deps.services.log,
      now: deps.services.clock.now,
      trace: deps.services.trace,
      file: deps.registry.fileOf('provider', name),
    });
  return environment.get(name);
}

interface TargetDeps {
  readonly instance: ProviderInstance | undefined;
  readonly budget: () => RetryBudget;
  readonly catalog: Catalog;
  readonly facts: KnownFacts;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

function buildTarget(
  config: TargetConfig,
  provider: ConnectedProvider | undefined,
  { instance, budget, catalog, facts, now }: TargetDeps,
): Omit<Target, 'priceReports'> {
  const plain = catalogName(provider, config.virtual_key);
  const own = { config, catalogProvider: instance?.kind ?? plain };
  const learned = new LearnedFacts(now);
  const mapped = new Map(Object.entries(config.model_map ?? {}));
  const retry = retryPolicy(config);
  return {
    virtualKey: config.virtual_key,
    routeKey: config.virtual_key,
    instance,
    catalogProvider: instance?.catalogProvider ?? plain,
    weight: config.weight ?? 0,
    config,
    provider,
    retry,
    retryBudget: retry.attempts > 1 ? budget() : undefined,
    requestTimeoutMs: durationOf(config.request_timeout),
    factsOf: (model) => learned.over(facts.of(own, model), model),
    factSourcesOf: (model) => learned.sourcesOver(knownSources(catalog, own, model), model),
    describedAs: (model) => configuredAs(config, model),
    learn: (learnt, of) => learned.learn(learnt, of),
    upstreamModel: mapped.size === 0 ? (model) => model : (model) => mapped.get(model) ?? model,
  };
}
