import type { WireReply } from 'gw/contract';
import { EndScan } from './end-scan.ts';

/** What a stream needs of its prediction. */
export interface StreamedPrediction {
  readonly id: string;
  /** Asks for the metrics. Never rejects: `undefined` when there is no answer. */
  readMetrics(): Promise<unknown>;
  /** Tells the service that the prediction is not needed any more. Never rejects; the caller does not wait for it. */
  cancel(): void;
}

type Step = IteratorResult<Uint8Array, undefined>;

const OVER: Step = { done: true, value: undefined };

/**
 * The events of a prediction's stream between two of our own: one with the id, and after `done` one with the metrics.
 * Ends with the service's last event, whether or not its body does. A reader that stops earlier cancels the prediction. Not a
 * generator: stopping has to take effect while a read is under way.
 */
export class PredictionEvents implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #prediction: StreamedPrediction;
  readonly #scan = new EndScan();
  #phase: 'begin' | 'read' | 'metrics' | 'over' = 'begin';

  constructor(body: WireReply['body'], prediction: StreamedPrediction) {
    this.#source = (body instanceof Uint8Array ? once(body) : body)[Symbol.asyncIterator]();
    this.#prediction = prediction;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    switch (this.#phase) {
      case 'begin':
        this.#phase = 'read';
        return step(event({ id: this.#prediction.id }));
      case 'read':
        return this.#read();
      case 'metrics':
        this.#phase = 'over';
        return step(event({ metrics: await this.#prediction.readMetrics() }));
      default:
        return OVER;
    }
  }

  async return(): Promise<Step> {
    if (this.#phase === 'begin' || this.#phase === 'read') this.#prediction.cancel();
    this.#phase = 'over';
    this.#closeSource();
    return OVER;
  }

  async #read(): Promise<Step> {
    const { done, value } = await this.#pull();
    if (this.#phase === 'over') return OVER; // let go meanwhile
    if (done && this.#scan.ending === undefined) return this.return(); // it broke off
    const bytes = done ? encode('\n\n') : value; // the last event counts although its blank line is missing
    const length = this.#scan.read(bytes);
    if (this.#scan.isOver) {
      this.#phase = this.#scan.ending === 'done' ? 'metrics' : 'over';
      this.#closeSource();
    }
    return step(bytes.subarray(0, length));
  }

  async #pull(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#source.next();
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  #closeSource(): void {
    this.#source.return?.().catch(() => {}); // a body that cannot close has nothing more to tell
  }
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield body;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const event = (value: object): Uint8Array => encode(`event: prediction\ndata: ${JSON.stringify(value)}\n\n`);
const step = (value: Uint8Array): Step => ({ done: false, value });
