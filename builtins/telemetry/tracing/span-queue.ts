import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { type Clock, type Timer, within } from '../../../host/common/clock.ts';
import type { Counters, Log } from '../../../host/contract/index.ts';
import type { Batches } from './batches.ts';

/** The first loss to a full queue is logged, and every so many after it. */
const TOLD_EVERY = 64;

/** Milliseconds for the last spans, for callers that do not say. */
const CLOSE_MS = 5000;

/** The SDK's enumeration of results, whose package nothing else is needed of. */
const SUCCESS = 0;

export interface SpanQueueOptions {
  readonly exporter: SpanExporter;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  readonly batches: Omit<Batches, 'exportMs'>;
}

/**
 * Holds spans until they leave, some hundred at a time, and never more than it may: no request waits for a collector. Not the SDK's own
 * processor, which does not say how much it lost.
 */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  #waiting: ReadableSpan[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  /** How many of them are on their way. */
  #underWay = 0;
  #isClosed = false;
  #dropped = 0;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= this.#options.batches.mostSpans) {
      this.#drop();
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= this.#options.batches.batchSpans) this.#send();
    else this.#timer ??= this.#options.clock.timer(this.#options.batches.delayMs, () => this.#send());
  }

  /** Sends what waits, one batch after another. */
  async forceFlush(): Promise<void> {
    while (this.#sending || this.#waiting.length > 0) {
      this.#send();
      await this.#sending;
    }
  }

  async shutdown(): Promise<void> {
    await this.close(CLOSE_MS);
  }

  /** Takes no more spans; what waits has this long to leave, and the exporter as long to end. */
  async close(graceMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { clock, log, exporter } = this.#options;
    await within(this.forceFlush(), graceMs, clock, 'sending the last spans').catch((error: unknown) => {
      const lost = this.#waiting.splice(0).length + this.#underWay;
      this.#underWay = 0;
      this.#count(lost);
      log.error('spans were lost at the end', { error, spans: lost });
    });
    this.#timer?.cancel();
    await within(exporter.shutdown(), graceMs, clock, 'closing the exporter of spans').catch((error: unknown) =>
      log.error('the exporter of spans could not be closed', { error }),
    );
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#sending || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, this.#options.batches.batchSpans);
    this.#underWay = batch.length;
    this.#sending = this.#export(batch).finally(() => {
      this.#sending = undefined;
      this.#underWay = 0;
      if (this.#waiting.length >= this.#options.batches.batchSpans) this.#send();
      else if (this.#waiting.length > 0 && !this.#isClosed)
        this.#timer ??= this.#options.clock.timer(this.#options.batches.delayMs, () => this.#send());
    });
  }

  /** Never rejects: what the collector did not take is lost, counted and logged. */
  #export(batch: ReadableSpan[]): Promise<void> {
    const { exporter, log } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const lose = (error: unknown): void => {
      this.#count(this.#underWay);
      log.error('spans could not be exported', { error, spans: batch.length });
      resolve();
    };
    try {
      exporter.export(batch, ({ code, error }: { readonly code: number; readonly error?: Error }) =>
        code === SUCCESS ? resolve() : lose(error),
      );
    } catch (error) {
      lose(error);
    }
    return promise;
  }

  #drop(): void {
    this.#dropped += 1;
    this.#count(1);
    if (this.#dropped % TOLD_EVERY === 1) this.#options.log.warn('the queue of spans is full', { lost: this.#dropped });
  }

  #count(lost: number): void {
    if (lost > 0) this.#options.counters.add('gateway_observability_events_dropped_total', { subject: 'spans' }, lost);
  }
}
