import type { Scope } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { TextScrubber } from '../../host/config/scrub-text.ts';
import { registeredNames } from '../../host/generation/registered-names.ts';
import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import { hasCredential } from '../../host/pipeline/credentials/credential-desk.ts';
import type { Target } from '../../host/pipeline/target.ts';
import type { CircuitState } from '../../host/pipeline/hooks.ts';
import { missingVariables } from '../../host/upstream/connect.ts';
import type { Team } from '../../host/workers/team.ts';
import {
  loadsOf,
  loadsOfWorkers,
  missingWorkers,
  summed,
  type TargetLoad,
  type TargetLoads,
} from '../../host/workers/worker-states.ts';
import { builtInProviders } from './lists/provider-catalog.ts';
import { Query } from './query.ts';
import { reading } from './store-calls.ts';

/** The gateway at a glance: its dashboard's figures, its health, and the providers of this build. See docs/admin.md#routes. */
export function overviewRoutes(host: Host): readonly JsonRoute[] {
  const read = { method: 'GET', scope: 'read_only' } as const;
  return [
    { ...read, path: '/admin/dashboard', answer: ({ signal }: JsonCall) => dashboard(host, signal) },
    { ...read, path: '/admin/health', answer: ({ principal }: JsonCall) => health(host, principal?.scopes ?? []) },
    {
      ...read,
      path: '/admin/providers/catalog',
      answer: ({ request }: JsonCall) => ({
        status: 200,
        body: { providers: builtInProviders(host, new Query(request)) },
      }),
    },
  ];
}

interface ProviderState {
  readonly name: string;
  readonly status: 'available' | 'unavailable';
  readonly models: number;
  readonly message?: string;
}

/** Registered providers, then those that targets name although nothing was found for them. */
function providerStates(host: Host): ProviderState[] {
  const registered = registeredNames(host);
  const { current, registry, variables } = host;
  const named = (current?.targetList ?? []).map(({ virtualKey }) => virtualKey).filter((name) => !registered.has(name));
  return [
    ...Array.from(registered, (name) => ({
      name,
      ...usabilityOf(current, name),
      models: current?.modelCounts.get(name) ?? 0,
    })),
    ...named.map((name) => {
      const module = registry.providers.get(name);
      const instance = current?.instances.get(name);
      const missing = module && !instance ? missingVariables(module, variables) : [];
      const why =
        missing.length > 0
          ? `${missing.join(', ')} is not set`
          : (current && whyUnregistered(current, name)) || 'it could not be set up';
      return { name, status: 'unavailable' as const, models: 0, message: `not registered: ${why}` };
    }),
  ];
}

/** A declared instance whose credentials are all benched cannot be called, although it is registered. */
function usabilityOf(current: Generation | undefined, name: string): Pick<ProviderState, 'status' | 'message'> {
  const instance = current?.instances.get(name);
  const counts = instance && current?.hooks.credentials.call()?.counts(instance);
  return counts?.isRoutable === false
    ? { status: 'unavailable', message: 'no usable credential' }
    : { status: 'available' };
}

/** What keeps an entry of `providers` from serving. */
function whyUnregistered({ warnings }: Generation, name: string): string | undefined {
  const path = `providers.${name}`;
  return warnings.find((found) => WHY.has(found.rule) && (found.path === path || found.path.startsWith(`${path}.`)))
    ?.message;
}

const WHY: ReadonlySet<string> = new Set(['WN13', 'WN17']);

async function dashboard(host: Host, signal: AbortSignal): Promise<JsonAnswer> {
  const { log, stores } = host;
  const logs = stores.logReader.value;
  const [keys, total] = await Promise.all([
    reading(stores.keys.totals(), log),
    logs ? reading(logs.count(signal), log) : 0,
  ]);
  const states = providerStates(host);
  return {
    status: 200,
    body: {
      providers: { total: states.length, available: states.filter(({ status }) => status === 'available').length },
      keys: { total: keys.total, active: keys.active, expired: keys.expired, total_usage: keys.uses },
      request_logs: { enabled: logs !== undefined, total },
    },
  };
}

type ComponentStatus = 'healthy' | 'unavailable' | 'disabled';

interface Component {
  readonly name: string;
  readonly status: ComponentStatus;
  readonly message?: string;
}

/** Milliseconds that clocks may differ without a word. */
const CLOCKS_AGREE_MS = 2000;

/** What should be known of the key store while it answers. */
function messageOf({ keys, clock: { machineAheadMs = 0 } }: Host['stores']): Pick<Component, 'message'> {
  const notes = [
    ...(keys.note === undefined ? [] : [keys.note]),
    ...(Math.abs(machineAheadMs) > CLOCKS_AGREE_MS
      ? [
          `the clock of this machine is ${Math.abs(Math.round(machineAheadMs / 1000))} s ${machineAheadMs > 0 ? 'ahead of' : 'behind'} the database's`,
        ]
      : []),
  ];
  return notes.length === 0 ? {} : { message: notes.join('; ') };
}

/** `scopes` are those of the caller, as they are now. */
async function health(host: Host, scopes: readonly Scope[]): Promise<JsonAnswer> {
  const { stores } = host;
  const logReader = stores.logReader.value;
  const [keys, configuration, logs, audit] = await Promise.all([
    answering(stores.keys),
    answering(stores.configuration.value),
    logReader ? answering(logReader) : ('disabled' as const),
    answering(stores.audit),
  ]);
  const isShared = host.limits.isShared && stores.limits.backend !== 'workers';
  const shared: ComponentStatus = !isShared || host.limits.isUp ? 'healthy' : 'unavailable';
  const workers = componentOfWorkers(host.team);
  const providers = providerStates(host);
  const components: readonly Component[] = [
    { name: 'API', status: 'healthy' },
    { name: 'Key store', status: keys, ...messageOf(stores) },
    { name: 'Config store', status: configuration },
    { name: 'Request logs', status: logs },
    { name: 'Audit log', status: audit },
    ...(isShared ? [{ name: 'Shared state', status: shared }] : []),
    ...workers,
  ];
  const servers = host.current?.hooks.toolServers.call()?.servers() ?? [];
  const needed = servers.map(({ ready, required }) => (required && !ready ? 'unavailable' : 'available'));
  return {
    status: 200,
    body: {
      status: overall(host, [
        keys,
        configuration,
        logs,
        shared,
        ...[...workers, ...providers].map(({ status }) => status),
        ...needed,
      ]),
      providers,
      components,
      mcp_servers: servers.map(({ name, ready, required, lastError }) => ({
        name: new TextScrubber(host.redactor).name(name),
        ready,
        required,
        last_error: lastError,
      })),
      scopes,
      targets: targetStates(host.current, await loadsOfWorkers(host.team)),
      ...(host.identity.block && {
        identity: { issuers: host.identity.states(), digest: host.identity.block.digest },
      }),
    },
  };
}

interface TargetState {
  readonly name: string;
  readonly registered: boolean;
  readonly circuit: CircuitState;
  readonly in_flight: number;
  readonly waiting: number;
  /** Present for declared instances. */
  readonly routable?: boolean;
  readonly credentials?: Readonly<Record<'ready' | 'resting' | 'benched' | 'unresolved', number>>;
}

/** Targets of the running configuration, in its order, with their calls at this moment. */
function targetStates(current: Generation | undefined, others: readonly TargetLoads[]): TargetState[] {
  const own = loadsOf(current);
  return (current?.targetList ?? []).map((target) => {
    const { virtualKey, provider } = target;
    const { held, waiting, circuit } = summed(virtualKey, own[virtualKey] ?? IDLE, others);
    return {
      name: virtualKey,
      registered: provider !== undefined,
      circuit,
      in_flight: held,
      waiting,
      ...(current && credentialsOf(current, target)),
    };
  });
}

function credentialsOf({ hooks }: Generation, target: Target): Partial<TargetState> {
  const { instance, virtualKey } = target;
  const counts = instance && hooks.credentials.call()?.counts(instance);
  if (!counts) return {};
  const { isRoutable: _isRoutable, ...credentials } = counts;
  return {
    routable: hooks.circuit.call(virtualKey) !== 'open' && hasCredential(target, hooks),
    credentials,
  };
}

const IDLE: TargetLoad = { held: 0, waiting: 0, circuit: 'closed' };

/** None where one process does everything. */
function componentOfWorkers(team: Team): readonly Component[] {
  if (team?.role !== 'primary') return [];
  const message = missingWorkers(team);
  return [
    {
      name: 'Workers',
      status: message === undefined ? 'healthy' : 'unavailable',
      ...(message !== undefined && { message }),
    },
  ];
}

/** The audit log has no say in it. */
function overall(host: Host, statuses: readonly string[]): 'degraded' | 'healthy' | 'no_providers' {
  if (registeredNames(host).size === 0) return 'no_providers';
  return statuses.includes('unavailable') ? 'degraded' : 'healthy';
}

/** Pings have a limit of their own. */
async function answering(store: { ping(): Promise<void> }): Promise<ComponentStatus> {
  return store.ping().then(
    () => 'healthy' as const,
    () => 'unavailable' as const,
  );
}
