import { type Fields, GatewayError, type Log } from '../contract/index.ts';
import type { Companions, InForce, PreparedByAll } from '../common/companions.ts';
import type { PrimaryTeam, Seat } from './team.ts';

/** Milliseconds that workers have for each of the two steps. */
const STEP_MS = 10_000;

export const CONFIG_TOPIC = {
  current: 'config.current',
  join: 'config.join',
  prepare: 'config.prepare',
  commit: 'config.commit',
  abort: 'config.abort',
  take: 'config.take',
} as const;

/** The part of the file that says who may come in is another. */
export const IDENTITY_TOPIC = 'identity';

/** What a worker is to serve. */
export interface GivenConfiguration extends InForce {
  /** Counts what was brought into force; a worker that has an earlier one serves nothing yet. */
  readonly serial: number;
  /** It stands in where none was written, and is not checked. */
  readonly isDefault: boolean;
}

export interface WorkerConfigurationsDeps {
  readonly team: PrimaryTeam;
  readonly log: Log;
  /** What the start has brought into force. */
  readonly start: () => Omit<GivenConfiguration, 'serial'>;
}

/** Brings a configuration into force in all workers, or in none. */
export class WorkerConfigurations implements Companions {
  readonly #deps: WorkerConfigurationsDeps;
  /** Workers that serve, or are about to, what is in force. */
  readonly #joined = new Set<Seat>();
  #serial = 0;
  #inForce: InForce | undefined;

  constructor(deps: WorkerConfigurationsDeps) {
    this.#deps = deps;
    const { team } = deps;
    team.on(CONFIG_TOPIC.current, () => this.#current());
    team.on(CONFIG_TOPIC.join, (serial, seat) => {
      if (serial !== this.#serial) return this.#current();
      this.#joined.add(seat);
      return undefined;
    });
    team.onGone((seat) => this.#joined.delete(seat));
  }

  async prepare(document: Fields): Promise<PreparedByAll> {
    const prepared = new Set(this.#joined);
    const failures = await this.#ask(prepared, CONFIG_TOPIC.prepare, { document });
    const [failure] = failures;
    if (failure !== undefined) {
      this.#abort(prepared);
      this.#deps.log.error('a worker cannot use a configuration', { error: failure });
      throw new GatewayError('internal_error', 'a worker cannot use this configuration', { cause: failure });
    }
    return { commit: (inForce) => this.#commit(prepared, inForce), abort: () => this.#abort(prepared) };
  }

  async #commit(prepared: ReadonlySet<Seat>, inForce: InForce): Promise<void> {
    this.#serial += 1;
    this.#inForce = inForce;
    const given = this.#current();
    const later = [...this.#joined].filter((seat) => !prepared.has(seat)); // they came while it was built
    const failures = await Promise.all([
      this.#ask(prepared, CONFIG_TOPIC.commit, given),
      this.#ask(new Set(later), CONFIG_TOPIC.take, given),
    ]);
    for (const error of failures.flat()) this.#deps.log.error('a worker could not take a configuration in', { error });
  }

  #abort(prepared: ReadonlySet<Seat>): void {
    for (const seat of prepared) seat.channel.tell(CONFIG_TOPIC.abort);
  }

  #current(): GivenConfiguration {
    const start = this.#deps.start();
    return { ...start, ...this.#inForce, serial: this.#serial, isDefault: start.isDefault && !this.#inForce };
  }

  /** Gives why some of them cannot. One that does not answer is ended: another one begins with what is in force. */
  async #ask(seats: ReadonlySet<Seat>, topic: string, value: unknown): Promise<readonly Error[]> {
    const { team } = this.#deps;
    const answers = await team.askAll(topic, {
      value,
      limitMs: STEP_MS,
      only: seats,
      late: (seat, waitedMs) => team.replace(seat, waitedMs),
    });
    return [...answers].flatMap(([seat, answer]) =>
      answer instanceof Error && team.seats.includes(seat) ? [answer] : [],
    );
  }
}
