import type { Timer } from '../../../host/common/clock.ts';
import type { Fields, GatewayError } from '../../../host/contract/index.ts';
import { Cancellation } from '../../../host/upstream/cancellation.ts';
import { EventReader } from '../../../host/upstream/sse.ts';
import type { ReplyControl, ReplyHeaders, ReplySink } from '../../../host/upstream/upstream-call.ts';
import type { HttpCalls } from './http-calls.ts';
import { MAX_MESSAGE_BYTES, messagesOf, ToolServerError } from './rpc.ts';

/** How long after its end it is opened again; twice as long each time that nothing came of it. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

export interface EventStreamOptions {
  readonly calls: HttpCalls;
  readonly onMessage: (message: Fields) => void;
  readonly onUnreachable: (error: GatewayError) => void;
}

/** What a server sends without being asked: one answer to a GET that does not end. A server that has none refuses it. */
export class EventStream implements ReplySink {
  readonly #options: EventStreamOptions;
  #cancellation = new Cancellation();
  #events = new EventReader();
  #control: ReplyControl | undefined;
  #timer: Timer | undefined;
  #waitMs = FIRST_WAIT_MS;
  #isClosed = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  open(): void {
    if (this.#isClosed) return;
    const { calls } = this.#options;
    this.#cancellation = new Cancellation();
    this.#events = new EventReader();
    calls.send(
      { method: 'GET', headers: { accept: 'text/event-stream' } },
      this.#cancellation,
      { headersTimeoutMs: 0, bodyIdleMs: 0 },
      this,
    );
  }

  close(cause: GatewayError): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#control?.abort();
    this.#cancellation.cancel(cause);
  }

  onReply(status: number, headers: ReplyHeaders, control: ReplyControl): void {
    this.#control = control;
    if (status === 200 && /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '')) return;
    this.#isClosed = true;
    control.abort();
  }

  onData(bytes: Buffer): void {
    if (this.#isClosed) return;
    this.#waitMs = FIRST_WAIT_MS;
    if (this.#takes(bytes) && this.#events.heldBytes <= MAX_MESSAGE_BYTES) return;
    this.#control?.abort();
    this.#again();
  }

  /** False where a message is more than is read. */
  #takes(bytes: Buffer): boolean {
    try {
      for (const { data } of this.#events.push(bytes))
        for (const message of messagesOf(data)) this.#options.onMessage(message);
      return true;
    } catch (error) {
      if (!(error instanceof ToolServerError)) throw error;
      return false;
    }
  }

  onEnd(): void {
    this.#again();
  }

  onError(error: GatewayError): void {
    if (this.#isClosed) return;
    if (this.#options.calls.isUnreachable(error)) this.#options.onUnreachable(error);
    else this.#again();
  }

  #again(): void {
    this.#control = undefined;
    if (this.#isClosed) return;
    this.#timer = this.#options.calls.clock.timer(this.#waitMs, () => this.open());
    this.#waitMs = Math.min(LONGEST_WAIT_MS, 2 * this.#waitMs);
  }
}
