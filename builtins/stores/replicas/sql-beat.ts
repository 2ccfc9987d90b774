import type { JobFamily } from '../../../host/stores/replicas/leaders.ts';
import { type Database, rowsOf } from '../database/database.ts';
import type { Sweep } from './upkeep.ts';
import { LEASES, REPLICAS, WRITERS } from './replica-schema.ts';

/** What others know of a process, beside its id. */
export interface ReplicaFacts {
  readonly host: string;
  readonly version: string;
  readonly pid: number;
  /** The boot of its machine; empty where the system does not say it. */
  readonly boot: string;
}

export interface BeatCall {
  readonly id: string;
  /** What comes back on the channel of this process, where it listens. */
  readonly nonce: string;
  /** Families whose leases are taken, or renewed. */
  readonly families: readonly JobFamily[];
  /** Milliseconds that the machine's clock is ahead. */
  readonly offsetMs: number | undefined;
}

export interface BeatAnswer {
  /** Unix milliseconds, by the database. */
  readonly time: number;
  /** The row of this process was renewed; true where the database keeps none. */
  readonly isMember: boolean;
  /** Families whose leases this process holds. */
  readonly leads: readonly string[];
}

/** What beats of a process do in one database. Each method is one statement outside of any transaction. */
export interface BeatStore {
  join(id: string, facts: ReplicaFacts): Promise<void>;
  beat(call: BeatCall): Promise<BeatAnswer>;
  /** Others may take its leases at once. */
  giveLeasesAway(id: string): Promise<void>;
  leave(id: string): Promise<void>;
}

/** Seconds for which a row and a lease hold, by the database's clock. Its holder goes by less (`FENCE_MS` in beat.ts). */
const LEASE = "interval '15 seconds'";
/** The numbers of layouts and rules that a process shares limits by; 0 shares none. */
const PROTOCOL = 0;
/** Names the channel of a process; the rest is its id. */
export const BEAT_CHANNEL = 'gw_beat_';

const RENEWED = `renewed AS (
  UPDATE ${REPLICAS} SET seen_at = clock_timestamp(), until = clock_timestamp() + ${LEASE}, offset_ms = :offset
  WHERE id = :id AND until > clock_timestamp() RETURNING id)`;

/** A lease of another is not locked: only its end makes it one that can be taken. */
const LED = `taken AS (
  UPDATE ${LEASES} SET holder = :id, until = clock_timestamp() + ${LEASE}
  WHERE name = ANY(CAST(:families AS TEXT[])) AND (holder = :id OR until <= clock_timestamp()) RETURNING name
), made AS (
  INSERT INTO ${LEASES} (name, holder, until) SELECT name, :id, clock_timestamp() + ${LEASE} FROM unnest(CAST(:families AS TEXT[])) AS wanted (name)
  WHERE NOT EXISTS (SELECT 1 FROM ${LEASES} AS known WHERE known.name = wanted.name) ON CONFLICT DO NOTHING RETURNING name)`;

const TIME = 'CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION) * 1000';
/** Milliseconds in which a beat is answered, and in which it comes back. */
export const BEAT_LIMIT_MS = 2000;

export class SqlBeat implements BeatStore {
  readonly #database: Database;
  readonly #hasMembers: boolean;

  /** `hasMembers`: the keys stand there, so it has the rows of the processes. */
  constructor(database: Database, hasMembers: boolean) {
    this.#database = database;
    this.#hasMembers = hasMembers;
  }

  async join(id: string, { host, version, pid, boot }: ReplicaFacts): Promise<void> {
    if (!this.#hasMembers) return;
    await this.#database.on('state').raw(
      `WITH place AS (SELECT nextval('gw_members') AS number)
      INSERT INTO ${REPLICAS} (id, host, version, protocol, joined, knows, pid, workers, boot, mode, started_at, seen_at, until)
      SELECT :id, :host, :version, ${PROTOCOL}, number, number, :pid, 1, :boot, 'alone', clock_timestamp(), clock_timestamp(), clock_timestamp() + ${LEASE} FROM place
      ON CONFLICT (id) DO NOTHING`,
      { id, host, version, pid, boot },
    );
  }

  async beat({ id, nonce, families, offsetMs }: BeatCall): Promise<BeatAnswer> {
    const members = this.#hasMembers ? '(SELECT count(*) > 0 FROM renewed)' : 'true';
    const [row] = rowsOf(
      await this.#database.on('state').raw(
        `WITH ${this.#hasMembers ? `${RENEWED}, ` : ''}${LED}
        SELECT ${TIME} AS time, ${members} AS member, array(SELECT name FROM taken UNION ALL SELECT name FROM made) AS leads, pg_notify(:channel, :nonce)`,
        {
          id,
          families: `{${families.join(',')}}`,
          channel: BEAT_CHANNEL + id,
          nonce,
          ...(this.#hasMembers && { offset: offsetMs ?? null }),
        },
      ),
    );
    return {
      time: Number(row?.['time']),
      isMember: row?.['member'] === true,
      leads: Array.isArray(row?.['leads']) ? row['leads'].map(String) : [],
    };
  }

  async giveLeasesAway(id: string): Promise<void> {
    await this.#database.on('state')(LEASES).where({ holder: id }).delete();
  }

  async leave(id: string): Promise<void> {
    await this.giveLeasesAway(id);
    if (this.#hasMembers) await this.#database.on('state')(REPLICAS).where({ id }).delete();
  }

  /** What processes leave behind: their rows for a day after their end, the numbers of writers for a month after the last batch. */
  get sweeps(): readonly Sweep[] {
    const { knex } = this.#database;
    const writers = (most: number): Promise<number> => {
      const idle = knex(WRITERS)
        .whereRaw("seen_at < now() - interval '30 days'")
        .select('writer', 'stream')
        .limit(most);
      return knex(WRITERS).whereIn(['writer', 'stream'], idle).delete();
    };
    const replicas = (most: number): Promise<number> => {
      const ended = knex(REPLICAS).whereRaw("until < now() - interval '1 day'").select('id').limit(most);
      return knex(REPLICAS).whereIn('id', ended).delete();
    };
    return [
      { what: 'numbers of writers', slice: writers },
      ...(this.#hasMembers ? [{ what: 'replicas that ended', slice: replicas }] : []),
    ];
  }
}

/** What the database's clock says, for the first time. */
export async function timeOfDatabase(database: Database): Promise<number> {
  const [row] = rowsOf(await database.on('state').raw(`SELECT ${TIME} AS time`));
  return Number(row?.['time']);
}
