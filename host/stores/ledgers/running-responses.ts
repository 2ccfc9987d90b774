import type { LaterBooking } from '../../contract/index.ts';

/** A response that its provider makes by itself, and what was booked for it before its usage was known. */
export interface RunningResponse {
  /** Virtual key of the target, and the model as it calls it. */
  readonly target: string;
  readonly model: string;
  readonly bookings: readonly LaterBooking[];
}

/** Responses whose usage is not known yet, by their ids, for a day. */
export interface RunningResponses {
  /** False while there are certainly none. */
  readonly mayHold: boolean;
  add(id: string, response: RunningResponse): Promise<void>;
  /** Gives one away, to the first who asks. */
  take(id: string): Promise<RunningResponse | undefined>;
}

/** Milliseconds that a response is remembered. */
export const REMEMBERED_MS = 24 * 3_600_000;
/** Responses that are remembered; of more, the oldest are forgotten. */
const MOST = 100_000;

/** Those of this process, forgotten with it. */
export class MemoryRunningResponses implements RunningResponses {
  readonly #responses = new Map<string, { readonly response: RunningResponse; readonly at: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get mayHold(): boolean {
    return this.#responses.size > 0;
  }

  async add(id: string, response: RunningResponse): Promise<void> {
    const [oldest] = this.#responses.keys();
    if (this.#responses.size >= MOST && oldest !== undefined) this.#responses.delete(oldest);
    this.#responses.set(id, { response, at: this.#now() });
  }

  async take(id: string): Promise<RunningResponse | undefined> {
    const found = this.#responses.get(id);
    this.#responses.delete(id);
    return found && this.#now() - found.at < REMEMBERED_MS ? found.response : undefined;
  }
}
