import type { Knex } from 'knex';
import type pg from 'pg';
import type { Clock } from '../../../host/common/clock.ts';
import type { Log } from '../../../host/contract/index.ts';
import type { Replica } from '../../../host/stores/replicas/replica.ts';
import type { BeatEar } from '../replicas/beat.ts';
import { BEAT_CHANNEL, BEAT_LIMIT_MS } from '../replicas/sql-beat.ts';

export type Changed = 'key' | 'session' | 'account' | 'identity';

/** Lets other processes know of a change, in its transaction; without an id, of any. */
export type Tell = (trx: Knex.Transaction, what: Changed, id: string | undefined) => Promise<void>;

/** A database of this process alone. */
export const tellNobody: Tell = async () => {};

/** Milliseconds without an echo after which nothing is known to be heard, and what was read is asked again. */
export const STALE_MS = 5000;
/** Connections in a row that answer and never echo: then the way there does not pass notifications on. */
const MOST_MUTE = 3;
/** Milliseconds between two tries of such a way. */
const MUTE_MS = 30_000;

/**
 * The server too ends a session whose peer is gone: within 11 seconds of silence, and 10 of what is not acknowledged. A server without one of these
 * settings, or a pooler, refuses them, and then its own hold.
 */
const SESSION = `SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000`;

export interface ListenerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** A connection that is not made yet. */
  readonly client: () => Promise<ListeningClient>;
  readonly replica: Replica;
  /** Beside that of this process's own beats. */
  readonly channels: readonly string[];
  /** What to do where the way there does not pass notifications on. */
  readonly advice: string;
}

/** What is used of a client of the driver. */
export type ListeningClient = Pick<pg.Client, 'on' | 'connect' | 'query'> & {
  readonly connection: { readonly stream: { destroy(): unknown } };
};

type Hear = (payload: string) => void;

/**
 * What other processes change on Postgres, heard of on a connection of its own. That it answers proves nothing: a pooler answers with any session.
 * It hears as long as the beats of this process, which are sent on other connections, come back on it within two seconds. What was committed
 * before a beat was sent has then been heard of, because notifications come in the order of commits.
 */
export class Listener implements BeatEar {
  readonly #deps: ListenerDeps;
  readonly #heard = new Map<string, Hear[]>();
  /** When the beats that have not come back were sent. */
  readonly #sent = new Map<string, number>();
  #client: ListeningClient | undefined;
  /** Monotonic milliseconds: since then nothing was missed. */
  #listensSince = Number.POSITIVE_INFINITY;
  #heardAt = Number.NEGATIVE_INFINITY;
  #hasEchoed = false;
  /** The last beat was answered, while this connection listened. */
  #isAnswered = false;
  #mute = 0;
  #triesAt = Number.NEGATIVE_INFINITY;
  #connecting: Promise<void> | undefined;
  #isDeaf = false;
  #isClosed = false;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
  }

  on(channel: string, hear: Hear): void {
    this.#heard.set(channel, [...(this.#heard.get(channel) ?? []), hear]);
  }

  /** Whether the last five seconds were heard. */
  get hears(): boolean {
    return this.#deps.clock.monotonic() - this.#heardAt < STALE_MS;
  }

  /** Monotonic milliseconds: what was read then or later is still so, but for what was heard of since. */
  freshSince(): number {
    const now = this.#deps.clock.monotonic();
    return this.hears ? Math.min(this.#listensSince, now) : now - STALE_MS;
  }

  /** The first connection is waited for; those after it come when they come. */
  open(): Promise<void> {
    return this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connecting;
    this.#drop();
  }

  sending(nonce: string, sentAt: number): void {
    this.#look();
    for (const [earlier, at] of this.#sent) if (sentAt - at > BEAT_LIMIT_MS) this.#sent.delete(earlier);
    this.#sent.set(nonce, sentAt);
  }

  answered(error?: unknown): void {
    this.#isAnswered = error === undefined && Number.isFinite(this.#listensSince);
    if (error !== undefined) this.#look(error);
  }

  moved(): void {
    this.#drop();
    void this.#connect();
  }

  get #beatChannel(): string {
    return BEAT_CHANNEL + this.#deps.replica.id;
  }

  /** Gives a connection up that does not hear, and makes one where there is none. */
  #look(error?: unknown): void {
    if (this.#connecting || this.#isClosed) return;
    const now = this.#deps.clock.monotonic();
    if (this.#client) {
      if (now - Math.max(this.#heardAt, this.#listensSince) < STALE_MS) return;
      this.#deafen('no echo', error);
      if (!this.#isAnswered) return; // the database does not answer either: that says nothing of this connection
      this.#giveUp(now);
    }
    if (now >= this.#triesAt) void this.#connect();
  }

  #giveUp(now: number): void {
    this.#mute += this.#hasEchoed ? 0 : 1;
    this.#drop();
    if (this.#mute < MOST_MUTE) return;
    this.#triesAt = now + MUTE_MS;
    if (this.#mute === MOST_MUTE)
      this.#deps.log.warn(`the way to the database does not pass notifications on; ${this.#deps.advice}`, {
        rule: 'WN81',
      });
  }

  #connect(): Promise<void> {
    return (this.#connecting ??= this.#listen()
      .catch((error: unknown) => {
        this.#deafen('closed', error);
        this.#drop();
      })
      .finally(() => {
        this.#connecting = undefined;
      }));
  }

  async #listen(): Promise<void> {
    const client = await this.#deps.client();
    client.on('error', (error) => this.#lose(client, error));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ channel, payload = '' }) => {
      if (this.#client === client) this.#hear(channel, payload);
    });
    this.#client = client;
    await client.connect();
    await client.query(SESSION).catch(() => {});
    await client.query([...this.#deps.channels, this.#beatChannel].map((name) => `LISTEN ${name}`).join('; '));
    this.#listensSince = this.#deps.clock.monotonic();
    this.#hasEchoed = false;
    this.#isAnswered = false;
  }

  #hear(channel: string, payload: string): void {
    if (channel === this.#beatChannel) this.#cameBack(payload);
    else for (const hear of this.#heard.get(channel) ?? []) hear(payload);
  }

  #cameBack(nonce: string): void {
    const sentAt = this.#sent.get(nonce);
    if (sentAt === undefined || sentAt < this.#listensSince) return; // a pooler's session that once listened gives one away with its next answer
    if (this.#deps.clock.monotonic() - sentAt > BEAT_LIMIT_MS) return;
    this.#heardAt = Math.max(this.#heardAt, sentAt);
    this.#hasEchoed = true;
    this.#mute = 0;
    if (this.#isDeaf) this.#deps.log.info('changes by other processes are heard of at once again');
    this.#isDeaf = false;
  }

  #deafen(reason: 'no echo' | 'closed', error: unknown): void {
    if (!this.#isDeaf && !this.#isClosed)
      this.#deps.log.warn(
        `changes by other processes cannot be heard of; keys are looked up again every ${STALE_MS / 1000} s`,
        { reason, ...(error !== undefined && { error }) },
      );
    this.#isDeaf = true;
  }

  /** At once, so that nothing in memory counts for longer than it may; the next beat connects again. */
  #lose(client: ListeningClient, error?: unknown): void {
    if (this.#client !== client) return;
    this.#drop();
    this.#deafen('closed', error);
  }

  /** The socket, because what says goodbye on a dead connection waits for long. */
  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#listensSince = Number.POSITIVE_INFINITY;
    this.#heardAt = Number.NEGATIVE_INFINITY;
    client?.connection.stream.destroy();
  }
}
