import type pg from 'pg';
import type { Host } from '../../../host/host.ts';
import { closeInTurn } from '../../../host/common/close-all.ts';
import type { StoreClock } from '../../../host/stores/replicas/store-clock.ts';
import type { JobFamily } from '../../../host/stores/replicas/leaders.ts';
import type { Database } from '../database/database.ts';
import { Listener } from '../database/listen.ts';
import { bringUp } from '../database/bring-up.ts';
import type { Schema } from '../database/migrate.ts';
import { openForMigrations } from '../database/postgres.ts';
import { addressOf, connectionOf } from '../postgres/address.ts';
import type { Role } from '../postgres/lanes.ts';
import { openSharedPostgres, rolesAt } from '../postgres/shared-pool.ts';
import { Beat, type BeatEar } from './beat.ts';
import { factsOf } from './facts.ts';
import { KEY_CHANNEL, KeyChanges } from './key-changes.ts';
import { REPLICA_SCHEMA, SHARED_SCHEMA } from './replica-schema.ts';
import { isSameDatabase } from './same-database.ts';
import { BEAT_LIMIT_MS, type BeatStore, SqlBeat, timeOfDatabase } from './sql-beat.ts';
import { type Sweep, Upkeep } from './upkeep.ts';

/** The number of a version of the configuration that was stored. */
export const CONFIG_CHANNEL = 'gw_config_changes';

/** Where a pooler lends any session. */
const ADVICE =
  'set API_KEY_STORE_LISTEN_DSN to the address of the server itself; until then they are heard of within 5 s';
/** Who needs no listening connection hears nothing. */
const NO_EAR: BeatEar = { sending: () => {}, answered: () => {}, moved: () => {} };

const FAMILIES: Readonly<Record<Role, JobFamily>> = { keys: 'keys', configuration: 'config', log: 'log' };

/** What stands at one address, by the settings of all stores. */
interface Plan {
  readonly dsn: string;
  /** The way to the server itself, where the other is one of a pooler. */
  readonly listenDsn: string | undefined;
  readonly families: readonly JobFamily[];
}

/**
 * What this process has of one database of Postgres, whichever of its stores stand there: its clock, beats, what is heard of other processes, and
 * the tables that all of them share. A store that is opened there leases it.
 */
export class Site {
  readonly clock: StoreClock;
  readonly #keyChanges: KeyChanges | undefined;
  readonly #host: Host;
  readonly #plan: Plan;
  readonly #listener: Listener | undefined;
  #database: Database | undefined;
  #beat: Beat | undefined;
  #upkeep: Upkeep | undefined;
  #opening: Promise<void> | undefined;

  constructor(host: Host, plan: Plan) {
    this.#host = host;
    this.#plan = plan;
    const { clock } = host.services;
    const hasKeys = plan.families.includes('keys');
    this.clock = hasKeys ? host.stores.clock : host.stores.newClock();
    const channels = [...(hasKeys ? [KEY_CHANNEL] : []), ...(plan.families.includes('config') ? [CONFIG_CHANNEL] : [])];
    if (channels.length === 0) return;
    this.#listener = new Listener({
      clock,
      log: host.log,
      client: () => listeningClient(plan.listenDsn ?? plan.dsn),
      replica: host.stores.replica,
      channels,
      advice: hasKeys ? ADVICE : 'give the address of the server itself',
    });
    this.#keyChanges = hasKeys ? new KeyChanges(this.#listener, host.stores.replica.id) : undefined;
  }

  /** Throws where no keys stand. */
  get keyChanges(): KeyChanges {
    if (!this.#keyChanges) throw new Error('no keys stand in this database');
    return this.#keyChanges;
  }

  /** By the first who leases it; others wait for that. */
  open(): Promise<void> {
    return (this.#opening ??= this.#open());
  }

  /** Brings tables up to date, by the way to the server itself: what migrations do takes sessions. */
  async migrate(...schemas: readonly Schema[]): Promise<void> {
    const { dsn, listenDsn } = this.#plan;
    const way = listenDsn === undefined ? { dsn, isPooled: this.#database?.isPooled ?? false } : { dsn: listenDsn };
    await withDatabase(way, async (database) => {
      const { log, settings } = this.#host;
      await bringUp(database, schemas, { log, now: this.clock.now, migrates: settings.migrates });
    });
  }

  /** Calls with what some process announced of the configuration: the number of a version that it stored, or a hint. This one's own too. */
  onConfiguration(announced: (text: string) => void): void {
    this.#listener?.on(CONFIG_CHANNEL, announced);
  }

  /** Has the leader of what stands there remove what is over, slice by slice, once a minute. */
  readonly keepUp = (sweeps: readonly Sweep[]): void => {
    this.#upkeep?.add(sweeps);
  };

  async close(): Promise<void> {
    await closeInTurn([
      () => this.#opening?.catch(() => {}),
      () => this.#upkeep?.close(),
      () => this.#beat?.close(),
      () => this.#listener?.close(),
      () => this.#database?.close(),
    ]);
  }

  async #open(): Promise<void> {
    const { host, dsn, families, listenDsn } = { host: this.#host, ...this.#plan };
    const hasKeys = families.includes('keys');
    const database = await openSharedPostgres(host, dsn);
    this.#database = database;
    if (listenDsn !== undefined) await refuseOther(database, listenDsn);
    await this.#readClock(database);
    await this.migrate(SHARED_SCHEMA, ...(hasKeys ? [REPLICA_SCHEMA] : []));
    const store = new SqlBeat(database, hasKeys);
    const beat = await this.#beatOn(store);
    this.#beat = beat;
    for (const family of families) host.stores.leaders.supply(family, () => beat.isLeader(family));
    await this.#listener?.open();
    await beat.open();
    this.#upkeep = this.#keepingUp(store, beat);
  }

  async #beatOn(store: BeatStore): Promise<Beat> {
    const { log, services, stores } = this.#host;
    return new Beat({
      clock: services.clock,
      log,
      time: this.clock,
      replica: stores.replica,
      facts: await factsOf(this.#host),
      store,
      families: this.#plan.families,
      ear: this.#listener ?? NO_EAR,
    });
  }

  /** By the leader of whatever stands there. */
  #keepingUp(store: SqlBeat, beat: Beat): Upkeep {
    const { log, services } = this.#host;
    const [family] = this.#plan.families;
    const upkeep = new Upkeep({
      clock: services.clock,
      log,
      isLeader: () => family !== undefined && beat.isLeader(family),
    });
    upkeep.add(store.sweeps);
    return upkeep;
  }

  /** Before anything is written there. */
  async #readClock(database: Database): Promise<void> {
    const { monotonic } = this.#host.services.clock;
    const askedAt = monotonic();
    const time = await timeOfDatabase(database);
    this.clock.read({ askedAt, answeredAt: monotonic(), time });
  }
}

/** By a way of its own, for as long as the work takes. */
async function withDatabase<T>(
  { dsn, isPooled }: { readonly dsn: string; readonly isPooled?: boolean },
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openForMigrations(dsn, isPooled);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function listeningClient(dsn: string): Promise<pg.Client> {
  const {
    default: { Client },
  } = await import('pg');
  return new Client({ ...connectionOf(dsn), query_timeout: BEAT_LIMIT_MS });
}

async function refuseOther(database: Database, listenDsn: string): Promise<void> {
  if (!(await withDatabase({ dsn: listenDsn }, (direct) => isSameDatabase(direct, database))))
    throw new Error(
      'API_KEY_STORE_LISTEN_DSN reaches another database than API_KEY_STORE_DSN; give the address of the same one',
    );
}

/** The site at an address, for as long as it is not released. */
export interface LeasedSite {
  readonly site: Site;
  readonly release: () => Promise<void>;
}

/** Opens what this process has at an address, or joins those of its stores that have. */
export async function leaseSite(host: Host, dsn: string): Promise<LeasedSite> {
  const address = await addressOf(dsn);
  const roles = await rolesAt(host, address);
  const plan: Plan = {
    dsn,
    listenDsn: roles.includes('keys') ? host.settings.keyStore.listenDsn : undefined,
    families: roles.map((role) => FAMILIES[role]),
  };
  const view = host.carryover.open();
  const site = view.lease(
    `what is shared at ${address}`,
    () => new Site(host, plan),
    (opened) => opened.close(),
  );
  try {
    await site.open();
  } catch (error) {
    await view.release();
    throw error;
  }
  return { site, release: () => view.release() };
}
