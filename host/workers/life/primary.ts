import type { Clock } from '../../common/clock.ts';
import { type EndReason, endText, every, LiveSeat, RecentEnds } from './seats.ts';
import { type AskAll, type PrimaryTeam, type Seat, type SeatHandler, type TeamStart, TOPIC } from '../team.ts';
import type { ProcessEnd, WorkerProcess } from './worker-process.ts';

/** Milliseconds until a worker must serve. */
const READY_MS = 30_000;
/** Milliseconds without a sign after which a worker is asked to end, and those that it has for that. */
const SILENT_MS = 30_000;
const LAST_CHANCE_MS = 5000;
/** Milliseconds beyond the drain's own limit that a worker has to end. */
const END_SLACK_MS = 7000;
const LOOK_MS = 1000;
/** Milliseconds without a sign after which a worker does not count as serving. */
const LATE_MS = 5000;

export interface PrimaryDeps {
  readonly size: number;
  readonly clock: Clock;
  readonly fork: () => WorkerProcess;
}

/** The workers of this process: makes them, and others in their place, and passes on what is said. */
export class Primary implements PrimaryTeam {
  readonly role = 'primary';
  readonly size: number;
  readonly #deps: PrimaryDeps;
  readonly #seats = new Set<LiveSeat>();
  readonly #handlers = new Map<string, SeatHandler>();
  readonly #gone: ((seat: Seat) => void)[] = [];
  readonly #recent: RecentEnds;
  #start: TeamStart | undefined;
  #isEnding = false;
  #isRolling = false;
  #stopLooking: (() => void) | undefined;

  constructor(deps: PrimaryDeps) {
    this.#deps = deps;
    this.size = deps.size;
    this.#recent = new RecentEnds(deps.clock);
    this.on(TOPIC.ready, (_value, seat) => {
      if (seat instanceof LiveSeat) this.#ready(seat);
    });
    this.on(TOPIC.end, () => undefined);
    this.on(TOPIC.refused, (reason, seat) => {
      if (seat instanceof LiveSeat) seat.refused(String(reason));
    });
  }

  get seats(): readonly LiveSeat[] {
    return [...this.#seats];
  }

  /** How many serve. */
  get serving(): number {
    return this.seats.filter(({ isReady, endReason }) => isReady && endReason === undefined).length;
  }

  isUp(number: number): boolean {
    const now = this.#deps.clock.monotonic();
    return this.seats.some(
      (seat) => seat.number === number && seat.isReady && seat.endReason === undefined && now - seat.heardAt < LATE_MS,
    );
  }

  on(topic: string, handler: SeatHandler): void {
    this.#handlers.set(topic, handler);
    for (const seat of this.#seats) this.#listen(seat, topic, handler);
  }

  onGone(listener: (seat: Seat) => void): void {
    this.#gone.push(listener);
  }

  tellAll(topic: string, value?: unknown, except?: Seat): void {
    for (const seat of this.#seats) if (seat !== except) seat.channel.tell(topic, value);
  }

  async askAll<T>(topic: string, asked: AskAll): Promise<ReadonlyMap<Seat, T | Error>> {
    const answers = new Map<Seat, T | Error>();
    const seats = this.seats.filter((seat) => seat.hasBegun && (asked.only?.has(seat) ?? true));
    await Promise.all(
      seats.map((seat) => this.#askOne(seat, { ...asked, topic }, (answer) => answers.set(seat, answer as T | Error))),
    );
    return answers;
  }

  /** Makes all workers, and resolves once each serves. Rejects with why one cannot. */
  async begin(start: TeamStart): Promise<void> {
    this.#start = start;
    const made = Array.from({ length: this.size }, (_, at) => this.#make(at + 1));
    const outcomes = await Promise.all(made.map((seat) => this.#awaitReady(seat)));
    const refusal = outcomes.find((outcome) => !outcome.isReady);
    if (refusal && !refusal.isReady) throw new Error(`a worker could not start: ${refusal.reason}`);
    this.#stopLooking = every(this.#deps.clock, LOOK_MS, () => this.#look());
  }

  replace(seat: Seat, waitedMs: number): void {
    if (!(seat instanceof LiveSeat) || seat.endReason !== undefined) return;
    this.#start?.log.warn('a worker does not answer', { worker: seat.number, waited_ms: waitedMs });
    seat.kill('silent');
  }

  /** Replaces the workers one by one: the new one serves before the old one drains. */
  async roll(): Promise<void> {
    if (this.#isRolling || this.#isEnding) return;
    this.#isRolling = true;
    try {
      for (const old of this.seats.filter(({ isReady }) => isReady)) {
        const seat = this.#make(old.number);
        const outcome = await this.#awaitReady(seat);
        if (!outcome.isReady) {
          seat.kill('drained');
          this.#start?.log.error('a worker could not be replaced, the others stay', {
            worker: old.number,
            error: outcome.reason,
          });
          return;
        }
        old.endReason = 'replaced';
        old.channel.tell(TOPIC.drain, { isReplaced: true });
        await old.ended;
      }
    } finally {
      this.#isRolling = false;
    }
  }

  /** Lets every worker finish what it serves, and resolves once all have ended. */
  async drain(limitMs: number): Promise<void> {
    this.#isEnding = true;
    this.#stopLooking?.();
    for (const seat of this.#seats) {
      seat.endReason ??= 'drained';
      seat.channel.tell(TOPIC.drain, { isReplaced: false });
      seat.channel.flush();
    }
    const timer = this.#deps.clock.timer(limitMs + END_SLACK_MS, () => this.killAll());
    await Promise.all(this.seats.map((seat) => seat.ended));
    timer.cancel();
  }

  killAll(): void {
    this.#isEnding = true;
    this.#stopLooking?.();
    for (const seat of this.#seats) seat.kill('drained');
  }

  async #askOne(
    seat: LiveSeat,
    { topic, value, limitMs, late }: AskAll & { readonly topic: string },
    take: (answer: unknown) => void,
  ): Promise<void> {
    const isLate = Promise.withResolvers<void>();
    const timer = this.#deps.clock.timer(limitMs, () => {
      if (seat.isReady) late?.(seat, limitMs);
      isLate.resolve();
    });
    const answered = seat.channel.ask(topic, value).then(take, take);
    await Promise.race([answered, isLate.promise]);
    timer.cancel();
  }

  #make(number: number): LiveSeat {
    const seat = new LiveSeat(number, this.#deps.fork(), this.#deps.clock);
    this.#seats.add(seat);
    seat.channel.on(TOPIC.given, () => {
      seat.hasBegun = true;
      return this.#start?.given(number);
    });
    for (const [topic, handler] of this.#handlers) this.#listen(seat, topic, handler);
    void seat.ended.then((end) => this.#ended(seat, end));
    return seat;
  }

  #listen(seat: LiveSeat, topic: string, handler: SeatHandler): void {
    seat.channel.on(topic, (value) => {
      seat.heardAt = this.#deps.clock.monotonic();
      return handler(value, seat);
    });
  }

  async #awaitReady(seat: LiveSeat): ReturnType<() => LiveSeat['readiness']> {
    const timer = this.#deps.clock.timer(READY_MS, () => {
      seat.refused(`it did not serve within ${READY_MS} ms`);
      seat.process.kill();
    });
    const outcome = await seat.readiness;
    timer.cancel();
    return outcome;
  }

  #ready(seat: LiveSeat): void {
    seat.heardAt = this.#deps.clock.monotonic();
    seat.becameReady();
    this.#start?.log.info('a worker is ready', { worker: seat.number, pid: seat.pid });
  }

  #ended(seat: LiveSeat, end: ProcessEnd): void {
    this.#seats.delete(seat);
    for (const listener of this.#gone) listener(seat);
    if (!this.#start || this.#isEnding || (!seat.isReady && !this.#stopLooking)) return;
    const { log, counters } = this.#start;
    const reason: EndReason = seat.endReason ?? (end.signal === null ? 'exit' : 'signal');
    if (reason === 'drained') return;
    counters.add('gateway_worker_restarts_total', { reason });
    if (reason === 'replaced') return;
    log.error('a worker ended', { worker: seat.number, pid: seat.pid, code: end.code, signal: end.signal });
    const waitMs = this.#recent.add();
    if (waitMs === undefined) {
      log.error('workers end again and again', { worker: seat.number, error: endText(end) });
      this.#isEnding = true;
      this.#start.giveUp();
      return;
    }
    this.#deps.clock.timer(waitMs, () => {
      if (!this.#isEnding) void this.#awaitReady(this.#make(seat.number));
    });
  }

  /** Ends workers that give no sign. */
  #look(): void {
    const now = this.#deps.clock.monotonic();
    for (const seat of this.#seats) {
      const waitedMs = Math.round(now - seat.heardAt);
      if (!seat.isReady || seat.endReason !== undefined || waitedMs < SILENT_MS) continue;
      this.#start?.log.warn('a worker does not answer', { worker: seat.number, waited_ms: waitedMs });
      seat.endReason = 'silent';
      seat.channel.tell(TOPIC.drain, { isReplaced: true });
      this.#deps.clock.timer(LAST_CHANCE_MS, () => seat.process.kill());
    }
  }
}
