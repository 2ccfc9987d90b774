import type { Carryover, PluginPrices, Prices, StrategyDeps } from '../contract/index.ts';
import { CurrentAccounts } from '../common/accounts/current-accounts.ts';
import type { WrittenAccount } from '../common/accounts/account-members.ts';
import { timezoneOf } from '../config/rules/account-rules.ts';
import { DEFAULT_MAX_REQUEST_BYTES, type GatewayConfig } from '../config/document.ts';
import { saysNothing, streamTimesOf } from '../config/stream-times.ts';
import { createGenerationHooks, type GenerationHooks, sealGenerationHooks } from '../pipeline/hooks.ts';
import type { Target } from '../pipeline/target.ts';
import { walkTargets } from '../pipeline/turns/walk.ts';
import { sendHttp } from '../upstream/send-http.ts';
import { type BindOptions, bindPlugins, type BoundPlugins } from './bind-plugins.ts';
import { BoundGroup } from './groups/bound-group.ts';
import {
  hiddenWarnings,
  missingWarnings,
  unservedWarnings,
  writtenAccountWarnings,
} from './accounts/account-warnings.ts';
import { bindStrategy, type BoundStrategy, type StrategySurroundings, tapStrategies } from './bind-strategy.ts';
import { buildTargets } from './build-targets.ts';
import { callPrices } from './call-prices.ts';
import { durationOf } from './duration-of.ts';
import type { Generation, GenerationDraft } from './generation.ts';
import type { GenerationDeps } from './generation-deps.ts';
import { firstModels, openProviders } from './instances/open-providers.ts';
import { countModels, modelsOf } from './known-models.ts';
import { groupWarnings } from './groups/group-warnings.ts';
import { GroupIndex } from './groups/model-groups.ts';
import { logWarning, problemOf, type ProviderWarning } from './instances/instance-warnings.ts';
import { buildModelIndex, type ModelIndex } from './model-index.ts';
import { Undo } from './undo.ts';

type Targets = ReadonlyMap<string, Target>;

/**
 * Builds a configuration that has passed every check: plugins, strategy, pipeline. Nothing serves it yet. Throws
 * `ConfigRefused` when a plugin cannot be built; what was built until then is closed again.
 */
export async function buildGeneration(
  deps: GenerationDeps,
  config: GatewayConfig,
  number: number,
): Promise<Generation> {
  const undo = new Undo(deps.services.clock);
  try {
    const draft = await draftOf(deps, config, undo);
    await deps.assemble(draft);
    sealGenerationHooks(draft.hooks);
    if (saysNothing(config.streaming))
      deps.services.log.warn('streaming.open_after without keep-alives opens a stream and then says nothing', {
        rule: 'WN61',
      });
    return generationOf(deps, draft, number, undo);
  } catch (error) {
    await undo
      .run()
      .catch((cause: unknown) =>
        deps.services.log.error('a refused configuration could not be closed', { error: cause }),
      );
    throw error;
  }
}

/** Everything of a configuration that builtins tap. */
async function draftOf(deps: GenerationDeps, config: GatewayConfig, undo: Undo): Promise<GenerationDraft> {
  const { registry, services } = deps;
  const hooks = createGenerationHooks();
  const carryover = deps.carryover.open();
  undo.later('what configurations share', () => carryover.release());
  const { warnings: found, ...providers } = await openProviders(deps, config, carryover);
  const targets = await buildTargets(deps, config, { ...providers, carryover, undo });
  const byKey = new Map(targets.map((target) => [target.virtualKey, target]));
  const asking = { instances: providers.instances, targets: byKey };
  const warnings = config.providers ? [...found, ...(await firstModels(deps, config, asking))] : found;
  const models = buildModelIndex(targets, (target) => modelsOf(deps, target));
  const known: KnownNames = { targets: byKey, models, groups: undefined };
  const prices = { ...pricesOf(deps, known.targets), ...callPrices(deps, known) };
  const forPlugins = pluginDeps(deps, prices, carryover);
  const plugins = await pluginsOf(deps, { config, hooks, deps: forPlugins, carryover }, undo);
  const { strategy, groups } = strategiesOf(deps, config, { hooks, targets: byKey, carryover }, undo);
  known.groups = groups;
  const declared = (config.accounts ?? []) as readonly WrittenAccount[]; // the rules have read them
  const accounts = new CurrentAccounts(declared, timezoneOf(config), deps.stores.accounts);
  const more = [
    ...(groups ? groupWarnings(groups, models) : []),
    ...(await accountWarnings(deps, config, { accounts, groups, models })),
  ];
  if (deps.current?.config !== config) for (const warning of more) logWarning(deps, warning);
  const { ledger } = forPlugins;
  const built = { config, hooks, carryover, targets, providers, warnings: [...warnings, ...more.map(problemOf)] };
  return {
    ...built,
    pendingRestart: [],
    accounts,
    registry,
    models,
    groups,
    plugins,
    strategy,
    services,
    ledger,
    prices,
  };
}

/** Nothing where no account is declared, and no key names one. */
async function accountWarnings(
  { stores, services: { log }, current }: GenerationDeps,
  config: GatewayConfig,
  { accounts, groups, models }: Pick<GenerationDraft, 'accounts' | 'groups' | 'models'>,
): Promise<readonly ProviderWarning[]> {
  const isServed = (name: string): boolean => servesName(name, config, groups, models);
  const written = config.accounts?.length
    ? [
        ...writtenAccountWarnings(config),
        ...unservedWarnings(config, isServed),
        ...hiddenWarnings(config, (path) => stores.accounts.stored(path) !== undefined),
      ]
    : [];
  if (current?.config === config) return written;
  const counts = await stores.keys.accountCounts().catch((error: unknown) => {
    log.debug('the accounts of keys could not be looked at', { error });
    return NO_COUNTS;
  });
  return counts.size === 0 ? written : [...written, ...missingWarnings(accounts.tree(), counts)];
}

const NO_COUNTS: ReadonlyMap<string, number> = new Map();

function servesName(
  name: string,
  { aliases }: GatewayConfig,
  groups: GenerationDraft['groups'],
  models: ModelIndex,
): boolean {
  const model = (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;
  return groups?.of(model) !== undefined || models.isKnown(model) || models.takers(model).length > 0;
}

async function pluginsOf(
  { registry, variables, services }: GenerationDeps,
  own: Pick<BindOptions, 'config' | 'hooks' | 'deps' | 'carryover'>,
  undo: Undo,
): Promise<BoundPlugins> {
  const plugins = await bindPlugins({
    ...own,
    registry,
    environment: variables,
    clock: services.clock,
    closing: services,
    trace: services.trace,
    hide: (secret) => services.redactor.register(secret),
  });
  undo.later('the plugins', () => plugins.dispose());
  return plugins;
}

interface Strategies {
  readonly strategy: BoundStrategy;
  readonly groups: GroupIndex<BoundGroup> | undefined;
}

/** The strategy of the document, and those of its groups of models. */
function strategiesOf(
  deps: GenerationDeps,
  config: GatewayConfig,
  { hooks, targets, carryover }: { hooks: GenerationHooks; targets: Targets; carryover: Carryover },
  undo: Undo,
): Strategies {
  const { registry, services } = deps;
  const given = strategyDeps(deps, targets, hooks, carryover);
  const around: StrategySurroundings = { registry, trace: services.trace, closing: services };
  const closed = (strategy: BoundStrategy, of: string): void => {
    const { dispose } = strategy;
    if (dispose) undo.later(`dispose of the strategy "${strategy.module.name}"${of}`, async () => dispose());
  };
  const strategy = bindStrategy(config.strategy, 'strategy', given, around);
  closed(strategy, '');
  const list = (config.models ?? []).map((each, at) => {
    const group = new BoundGroup(each, at, { ...around, targets, hooks, given });
    closed(group.strategy, ` of the group "${group.name}"`);
    return group;
  });
  const groups = list.length === 0 ? undefined : new GroupIndex(list, config);
  tapStrategies(hooks, strategy, targets, list);
  return { strategy, groups };
}

function generationOf(deps: GenerationDeps, draft: GenerationDraft, number: number, undo: Undo): Generation {
  const { config, hooks, targets: targetList, models, groups, strategy, plugins, services, providers } = draft;
  const generation: Generation = {
    number,
    config,
    services,
    hooks,
    targets: new Map(targetList.map((target) => [target.virtualKey, target])),
    targetList,
    ...providers,
    warnings: draft.warnings,
    pendingRestart: draft.pendingRestart,
    models,
    groups,
    strategy,
    isPlaced: isPlaced(config),
    plugins,
    accounts: draft.accounts,
    modelCounts: countModels(deps, { ...providers, targetList }),
    requestTimeoutMs: durationOf(config.request_timeout),
    streamTimes: streamTimesOf(config.streaming),
    maxRequestBytes: config.max_request_bytes || DEFAULT_MAX_REQUEST_BYTES,
    unsupportedParams: (config.compatibility.on_unsupported_param || 'warn') as Generation['unsupportedParams'],
    runTurns: hooks.turns.call((exchange, ask) => walkTargets(exchange, generation, ask)),
    dispose: () => undo.run(),
  };
  return generation;
}

/** Whether requests have a placement: without any of these keys nothing of it is looked at, kept or counted. */
const isPlaced = ({ providers, models, strategy: { affinity } }: GatewayConfig): boolean =>
  providers !== undefined || (models ?? []).length > 0 || affinity === 'session';

/** What names of targets and models stand for. Groups are bound behind the plugins, which ask only once requests come. */
interface KnownNames {
  readonly targets: Targets;
  readonly models: ModelIndex;
  groups: GroupIndex<BoundGroup> | undefined;
}

function pluginDeps(deps: GenerationDeps, prices: PluginPrices, carryover: Carryover): BindOptions['deps'] {
  const { state, stores, services } = deps;
  const { log, counters } = services;
  return {
    log,
    counters,
    state,
    prices,
    redact: (text) => services.redactor.excerpt(text),
    now: services.clock.now,
    random: services.random,
    send: sendHttp(services),
    requestLog: stores.requestLog.value,
    ledger: (name, bounds) => carryover.lease(`ledger ${name}`, () => stores.ledgers.value.open(name, bounds)),
  };
}

/** Reads the catalog that is in force when it is asked: a refresh reaches plugins that were made before it. */
function pricesOf({ services }: GenerationDeps, targets: Targets): Prices {
  const catalogProvider = (target: string): string => targets.get(target)?.catalogProvider ?? target;
  return {
    tokenPrice: (target, model, asked) => services.catalog.tokenPrice(catalogProvider(target), model, asked),
    cost: (target, model, billed, at = services.clock.now()) =>
      services.catalog.cost(catalogProvider(target), model, billed, at),
  };
}

function strategyDeps(
  deps: GenerationDeps,
  targets: Targets,
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
