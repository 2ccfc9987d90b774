import type { Clock } from '../../common/clock.ts';
import type { SharedState } from '../../contract/index.ts';
import type { CarryoverStore } from '../../generation/carryover.ts';
import { GroupedBuckets } from '../../state/grouped-buckets.ts';
import type { Ask, SharedLimits } from '../../state/shared-limits.ts';
import type { BoundedLimits } from '../../stores/bounded-limits.ts';
import type { Uses } from '../../stores/keys/key-repository.ts';
import type { GivenRow } from '../../stores/log/row-values.ts';
import type { LiveModels, LiveModelStore } from '../../stores/replicas/live-models.ts';
import type { SpendRow } from '../../stores/spend/spend-row.ts';
import { LOOKUP_LIMIT_MS } from '../../stores/store-link.ts';
import type { Stores } from '../../stores/stores.ts';
import { FlightBook, serveFlights } from '../flights.ts';
import { ROWS, type TravellingRow } from './remote-log.ts';
import { serveMethods } from './remote-methods.ts';
import { CALLED, type Freshness, STORE_TOPIC, type StoreFacts } from './remote-stores.ts';
import { serveLedgers } from './serve-ledgers.ts';
import { localPlaces, relayPlaces } from '../places.ts';
import { type PrimaryTeam, type Seat, TOPIC } from '../team.ts';

/** Milliseconds that a reading of keys waits for the uses that workers have counted. */
const USES_MS = 1000;

export interface ServedStoresHost {
  readonly stores: Stores;
  readonly carryover: CarryoverStore;
  readonly limits: BoundedLimits;
  /** Shared state as plugins get it. */
  readonly state: SharedState;
  readonly services: { readonly clock: Clock };
}

/** Before the places are sealed: workers share what one process would keep by itself. */
export function supplyShared({ stores, services: { clock } }: ServedStoresHost, team: PrimaryTeam): void {
  const flight = serveFlights(team, new FlightBook(clock.monotonic));
  const { backend, value: state } = stores.state;
  if (!stores.state.isTaken) stores.state.supply(backend, { ...state, sharesValues: true, flight });
  if (stores.places.value) relayPlaces(team, stores.places.value);
  else stores.places.supply('workers', localPlaces(team, clock.monotonic));
  if (!stores.limits.isTaken) stores.limits.supply('workers', new LocalLimits(clock));
  if (!stores.liveModels.isTaken) stores.liveModels.supply('memory', new LocalModels());
}

/** Answers what workers ask of the stores. */
export function serveStores(host: ServedStoresHost, team: PrimaryTeam): void {
  const { stores, limits, state } = host;
  const { keys, sessions, accounts, configuration, owners, running, liveModels, hints, spend } = stores;
  team.on(STORE_TOPIC.facts, () => factsOf(stores));
  team.on(TOPIC.beat, () => freshnessOf(host));
  team.on('keys.findAll', (args) => {
    const [digests] = args as [readonly string[]];
    return keys.link.ask(() => keys.repository.findAll(digests), LOOKUP_LIMIT_MS);
  });
  team.on('keys.get', (args) => {
    const [id] = args as [string];
    return keys.link.ask(() => keys.repository.get(id), LOOKUP_LIMIT_MS);
  });
  team.on('keys.ping', () => keys.ping());
  serveMethods(team, 'keys', {
    names: ['accountCounts', 'page', 'placeOf', 'count', 'usage', 'totals'],
    thing: () => keys.repository,
  });
  serveUses(stores, team);
  team.on('sessions.findAll', (args) => {
    const [digests] = args as [readonly string[]];
    return sessions.link.ask(() => sessions.repository.findAll(digests), LOOKUP_LIMIT_MS);
  });
  serveMethods(team, 'sessions', { names: ['touch', 'ping'], thing: () => sessions.repository });
  serveMethods(team, 'accounts', { names: CALLED.accounts, thing: () => accounts.repository });
  serveMethods(team, 'configuration', { names: CALLED.configuration, thing: () => configuration.value });
  serveMethods(team, 'owners', { names: CALLED.owners, thing: () => owners.value });
  serveMethods(team, 'running', { names: CALLED.running, thing: () => running.value });
  serveMethods<LiveModelStore>(team, 'liveModels', {
    names: CALLED.liveModels,
    thing: () => liveModels.value ?? new LocalModels(),
  });
  serveMethods(team, 'state', { names: CALLED.state, thing: () => state });
  serveMethods(team, 'limits', { names: CALLED.limits, thing: () => limits });
  team.on(STORE_TOPIC.spend, (row) => spend.value?.add(row as SpendRow));
  team.on(STORE_TOPIC.hint, (value) => {
    const { kind, value: said } = value as { readonly kind: 'catalog'; readonly value: string };
    hints.value.send(kind, said);
  });
  hints.value.on('catalog', (said) => team.tellAll(STORE_TOPIC.hint, said));
  team.on(ROWS, (rows) => takeRows(stores, rows as readonly TravellingRow[]));
  serveLedgers(host, team);
}

function factsOf({ keys, sessions, accounts, configuration, owners, state, requestLog, spend }: Stores): StoreFacts {
  return {
    backends: {
      keys: keys.backend,
      sessions: sessions.backend,
      accounts: accounts.backend,
      configuration: configuration.backend,
      owners: owners.backend,
      state: state.backend,
    },
    isConfigurationDurable: configuration.value.isDurable,
    hasLog: requestLog.value !== undefined,
    hasSpend: spend.value !== undefined,
  };
}

function freshnessOf({ stores: { keys, clock }, services }: ServedStoresHost): Freshness {
  const { freshSince } = keys;
  const isKnown = freshSince !== undefined && Number.isFinite(freshSince);
  return {
    freshForMs: isKnown ? services.clock.monotonic() - freshSince : undefined,
    time: clock.machineAheadMs === undefined ? undefined : clock.now(),
  };
}

/** Each batch is counted once, though a worker that waited too long for the answer sends it again. */
function serveUses({ keys }: Stores, team: PrimaryTeam): void {
  const counted = new WeakMap<Seat, number>();
  team.on('keys.addUses', (args, seat) => {
    const [uses, number] = args as [readonly Uses[], number];
    if (number <= (counted.get(seat) ?? 0)) return;
    counted.set(seat, number);
    keys.addUses(uses);
  });
  keys.beforeReads = async () => {
    await team.askAll(STORE_TOPIC.uses, { limitMs: USES_MS });
  };
}

/** A store that takes rows which another process has put together. */
interface TakesGiven {
  takeGiven(row: GivenRow, annotates: TravellingRow['annotates']): void;
}

function takeRows({ requestLog: { value: log } }: Stores, rows: readonly TravellingRow[]): void {
  if (!log || !('takeGiven' in log)) return;
  for (const { row, annotates } of rows) (log as unknown as TakesGiven).takeGiven(row, annotates);
}

/** Buckets in the memory of the primary, which all workers take from. */
class LocalLimits implements SharedLimits {
  readonly isUp = true;
  readonly replicas = 1;
  readonly #buckets = new GroupedBuckets();
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  async takeAll(asks: readonly Ask[]): ReturnType<SharedLimits['takeAll']> {
    const now = this.#clock.monotonic();
    for (const [index, { key, spec, floor }] of asks.entries()) {
      const { taken, retryAfterMs } = this.#buckets.of(spec.group).take(key, spec, now, 0, floor);
      if (!taken) return { refusedAt: index, retryAfterMs, levels: [] };
    }
    const levels = asks.map(({ key, spec, cost }) => {
      const buckets = this.#buckets.of(spec.group);
      if (cost !== 0) buckets.take(key, spec, now, cost, Number.NEGATIVE_INFINITY);
      return buckets.level(key, spec, now);
    });
    return { refusedAt: undefined, retryAfterMs: 0, levels };
  }
}

/** What providers serve, in the memory of the primary. */
class LocalModels implements LiveModelStore {
  readonly #models = new Map<string, LiveModels extends ReadonlyMap<string, infer M> ? M : never>();
  readonly isLeader = (): boolean => true;
  readonly onModels = (): void => {};

  async read(): Promise<LiveModels> {
    return this.#models;
  }

  async keep(provider: string, models: Parameters<LiveModelStore['keep']>[1]): Promise<void> {
    this.#models.set(provider, models);
  }
}
