import type { RequestLog, SharedState } from '../contract/index.ts';
import type { SharedLimits } from '../state/shared-limits.ts';
import type { SharedPlaces } from '../state/shared-places.ts';
import { StoreClock } from './replicas/store-clock.ts';
import { AccountStore } from './accounts/account-store.ts';
import { AuditStore, type AuditStoreDeps } from './audit/audit-store.ts';
import { type Ledgers, MemoryLedgers } from './ledgers/ledgers.ts';
import { type ConfigurationStore, UnstoredConfiguration } from './configuration-store.ts';
import { type Hints, NO_HINTS } from './replicas/hints.ts';
import { KeyStore } from './keys/key-store.ts';
import { IdentityStore } from './identities/identity-store.ts';
import { Leaders } from './replicas/leaders.ts';
import type { LiveModelStore } from './replicas/live-models.ts';
import { MemoryOwners, type Owners } from './owners.ts';
import { Place } from './place.ts';
import { Principals } from './principals.ts';
import { Replica } from './replicas/replica.ts';
import type { LogReader } from './log/request-log-store.ts';
import { MemoryRunningResponses, type RunningResponses } from './ledgers/running-responses.ts';
import { StoreConnections } from './store-connections.ts';
import type { SessionStore } from './sessions/session-store.ts';
import { SharedResources } from './shared-resources.ts';
import type { SpendLedger } from './spend/spend-ledger.ts';
import { StoresEnd } from './stores-end.ts';

/** What a builtin may supply in `open`, and what stands there without one. */
export interface Stores {
  /** The time of keys, sessions and audit trail: their database's, where several processes use it. */
  readonly clock: StoreClock;
  /** The time of another database. */
  readonly newClock: () => StoreClock;
  /** This process among those that share a store. */
  readonly replica: Replica;
  /** Which jobs this process does on shared stores. */
  readonly leaders: Leaders;
  /** Keys that are made and revoked. Without a store: the memory of this process. */
  readonly keys: KeyStore;
  /** Accounts and tags that administrators made, and raises, as the keys. */
  readonly accounts: AccountStore;
  /** Sessions of the dashboard, as the keys. */
  readonly sessions: SessionStore;
  /** People and programs of issuers, as the keys. */
  readonly identities: IdentityStore;
  /** Who administered what, as the keys. */
  readonly audit: AuditStore;
  /** Whose a credential is: the environment's, a stored key's, a session's. */
  readonly principals: Principals;
  /** Where rows of the request log go. Without a store they go nowhere. */
  readonly requestLog: Place<RequestLog | undefined>;
  /** What reads the rows, and deletes them. Without a store there is nothing to read. */
  readonly logReader: Place<LogReader | undefined>;
  /** Where changes of the configuration are kept. Without a store: nowhere, the file counts at the next start. */
  readonly configuration: Place<ConfigurationStore>;
  /** What providers serve, for all replicas. Without a store each asks for itself. */
  readonly liveModels: Place<LiveModelStore | undefined>;
  /** What replicas say to each other in passing. Without a store: nothing. */
  readonly hints: Place<Hints>;
  /** What replicas share. Without a store: the memory of this process. */
  readonly state: Place<SharedState>;
  /** Buckets that replicas take from together. Without a store each limit is held by each process. */
  readonly limits: Place<SharedLimits | undefined>;
  /** Places of calls that replicas take together. Without a store they are counted by each process. */
  readonly places: Place<SharedPlaces | undefined>;
  /** What is spent, by key. Without a store: the memory of this process. */
  readonly ledgers: Place<Ledgers>;
  /** What all requests have cost. `undefined` where it is switched off. */
  readonly spend: Place<SpendLedger | undefined>;
  /** Whose files and responses are. Without a store: the memory of this process. */
  readonly owners: Place<Owners>;
  /** Responses whose usage comes later. Without a store: the memory of this process. */
  readonly running: Place<RunningResponses>;
  /** How long all of them together may go on writing once the process ends. */
  readonly end: StoresEnd;
  /** Connections to databases that have a pool of them. */
  readonly connections: StoreConnections;
  /** What stores have in common. */
  readonly shared: SharedResources;
}

/** What the stores need of the host. */
export interface StoresDeps extends AuditStoreDeps {
  /** The time of a store that several processes use: its database's unless given. */
  readonly newClock?: (() => StoreClock) | undefined;
}

export function createStores(memory: SharedState, given: StoresDeps): Stores {
  const { newClock = () => new StoreClock(given.clock) } = given;
  const clock = newClock();
  const end = new StoresEnd(given.clock);
  const deps = { ...given, clock, end };
  const audit = new AuditStore(deps);
  const keys = new KeyStore({
    ...deps,
    mended: ({ action, id }) =>
      audit.append({ action, actor: 'gateway', targetId: id, outcome: 'error', detail: { mended: true } }),
  });
  const identities = new IdentityStore(deps, keys.link);
  const principals = new Principals(deps, keys, identities);
  return {
    clock,
    newClock,
    replica: new Replica(given.randomBytes),
    leaders: new Leaders(),
    keys,
    accounts: new AccountStore({ ...deps }, keys.link),
    sessions: principals.sessions,
    identities,
    audit,
    principals,
    requestLog: new Place<RequestLog | undefined>('request log', 'disabled', undefined),
    logReader: new Place<LogReader | undefined>('reader of the request log', 'disabled', undefined),
    configuration: new Place<ConfigurationStore>('configuration store', 'memory', new UnstoredConfiguration(clock.now)),
    liveModels: new Place<LiveModelStore | undefined>('live models', 'memory', undefined),
    hints: new Place<Hints>('hints', 'memory', NO_HINTS),
    state: new Place<SharedState>('shared state', 'memory', memory),
    limits: new Place<SharedLimits | undefined>('shared limits', 'memory', undefined),
    places: new Place<SharedPlaces | undefined>('shared places', 'memory', undefined),
    ledgers: new Place<Ledgers>('ledgers', 'memory', new MemoryLedgers(deps)),
    spend: new Place<SpendLedger | undefined>('spend', 'off', undefined),
    owners: new Place<Owners>('owners', 'memory', new MemoryOwners()),
    running: new Place<RunningResponses>('running responses', 'memory', new MemoryRunningResponses(clock.now)),
    end,
    connections: new StoreConnections(),
    shared: new SharedResources(),
  };
}

/** From here on nothing can be supplied any more. */
export function sealStores({
  leaders,
  keys,
  accounts,
  sessions,
  identities,
  audit,
  principals,
  requestLog,
  logReader,
  configuration,
  liveModels,
  hints,
  state,
  limits,
  places,
  ledgers,
  spend,
  owners,
  running,
}: Stores): void {
  for (const place of [
    leaders,
    keys,
    accounts,
    sessions,
    identities,
    audit,
    principals,
    requestLog,
    logReader,
    configuration,
    liveModels,
    hints,
    state,
    limits,
    places,
    ledgers,
    spend,
    owners,
    running,
  ])
    place.seal();
}
