import type { ServerResponse } from 'node:http';
import type { Timer } from '../common/clock.ts';
import type { EarlyOpening } from '../pipeline/exchange-state.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { RunningGeneration } from '../pipeline/running-generation.ts';
import { ignoredText, replyHeaders } from './attribution.ts';
import { SseWriter } from './sse-writer.ts';

/**
 * Opens a streamed answer whose first chunk is late: status and headers leave, so that proxies in front see that it goes on, while
 * retries and failover go on behind them. See docs/proxies.md#opening-early.
 */
export class LateStart implements EarlyOpening {
  isOpen = false;
  shownIgnored = '';
  readonly #exchange: LiveExchange;
  readonly #generation: RunningGeneration;
  readonly #response: ServerResponse;
  readonly #afterMs: number;
  #timer: Timer | undefined;
  #writer: SseWriter | undefined;

  constructor(exchange: LiveExchange, generation: RunningGeneration, response: ServerResponse, afterMs: number) {
    this.#exchange = exchange;
    this.#generation = generation;
    this.#response = response;
    this.#afterMs = afterMs;
  }

  start(): void {
    this.#timer ??= this.#generation.services.clock.timer(this.#afterMs, () => this.#open());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#writer?.stop();
  }

  #open(): void {
    if (this.#response.destroyed) return;
    const {
      services: { clock, redactor },
      streamTimes: { keepAliveMs },
    } = this.#generation;
    const encoder = this.#exchange.wire.openStream(this.#exchange); // an attempt writes its answer with one of its own
    const writer = new SseWriter(this.#response, clock);
    this.isOpen = true;
    this.shownIgnored = ignoredText(this.#exchange, redactor);
    this.#exchange.delivery.isSent = true;
    writer.open(encoder.contentType, replyHeaders(this.#exchange, redactor));
    this.#response.flushHeaders();
    if (keepAliveMs !== undefined) writer.keepAlive(encoder, keepAliveMs);
    this.#writer = writer;
  }
}
