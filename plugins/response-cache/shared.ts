import { isFields, parseJson, type SharedFlight, type SharedState } from 'gw/contract';
import type { Kept } from './store.ts';

/** Bytes of the largest answer that other processes get. */
const MOST_BYTES = 1024 * 1024;

interface Found {
  readonly kept: Kept;
  /** Unix milliseconds. */
  readonly storedAt: number;
}

/** A call that is over, and who waits for it elsewhere. */
interface Landing {
  readonly key: string;
  readonly landElsewhere?: ((isLeft: boolean) => void) | undefined;
}

/** Answers that the processes of one gateway have in common. Those of each stand in front of them. */
export class SharedAnswers {
  readonly #state: SharedState;
  readonly #identity: string;
  readonly #maxAgeMs: number;

  constructor(state: SharedState, identity: string, maxAgeMs: number) {
    this.#state = state;
    this.#identity = identity;
    this.#maxAgeMs = maxAgeMs;
  }

  async get(key: string, now: number): Promise<Found | undefined> {
    const bytes = await this.#state.get(this.#nameOf(key));
    const end = bytes?.indexOf(NEWLINE) ?? -1;
    if (!bytes || end < 0) return undefined;
    const head: unknown = parseJson(Buffer.from(bytes.subarray(0, end)).toString());
    if (!isFields(head) || typeof head['stored_at'] !== 'number' || now - head['stored_at'] > this.#maxAgeMs)
      return undefined;
    const { stored_at: storedAt, model } = head;
    return {
      kept: { body: bytes.subarray(end + 1), reportedModel: typeof model === 'string' ? model : undefined },
      storedAt,
    };
  }

  /** Keeps an answer, and then tells those that wait for it. */
  async keep(
    { key, landElsewhere }: Landing,
    kept: Kept | undefined,
    { now, isLeft }: { readonly now: number; readonly isLeft: boolean },
  ): Promise<void> {
    if (kept && kept.body.length <= MOST_BYTES) {
      const head = `${JSON.stringify({ stored_at: now, model: kept.reportedModel })}\n`;
      await this.#state.set(this.#nameOf(key), Buffer.concat([Buffer.from(head), kept.body]), this.#maxAgeMs);
    }
    landElsewhere?.(!kept && isLeft);
  }

  async flight(key: string): Promise<SharedFlight> {
    return (await this.#state.flight?.(this.#nameOf(key))) ?? {};
  }

  #nameOf(key: string): string {
    return `${this.#identity} answer ${key}`;
  }
}

/** The head of a kept answer is JSON, and so has none of its own. */
const NEWLINE = 0x0a;
