import type { Knex } from 'knex';
import type pg from 'pg';
import type { Log } from '../../../host/contract/index.ts';
import type { Clock, Timer } from '../../../host/common/clock.ts';
import type { ChangeFeed } from '../../../host/stores/change-feed.ts';
import { connectionOf } from '../postgres/address.ts';

export type Changed = 'key' | 'session';

/** Lets other processes know of a change, in its transaction; without an id, of any. */
export type Tell = (trx: Knex.Transaction, what: Changed, id: string | undefined) => Promise<void>;

/** A database of this process alone. */
export const tellNobody: Tell = async () => {};

const CHANNEL = 'gw_key_changes';
/** Milliseconds between two signs that the connection lives, and for one of them. */
const BEAT_MS = 2000;
/** Milliseconds after which what was read is asked again while nothing can be heard. */
export const STALE_MS = 5000;

/**
 * What other processes change on Postgres, heard of on a connection of its own: within a second as long as it lives. It is looked
 * after every two seconds; while it is down, memory goes by nothing that was read more than five seconds ago.
 */
export class Listener {
  readonly #dsn: string;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Tells this process's own changes from those of others. */
  readonly #origin: string;
  readonly #told: Readonly<Record<Changed, ((id: string | undefined) => void)[]>> = { key: [], session: [] };
  #client: pg.Client | undefined;
  /** Monotonic milliseconds: since then nothing was missed. */
  #listensSince = Number.POSITIVE_INFINITY;
  #heardAt = Number.NEGATIVE_INFINITY;
  #next: Timer | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isClosed = false;
  #isDown = false;

  constructor(dsn: string, origin: string, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#dsn = dsn;
    this.#origin = origin;
    this.#clock = clock;
    this.#log = log;
  }

  readonly tell: Tell = async (trx, what, id) => {
    await trx.raw('SELECT pg_notify(?, ?)', [CHANNEL, `${this.#origin} ${what} ${id ?? ''}`]);
  };

  feed(what: Changed): ChangeFeed {
    return {
      freshSince: () => {
        const now = this.#clock.monotonic();
        return now - this.#heardAt < STALE_MS ? Math.min(this.#listensSince, now) : now - STALE_MS;
      },
      onChange: (changed) => {
        this.#told[what].push(changed);
      },
    };
  }

  /** The first connection is waited for; those after it come when they come. */
  async open(): Promise<void> {
    this.#beating = this.#beat();
    await this.#beating;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#beating;
    await this.#drop();
  }

  async #beat(): Promise<void> {
    try {
      if (this.#client) await this.#client.query('SELECT 1');
      else await this.#connect();
      this.#heardAt = this.#clock.monotonic();
      if (this.#isDown) this.#log.info('changes by other processes are heard of at once again');
      this.#isDown = false;
    } catch (error) {
      if (!this.#isDown)
        this.#log.warn(
          `changes by other processes cannot be heard of; keys are looked up again every ${STALE_MS / 1000} s`,
          { error },
        );
      this.#isDown = true;
      await this.#drop();
    }
    if (!this.#isClosed)
      this.#next = this.#clock.timer(BEAT_MS, () => {
        this.#beating = this.#beat();
      });
  }

  async #connect(): Promise<void> {
    const {
      default: { Client },
    } = await import('pg');
    const client = new Client({ ...connectionOf(this.#dsn), query_timeout: BEAT_MS });
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    this.#client = client;
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    this.#listensSince = this.#clock.monotonic();
  }

  #hear(payload: string): void {
    const [origin, what = '', id = ''] = payload.split(' ');
    if (origin === this.#origin || !(what === 'key' || what === 'session')) return;
    for (const told of this.#told[what]) told(id === '' ? undefined : id);
  }

  /** At once, so that nothing in memory counts for longer than it may; the next beat connects again. */
  #lose(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#listensSince = Number.POSITIVE_INFINITY;
    this.#heardAt = Number.NEGATIVE_INFINITY;
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    this.#lose(client);
    await client.end().catch(() => {}); // it is broken already
  }
}
