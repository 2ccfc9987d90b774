import type { SharedState } from '../../contract/index.ts';
import type { Counters } from '../../contract/index.ts';
import type { Clock } from '../../common/clock.ts';
import type { Redactor } from '../../log/redact.ts';
import type { Ask, AllTaken, SharedLimits } from '../../state/shared-limits.ts';
import type { AccountRepository } from '../../stores/accounts/account-repository.ts';
import type { ChangeFeed } from '../../stores/change-feed.ts';
import type { ConfigurationStore } from '../../stores/configuration-store.ts';
import type { KeyRepository } from '../../stores/keys/key-repository.ts';
import type { RunningResponses } from '../../stores/ledgers/running-responses.ts';
import type { Owners } from '../../stores/owners.ts';
import type { Hints } from '../../stores/replicas/hints.ts';
import type { LiveModelStore } from '../../stores/replicas/live-models.ts';
import type { SessionRepository } from '../../stores/sessions/session-record.ts';
import type { SpendLedger } from '../../stores/spend/spend-ledger.ts';
import type { ChangedThing } from '../../stores/store-deps.ts';
import type { Stores } from '../../stores/stores.ts';
import type { Channel } from '../channel.ts';
import { remoteFlight } from '../flights.ts';
import { RemoteLedgers } from './remote-ledgers.ts';
import { RemoteLog } from './remote-log.ts';
import { remoteMethods } from './remote-methods.ts';
import { remotePlaces } from '../places.ts';
import type { WorkerTeam } from '../team.ts';

/** What workers call of each store of the primary. */
export const CALLED = {
  keys: ['findAll', 'get', 'addUses', 'ping', 'accountCounts', 'page', 'placeOf', 'count', 'usage', 'totals'],
  sessions: ['findAll', 'touch', 'ping'],
  accounts: ['all', 'get', 'raises', 'raisesOf'],
  configuration: ['newest', 'history', 'ping'],
  owners: ['add', 'foreignOf'],
  running: ['add', 'take'],
  liveModels: ['read', 'keep'],
  state: ['take', 'add', 'get', 'set', 'delete'],
  limits: ['takeAll'],
} as const satisfies {
  readonly keys: readonly (keyof KeyRepository)[];
  readonly sessions: readonly (keyof SessionRepository)[];
  readonly accounts: readonly (keyof AccountRepository)[];
  readonly configuration: readonly (keyof ConfigurationStore)[];
  readonly owners: readonly (keyof Owners)[];
  readonly running: readonly (keyof RunningResponses)[];
  readonly liveModels: readonly (keyof LiveModelStore)[];
  readonly state: readonly (keyof SharedState)[];
  readonly limits: readonly (keyof SharedLimits)[];
};

export const STORE_TOPIC = {
  changed: 'changed',
  uses: 'uses',
  models: 'models',
  hint: 'hint',
  spend: 'spend',
  facts: 'facts',
} as const;

/** What keys, sessions and accounts are read by: what is another by now, by its id; without one anything. */
export interface ChangedWord {
  readonly what: ChangedThing;
  readonly id: string | undefined;
}

/** What a worker must know of the primary's stores as it starts. */
export interface StoreFacts {
  readonly backends: Readonly<Record<'keys' | 'sessions' | 'accounts' | 'configuration' | 'owners' | 'state', string>>;
  readonly isConfigurationDurable: boolean;
  readonly hasLog: boolean;
  readonly hasSpend: boolean;
}

/** What the primary says of the age of what is known, with each beat. */
export interface Freshness {
  /** Milliseconds ago since when what was read is still so; `undefined` where no other process changes the store. */
  readonly freshForMs: number | undefined;
  /** The time of the stores, where it is a database's. */
  readonly time: number | undefined;
}

/** Milliseconds without a word of the primary after which what is in memory counts as no younger. */
const DEAF_MS = 5000;

/** Hears of changes through the primary, which has heard of them. */
export class PrimaryFeed implements ChangeFeed {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #listeners: ((id: string | undefined) => void)[] = [];
  #heardAt: number;
  #freshForMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#heardAt = clock.monotonic();
  }

  freshSince(): number {
    const now = this.#clock.monotonic();
    if (now - this.#heardAt > DEAF_MS) return now - DEAF_MS;
    return this.#freshForMs === undefined ? Number.NEGATIVE_INFINITY : this.#heardAt - this.#freshForMs;
  }

  onChange(changed: (id: string | undefined) => void): void {
    this.#listeners.push(changed);
  }

  heard({ freshForMs }: Freshness): void {
    this.#heardAt = this.#clock.monotonic();
    this.#freshForMs = freshForMs;
  }

  tell(id: string | undefined): void {
    for (const listener of this.#listeners) listener(id);
  }
}

export interface RemoteStoresHost {
  readonly stores: Stores;
  readonly redactor: Redactor;
  readonly services: { readonly clock: Clock; readonly counters: Counters };
}

/** What a worker hears of the primary, and asks it last. */
export interface WorkerStores {
  readonly feeds: Readonly<Record<ChangedThing, PrimaryFeed>>;
  readonly log: RemoteLog | undefined;
}

/** Fills the places of a worker's stores with those of the primary. */
export async function supplyRemoteStores(
  { stores, redactor, services: { clock, counters } }: RemoteStoresHost,
  { channel, given: { size } }: WorkerTeam,
): Promise<WorkerStores> {
  const { backends, isConfigurationDurable, hasLog, hasSpend } = await channel.ask<StoreFacts>(STORE_TOPIC.facts);
  const feeds = { key: new PrimaryFeed(clock), session: new PrimaryFeed(clock), account: new PrimaryFeed(clock) };
  stores.keys.supply(backends.keys, remoteMethods<KeyRepository>(channel, 'keys', CALLED.keys), feeds.key);
  stores.sessions.supply(
    backends.sessions,
    remoteMethods<SessionRepository>(channel, 'sessions', CALLED.sessions),
    feeds.session,
  );
  await stores.accounts.supply(
    backends.accounts,
    remoteMethods<AccountRepository>(channel, 'accounts', CALLED.accounts),
    feeds.account,
  );
  stores.ledgers.supply('primary', new RemoteLedgers(channel, clock));
  stores.owners.supply(backends.owners, remoteMethods<Owners>(channel, 'owners', CALLED.owners));
  stores.running.supply('primary', {
    ...remoteMethods<RunningResponses>(channel, 'running', CALLED.running),
    mayHold: true, // only the primary knows
  });
  stores.configuration.supply(backends.configuration, {
    ...remoteMethods<ConfigurationStore>(channel, 'configuration', CALLED.configuration),
    isDurable: isConfigurationDurable,
  });
  stores.liveModels.supply('primary', remoteModels(channel));
  stores.hints.supply('primary', remoteHints(channel));
  stores.state.supply(backends.state, {
    ...remoteMethods<SharedState>(channel, 'state', CALLED.state),
    sharesValues: true,
    flight: remoteFlight(channel, clock),
  });
  stores.limits.supply('primary', remoteLimits(channel, size));
  stores.places.supply('primary', remotePlaces(channel));
  if (hasSpend) stores.spend.supply('primary', remoteSpend(channel));
  const log = hasLog
    ? new RemoteLog({
        channel,
        redactor,
        clock,
        dropped: (rows) => counters.add('gateway_observability_events_dropped_total', { subject: 'request_log' }, rows),
      })
    : undefined;
  if (log) stores.requestLog.supply('primary', log);
  return { feeds, log };
}

/** The primary is the one that asks providers. */
function remoteModels(channel: Channel): LiveModelStore {
  return {
    ...remoteMethods<LiveModelStore>(channel, 'liveModels', CALLED.liveModels),
    isLeader: () => false,
    onModels: (changed) => channel.on(STORE_TOPIC.models, changed),
  };
}

function remoteHints(channel: Channel): Hints {
  return {
    send: (kind, value) => channel.tell(STORE_TOPIC.hint, { kind, value }),
    on: (_kind, heard) => channel.on(STORE_TOPIC.hint, (value) => heard(String(value))),
  };
}

/** The primary holds every bucket, or asks the server that replicas share. */
function remoteLimits(channel: Channel, size: number): SharedLimits {
  return {
    takeAll: (asks: readonly Ask[]): Promise<AllTaken> => channel.ask('limits.takeAll', [asks]),
    isUp: true,
    replicas: size,
  };
}

/** Rows go to the primary; who reads or enters spend asks a route of the primary. */
function remoteSpend(channel: Channel): SpendLedger {
  const refuse = (): Promise<never> => Promise.reject(new Error('a worker keeps no spend'));
  return { add: (row) => channel.tell(STORE_TOPIC.spend, row), read: refuse, enter: refuse };
}
