import { randomBytes } from 'node:crypto';
import { logBackgroundFault } from './boundary/background-fault.ts';
import { createTrace } from './boundary/module-log.ts';
import type { BuiltinModule } from './builtin.ts';
import { NO_CATALOG } from './common/catalog.ts';
import { type Clock, within } from './common/clock.ts';
import { CLOSE_LIMIT_MS, closeAll, closeInTurn, ClosingTime } from './common/close-all.ts';
import { RelayedBytes } from './common/relayed-bytes.ts';
import { IdentityPlace } from './config/identity/identity-place.ts';
import { CONFIG_RULES } from './config/rules/config-rules.ts';
import { ruleTap } from './config/rules/rule.ts';
import { type Log, type Surface, SURFACE_NAMES } from './contract/index.ts';
import { type Applier, createApplier } from './generation/apply.ts';
import { CarryoverStore } from './generation/carryover.ts';
import { Slot } from './generation/slot.ts';
import { createHostHooks } from './host-hooks.ts';
import { sealHooks } from './hooks/seal.ts';
import { noteTaps } from './hooks/tap-list.ts';
import type { BuildInfo } from './environment/build-info.ts';
import type { Host } from './host.ts';
import { CanonicalPaths } from './http/paths/canonical-path.ts';
import { createActivity } from './http/activity.ts';
import { ConnectionAges } from './http/connections/connection-ages.ts';
import { Connections } from './http/connections/connections.ts';
import { DeniedCredentials } from './http/door/denied-credentials.ts';
import { Outbox } from './http/outbox.ts';
import { Protection } from './http/protection.ts';
import { RunningRequests } from './http/running-requests.ts';
import { createLogger, type LineWriter } from './log/logger.ts';
import { createRedactor, type Redactor } from './log/redact.ts';
import { STREAM_IDLE_MS } from './answer/stream.ts';
import { MODULE_RULES } from './registry/check-module.ts';
import { createRegistry, type GatewayModule, keyShapesOf, SHIPPED } from './registry/registry.ts';
import { readEnvironment, type Settings } from './environment/settings.ts';
import { createCounters } from './state/counters.ts';
import { createBuckets } from './state/buckets.ts';
import { createMemoryState } from './state/shared-state.ts';
import { BoundedLimits } from './stores/bounded-limits.ts';
import { BoundedPlaces } from './stores/bounded-places.ts';
import { BoundedState } from './stores/bounded-state.ts';
import { PRIMARY_LIMIT_MS, StateTrips } from './stores/state-trips.ts';
import { finishStores } from './stores/closing.ts';
import type { StoreClock } from './stores/replicas/store-clock.ts';
import { createStores, sealStores } from './stores/stores.ts';
import type { Variables } from './environment/variables.ts';
import { disposeProvider } from './upstream/connect.ts';
import { SecretValues } from './upstream/secrets/secret-values.ts';
import { Transport } from './upstream/transport.ts';
import { takeAddressOf } from './workers/addresses.ts';
import { hintsOf } from './workers/hints-of-team.ts';
import { spreadTo } from './workers/stores/spread.ts';
import type { Team } from './workers/team.ts';
import { settingsOfWorker } from './workers/worker-settings-of.ts';

/** Everything a host takes from its surroundings. Nothing below `main.ts` reads the process. */
export interface HostEnvironment {
  readonly variables: Variables;
  readonly workingDirectory: string;
  readonly installDirectory: string;
  readonly build: BuildInfo;
  /** The command line of the process; none unless given. */
  readonly argv?: readonly string[];
  readonly platform: Host['platform'];
  readonly clock: Clock;
  /** The time of a store that several processes use: its database's unless given. */
  readonly storeClock?: (machine: Clock) => StoreClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Values of keys and tokens; the system's random bytes unless said. */
  readonly randomBytes?: (size: number) => Buffer;
  /** That of the process; one of its own unless given. */
  readonly redactor?: Redactor;
  /** Takes finished log lines. */
  readonly lines: LineWriter;
  readonly modules: readonly GatewayModule[];
  readonly builtins: readonly BuiltinModule[];
  /** Counts client connections; of its own unless given. */
  readonly connections?: Connections;
  /** Milliseconds of silence that end a stream; two minutes unless said. */
  readonly streamIdleMs?: number;
  /** Collects objects that died young; left to V8 unless given. */
  readonly collectYoung?: () => void;
  /** The system's. */
  readonly temporaryFolder?: string;
  /** What this process is among those of one gateway; the only one unless given. */
  readonly team?: Team;
}

/** Addresses whose requests are counted. */
const MAX_ADDRESSES = 100_000;

/** Builds a host: registry with the shipped modules, hooks tapped and sealed. It serves nothing and has opened nothing. */
export function createHost(environment: HostEnvironment): Host {
  const { variables, clock, random, storeClock, team } = environment;
  const settings = settingsOf(variables, team);
  const { redactor = createRedactor(variables) } = environment;
  const log = createLogger(settings.logLevel, environment.lines, redactor);
  const hooks = createHostHooks<Host>();
  closeInReverse(hooks.close, log, clock);
  const counters = createCounters();
  const transport = new Transport();
  const secrets = new SecretValues({ clock, variables, directories: settings.secretDirectories, redactor, log });
  const slot = new Slot(log);
  const stores = createStores(createMemoryState(clock), {
    clock,
    newClock: storeClock && (() => storeClock(clock)),
    log,
    redactor,
    randomBytes: environment.randomBytes ?? randomBytes,
    spread: team?.role === 'primary' ? spreadTo(team) : undefined,
    auditDropped: () => counters.add('gateway_hook_events_dropped_total', { subject: 'audit' }),
  });
  hooks.open.intercept({ done: () => sealStores(stores) });
  const limitMs = team?.role === 'worker' ? PRIMARY_LIMIT_MS : undefined;
  const trips = new StateTrips({ clock, log, counters, limitMs }, () => ({
    backend: stores.limits.backend,
    replicas: limits.replicas,
  }));
  const limits = new BoundedLimits(stores.limits, trips, clock);
  let surfaces: readonly Surface[] | undefined;
  let applier: Applier | undefined;
  let closing: Promise<void> | undefined;

  const host: Host = {
    build: environment.build,
    argv: environment.argv ?? [],
    platform: environment.platform,
    installDirectory: environment.installDirectory,
    workingDirectory: environment.workingDirectory,
    variables,
    settings,
    secrets,
    hooks,
    log,
    redactor,
    counters,
    slot,
    registry: createRegistry(hooks),
    stores,
    limits,
    denied: new DeniedCredentials({ clock, redactor, omit: settings.logOmit }),
    places: new BoundedPlaces(stores.places, trips, () => limits.replicas),
    state: new BoundedState(stores.state, limits, { clock, log, limitMs }),
    carryover: new CarryoverStore(),
    activity: createActivity(),
    connections: environment.connections ?? new Connections(),
    running: new RunningRequests(),
    outbox: new Outbox(log),
    protection: new Protection(),
    paths: new CanonicalPaths(),
    addresses: createBuckets(MAX_ADDRESSES),
    takeAddress: team?.role === 'worker' ? takeAddressOf(team, settings.rateLimit, clock) : undefined,
    ages: team?.role === 'worker' ? new ConnectionAges({ monotonic: clock.monotonic, random }) : undefined,
    team,
    hints: hintsOf(team, clock),
    companions: undefined,
    temporaryFolder: environment.temporaryFolder ?? '/tmp',
    giveUp: undefined,
    services: {
      clock,
      closing: new ClosingTime(clock),
      random,
      log,
      counters,
      redactor,
      transport,
      relayed: new RelayedBytes(environment.collectYoung),
      trace: createTrace(),
      catalog: NO_CATALOG,
      streamIdleMs: environment.streamIdleMs ?? STREAM_IDLE_MS,
    },
    get surfaces() {
      return (surfaces ??= namedSurfaces(hooks));
    },
    assemble: (draft) => hooks.assemble.promise(draft, host),
    firstModels: (first) => hooks.firstModels.promise(first, host),
    instanceRegistered: () =>
      void host.applier.refresh().catch((error: unknown) => log.error('a provider could not be taken in', { error })),
    providers: new Map(),
    passedOver: new Set(),
    configFile: undefined,
    identity: new IdentityPlace(),
    isLeaving: false,
    isDraining: false,
    masterKey: settings.masterKey,
    certificates: [],
    get applier() {
      return (applier ??= createApplier(host));
    },
    get current() {
      return slot.current;
    },
    loading: (module, load) => host.services.trace.run({ module, exchangeId: undefined }, load),
    logBackgroundFault: (error) => logBackgroundFault(error, host.services.trace, host.registry, log),
    close: () => (closing ??= closeHost(host)),
  };

  tapEverything(host, environment);
  return host;
}

/** A worker goes by what the primary says. */
function settingsOf(variables: Variables, team: Team): Settings {
  const settings = readEnvironment(variables);
  return team?.role === 'worker' ? settingsOfWorker(settings, team.given.port) : settings;
}

/** Rules and builtins tap, the hooks are sealed, and the shipped modules enter the registry. */
function tapEverything(host: Host, { builtins, modules }: HostEnvironment): void {
  const { hooks } = host;
  let applied: string | undefined;
  noteTaps(hooks, () => applied);
  hooks.registered.tap('key shapes', ({ module }) => host.redactor.learn(keyShapesOf([module])));
  for (const rule of MODULE_RULES) hooks.checkModule.tap(rule.id, (check) => rule.check(check));
  for (const rule of CONFIG_RULES) hooks.checkConfig.tap(rule.id, ruleTap(rule));
  for (const builtin of builtins) {
    applied = builtin.name;
    builtin.apply({ hooks });
  }
  sealHooks(hooks, 'builtins tap in apply');
  for (const module of modules) addShipped(host, module);
  hooks.figures.call(host.counters, host);
  hooks.protect.call(host.protection);
}

/** A shipped module with a problem is a bug of the gateway, so it is thrown. */
function addShipped({ registry }: Host, module: GatewayModule): void {
  const problems = registry.add({ value: module, kind: module.kind, origin: SHIPPED });
  if (problems.length > 0)
    throw new Error(`the shipped ${module.kind} ${module.name}: ${problems.map(({ message }) => message).join('; ')}`);
}

function namedSurfaces(hooks: Host['hooks']): readonly Surface[] {
  const named = new Set<Surface>();
  hooks.surfaces.call(named);
  return SURFACE_NAMES.filter((surface) => named.has(surface));
}

/** Taps of `close` run last declared first, so that what was opened last closes first, and all of them, whatever one throws. */
function closeInReverse(hook: Host['hooks']['close'], log: Log, clock: Clock): void {
  let taps = 0;
  const kept =
    (name: string, close: (host: Host) => Promise<void>, limitMs?: (host: Host) => number) =>
    async (host: Host): Promise<void> => {
      await within(close(host), limitMs?.(host) ?? CLOSE_LIMIT_MS, clock, name).catch((error: unknown) =>
        log.error('closing failed', { builtin: name, error }),
      );
    };
  hook.intercept({
    register: (tap) => ({
      ...tap,
      stage: (taps -= 1),
      ...(tap.type === 'promise' && { fn: kept(tap.name, tap.fn as (host: Host) => Promise<void>, tap.limitMs) }),
    }),
  });
}

async function closeHost(host: Host): Promise<void> {
  const bounded = (what: string, close: () => Promise<void>) => (): Promise<void> =>
    within(close(), CLOSE_LIMIT_MS, host.services.clock, what);
  await closeInTurn([
    () => host.applier.close(),
    () => host.secrets.close(),
    () => host.slot.close(),
    bounded('the uses of keys and the audit rows', () => finishStores(host.stores)),
    () => host.hooks.close.promise(host),
    () => host.stores.end.reached(),
    () => closeAll([...host.providers.values()].map((provider) => () => disposeProvider(provider, host.services))),
    bounded('the connections', () => host.services.transport.close()),
  ]).catch((error: unknown) => host.log.error('closing failed', { error }));
}
