import { type Clock, type Timer, within } from '../../../host/common/clock.ts';
import { HOUR_MS, OncePer } from '../../../host/common/once-per.ts';
import type { StoreClock } from '../../../host/stores/replicas/store-clock.ts';
import type { Log } from '../../../host/contract/index.ts';
import type { JobFamily } from '../../../host/stores/replicas/leaders.ts';
import type { Replica } from '../../../host/stores/replicas/replica.ts';
import { BEAT_LIMIT_MS, type BeatAnswer, type BeatStore, type ReplicaFacts } from './sql-beat.ts';

/** Milliseconds from one beat to the next, both counted from their sending. */
export const BEAT_MS = 2000;
/** Milliseconds after the sending of the last beat that was answered in which a lease of 15 seconds is relied on. */
export const FENCE_MS = 12_000;
/** Milliseconds by which the machine's clock may differ from the database's: it is warned of, and above the second no jobs are done here. */
const WARNED_MS = 2000;
const RESTING_MS = 60_000;
/** Milliseconds for giving a row and leases back: a stop does not wait for a database that is away. */
const LEAVE_MS = 1000;

/** What listens on the channel of this process. */
export interface BeatEar {
  /** A beat leaves. */
  sending(nonce: string, sentAt: number): void;
  /** It was answered, or why it was not. */
  answered(error?: unknown): void;
  /** This process goes by another id. */
  moved(): void;
}

export interface BeatDeps {
  /** The machine's. */
  readonly clock: Clock;
  readonly log: Log;
  readonly time: StoreClock;
  readonly replica: Replica;
  readonly facts: ReplicaFacts;
  readonly store: BeatStore;
  readonly families: readonly JobFamily[];
  readonly ear: BeatEar;
}

/**
 * Every two seconds one statement that says to other processes that this one lives: it renews its row and its leases, reads the database's clock,
 * and sends itself a notification. What is relied on is counted from the moment a beat was sent.
 */
export class Beat {
  readonly #deps: BeatDeps;
  readonly #warned = new OncePer(HOUR_MS);
  #joinedAs: string | undefined;
  #joinedAt = 0;
  #leads: ReadonlySet<string> = new Set();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #count = 0;
  #next: Timer | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: BeatDeps) {
    this.#deps = deps;
  }

  /** Resolves after the first beat, whatever came of it. */
  async open(): Promise<void> {
    this.#beating = this.#beat();
    await this.#beating;
  }

  /** Whether this process may do the next slice of such jobs. */
  isLeader(family: JobFamily): boolean {
    return this.#leads.has(family) && !this.#rests && this.#deps.clock.monotonic() - this.#renewedAt < FENCE_MS;
  }

  /** Gives row and leases back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#beating;
    const { clock, store } = this.#deps;
    this.#leads = new Set();
    if (this.#joinedAs !== undefined)
      await within(store.leave(this.#joinedAs), LEAVE_MS, clock, 'leaving').catch(() => {}); // the row ends by itself
  }

  async #beat(): Promise<void> {
    const { clock, ear } = this.#deps;
    const sentAt = clock.monotonic();
    try {
      await within(this.#send(), BEAT_LIMIT_MS, clock, 'the beat');
      ear.answered();
    } catch (error) {
      ear.answered(error);
    }
    if (!this.#isClosed)
      this.#next = clock.timer(Math.max(0, sentAt + BEAT_MS - clock.monotonic()), () => {
        this.#beating = this.#beat();
      });
  }

  async #send(): Promise<void> {
    const { clock, store, replica, families, time, ear } = this.#deps;
    const { id } = replica;
    this.#warnOfClock();
    if (this.#rests && this.#leads.size > 0) await store.giveLeasesAway(id);
    if (this.#joinedAs !== id) await this.#join(id);
    const nonce = String((this.#count += 1));
    const askedAt = clock.monotonic();
    ear.sending(nonce, askedAt);
    const answer = await store.beat({
      id,
      nonce,
      families: this.#rests ? [] : families,
      offsetMs: time.machineAheadMs,
    });
    if (nonce !== String(this.#count)) return; // it came after a later one was sent
    time.read({ askedAt, answeredAt: clock.monotonic(), time: answer.time });
    this.#take(answer, askedAt);
  }

  async #join(id: string): Promise<void> {
    const { store, facts, clock } = this.#deps;
    await store.join(id, facts);
    this.#joinedAs = id;
    this.#joinedAt = clock.monotonic();
  }

  #take({ isMember, leads }: BeatAnswer, sentAt: number): void {
    const { log, replica, ear } = this.#deps;
    this.#leads = new Set(isMember ? leads : []); // those of a process that is gone are held under its old id
    this.#renewedAt = sentAt;
    if (isMember) return;
    log.warn('this replica was expelled and joins anew', { after_ms: Math.round(sentAt - this.#joinedAt) });
    replica.renew();
    ear.moved();
  }

  /** Two clocks disagree, and which of them is right is not known: nothing is deleted from here. */
  get #rests(): boolean {
    return Math.abs(this.#deps.time.machineAheadMs ?? 0) > RESTING_MS;
  }

  #warnOfClock(): void {
    const { time, log, clock } = this.#deps;
    const ahead = time.machineAheadMs ?? 0;
    if (Math.abs(ahead) > WARNED_MS && this.#warned.isFirst('clock', clock.monotonic()))
      log.warn("the clock of this machine differs from the database's", { rule: 'WN80', offset_ms: ahead });
  }
}
