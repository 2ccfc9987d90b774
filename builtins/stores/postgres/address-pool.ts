import type pg from 'pg';
import type { Clock, Timer } from '../../../host/common/clock.ts';
import type { ConnectionCounts } from '../../../host/stores/store-connections.ts';
import type { Lane } from '../database/database.ts';
import { begunWith, CONNECT_MS, connectionOf, refusesSettings, startedWith, typesOf } from './address.ts';
import { type LaneLimits, LANE_LIMITS } from './lanes.ts';
import { PooledConnection } from './pooled-connection.ts';
import { Slots } from './slots.ts';

const LIFETIME_MS = 30 * 60 * 1000;
const IDLE_MS = 5 * 60 * 1000;
const MAX_IDLE = 5;
const LOOK_MS = 1000;
/** Milliseconds in which idle connections are asked before they are lent, after one did not answer; and for that question. */
const SUSPECT_MS = 30_000;
const ALIVE_MS = 1000;
/** So many that did not answer in a row, and all idle ones go. */
const IN_A_ROW = 3;
/** Milliseconds that closing waits for what is under way. */
const CLOSE_MS = 3000;

export interface PoolOptions {
  readonly clock: Clock;
  /** Places of each purpose, now. */
  readonly sizes: () => ReadonlyMap<Lane, number>;
  /** Bounds of statements, where they are not those of the purposes. */
  readonly limits?: LaneLimits | undefined;
  /** What is known of the address already. */
  readonly isPooled?: boolean | undefined;
}

/** All connections of this process to one database but the listening one. See docs/stores.md#connections. */
export class AddressPool {
  readonly #dsn: string;
  readonly #driver: typeof pg;
  readonly #options: PoolOptions;
  readonly #slots: Slots;
  /** Idle connections by the place that they were made for, those used last at the end. */
  readonly #idle = new Map<Lane, PooledConnection[]>();
  readonly #lent = new Map<PooledConnection, Lane>();
  #isPooled: boolean | undefined;
  /** Monotonic milliseconds when a statement was last not answered, and how many were not since the last answer. */
  #ranOutAt = Number.NEGATIVE_INFINITY;
  #ranOut = 0;
  #look: Timer | undefined;
  #isClosed = false;
  #isEmpty: (() => void) | undefined;

  constructor(dsn: string, driver: typeof pg, options: PoolOptions) {
    this.#dsn = dsn;
    this.#driver = driver;
    this.#options = options;
    this.#isPooled = options.isPooled;
    this.#slots = new Slots(options.sizes, options.clock);
  }

  /** Whether the address takes no settings with a connection: a pooler stands there. `undefined` before the first connection. */
  get isPooled(): boolean | undefined {
    return this.#isPooled;
  }

  /** Connections that are used, that are idle, and those who wait for one. */
  get counts(): ConnectionCounts {
    const idle = this.#idle.values().reduce((sum, connections) => sum + connections.length, 0);
    return { used: this.#lent.size, idle, waiting: this.#slots.waiting };
  }

  async acquire(lane: Lane, signal?: AbortSignal): Promise<PooledConnection> {
    if (this.#isClosed) throw new Error('the database is closed');
    const place = await this.#slots.take(lane, signal);
    try {
      const connection = (await this.#takeIdle(place)) ?? (await this.#connect(place));
      this.#lent.set(connection, place);
      connection.lend({ clientMs: this.#limits(lane).clientMs, signal });
      return connection;
    } catch (error) {
      this.#slots.giveBack(place);
      throw error;
    }
  }

  release(connection: PooledConnection): void {
    const place = this.#lent.get(connection);
    if (place === undefined) return;
    this.#lent.delete(connection);
    connection.takeBack();
    if (connection.isFree && !this.#isClosed) {
      this.#idleOf(place).push(connection);
      this.#look ??= this.#options.clock.timer(LOOK_MS, () => this.#lookAtIdle());
      this.#slots.giveBack(place);
    } else void connection.end().finally(() => this.#slots.giveBack(place));
    if (this.#lent.size === 0) this.#isEmpty?.();
  }

  /** Throws where a pooler passes no transactions on. */
  async refuseStatementMode(): Promise<void> {
    const connection = await this.acquire('reads');
    try {
      if (!this.#isPooled) return;
      for (const text of ['BEGIN', 'ROLLBACK']) await connection.ask(text, CONNECT_MS);
    } catch (cause) {
      if (!refusesSettings(cause)) throw cause;
      throw new Error('the pooler there passes no transactions on; set its mode to transaction or session', { cause });
    } finally {
      this.release(connection);
    }
  }

  /** Waits a little for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#look?.cancel();
    const idle = [...this.#idle.values()].flat();
    this.#idle.clear();
    const ended = idle.map((connection) => connection.end());
    if (this.#lent.size > 0) await this.#untilReturned();
    for (const connection of this.#lent.keys()) connection.destroy(new Error('the database is closed'));
    await Promise.all(ended);
  }

  async #untilReturned(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#isEmpty = resolve;
    const limit = this.#options.clock.timer(CLOSE_MS, resolve);
    await promise;
    limit.cancel();
  }

  async #takeIdle(place: Lane): Promise<PooledConnection | undefined> {
    const idle = this.#idleOf(place);
    for (let connection = idle.pop(); connection; connection = idle.pop()) {
      if (connection.isFree && !this.#isOld(connection) && (await this.#isTrusted(connection))) return connection;
      await connection.end();
    }
    return undefined;
  }

  #isOld({ bornAt }: PooledConnection): boolean {
    return this.#options.clock.monotonic() - bornAt >= LIFETIME_MS;
  }

  async #isTrusted(connection: PooledConnection): Promise<boolean> {
    if (this.#options.clock.monotonic() - this.#ranOutAt >= SUSPECT_MS && connection.heardAt >= this.#ranOutAt)
      return true;
    return connection.ask('SELECT 1', ALIVE_MS).then(
      () => true,
      () => false,
    );
  }

  /** With settings where the address takes them; it says so once, and may change its mind. */
  async #connect(place: Lane): Promise<PooledConnection> {
    const limits = this.#limits(place);
    if (this.#isPooled !== true) {
      try {
        const connection = await this.#open(limits, false);
        this.#isPooled ??= await this.#forgets(connection, limits);
        if (!this.#isPooled) return connection;
        await connection.end();
      } catch (error) {
        if (!refusesSettings(error)) throw error;
        this.#isPooled = true;
      }
    }
    return this.#open(limits, true);
  }

  async #open(limits: LaneLimits, isPooled: boolean): Promise<PooledConnection> {
    const client = new this.#driver.Client({
      ...connectionOf(this.#dsn),
      ...(!isPooled && startedWith(limits)),
      types: typesOf(this.#driver),
    });
    const connection = new PooledConnection(client, {
      clock: this.#options.clock,
      begunWith: isPooled ? begunWith(limits) : undefined,
      answered: () => {
        this.#ranOut = 0;
      },
      ranOut: () => this.#suspect(),
    });
    try {
      await client.connect();
      if (this.#isClosed) throw new Error('the database is closed');
    } catch (error) {
      connection.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    return connection;
  }

  /** A statement was not answered: idle connections may be dead as well. */
  #suspect(): void {
    this.#ranOutAt = this.#options.clock.monotonic();
    this.#ranOut += 1;
    if (this.#ranOut < IN_A_ROW) return;
    const idle = [...this.#idle.values()].flat();
    this.#idle.clear();
    for (const connection of idle) connection.destroy(new Error('other connections to the database are dead'));
  }

  /** Once a second while any is idle. */
  #lookAtIdle(): void {
    const now = this.#options.clock.monotonic();
    const sizes = this.#options.sizes();
    let surplus = this.counts.idle - MAX_IDLE;
    const oldestFirst = [...this.#idle].flatMap(([place, idle]) => idle.map((connection) => ({ place, connection })));
    for (const { place, connection } of oldestFirst.toSorted(
      (a, b) => a.connection.idleSince - b.connection.idleSince,
    )) {
      const idle = this.#idleOf(place);
      const isTooMany = surplus > 0 || idle.length + this.#slots.used(place) > (sizes.get(place) ?? 0);
      if (!isTooMany && connection.isFree && now - connection.idleSince < IDLE_MS) continue;
      surplus -= 1;
      idle.splice(idle.indexOf(connection), 1);
      this.#slots.hold(place);
      void connection.end().finally(() => this.#slots.giveBack(place));
    }
    this.#look = this.counts.idle > 0 ? this.#options.clock.timer(LOOK_MS, () => this.#lookAtIdle()) : undefined;
  }

  /** Whether a pooler took the settings and dropped them. What the DSN itself sets says nothing of it. */
  async #forgets(connection: PooledConnection, { statementMs }: LaneLimits): Promise<boolean> {
    if (statementMs === 0 || this.#dsn.includes('statement_timeout')) return false;
    const text = "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'";
    const [row] = await connection.ask(text, CONNECT_MS);
    return Number(row?.['setting']) !== statementMs;
  }

  #limits(lane: Lane): LaneLimits {
    return this.#options.limits ?? LANE_LIMITS[lane];
  }

  #idleOf(place: Lane): PooledConnection[] {
    const idle = this.#idle.get(place) ?? [];
    this.#idle.set(place, idle);
    return idle;
  }
}
