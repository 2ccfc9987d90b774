import type { Clock } from '../../../host/common/clock.ts';
import type { ChatChunk, ChatReply, GatewayError } from '../../../host/contract/index.ts';
import { Assembly } from '../../../host/answer/assembly.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { ReplyFacts } from '../../../host/answer/events/stream-relay.ts';
import { AnswerStream, type StreamOutput } from '../../../host/answer/stream.ts';
import type { ClientStream } from '../../../host/wire/client-wire.ts';

/** One stream for the client, made of the turns of a loop: each turn's chunks leave through it, as far as they may. */
export class LoopStream extends AnswerStream {
  readonly encoder: ClientStream;
  readonly ended: Promise<GatewayError | undefined>;
  /** Settles with the first bytes that leave, or with the end. */
  readonly begun: Promise<void>;
  /** Choices whose role has left. */
  readonly roles = new Set<number>();
  readonly #exchange: LiveExchange;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #begin = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<GatewayError | undefined>();
  readonly #assembly = new Assembly();
  #head: Omit<ChatChunk, 'choices'> | undefined;
  #id = '';
  #turn: AnswerStream | undefined;
  #output: StreamOutput | undefined;
  #pending = '';
  #held = '';

  constructor(exchange: LiveExchange, clock: Pick<Clock, 'monotonic'>) {
    super();
    this.#exchange = exchange;
    this.#clock = clock;
    this.encoder = exchange.wire.openStream(exchange);
    this.begun = this.#begin.promise;
    this.ended = this.#end.promise;
  }

  get hasBegun(): boolean {
    return this.#exchange.measured.ttftMs !== undefined;
  }

  /** Lets the chunks of a turn through from now on. */
  follow(turn: AnswerStream): void {
    this.#turn = turn;
    turn.attach({ write: (bytes) => this.write(bytes) });
  }

  /** What waits for a plugin's verdict on the whole answer waits until the last turn is over. */
  keepHeld(turn: AnswerStream): void {
    this.#held += turn.takeHeld();
  }

  /** A chunk as it leaves: all turns have one id, and the time of the first. */
  encode({ id: _id, created: _created, model: _model, ...chunk }: ChatChunk): string {
    const whole: ChatChunk = { ...this.#head, ...chunk };
    this.#assembly.add(whole);
    return this.encoder.chunk(whole);
  }

  /** Takes over what the first chunk of the first turn says of the answer. */
  learn({ id, created, model, object }: ChatChunk): void {
    if (this.#head) return;
    this.#id = id ?? '';
    this.#head = {
      ...(id !== undefined && { id }),
      object: object ?? 'chat.completion.chunk',
      ...(created !== undefined && { created }),
      ...(model !== undefined && { model }),
    };
  }

  write(bytes: string): boolean {
    if (bytes === '') return true;
    if (!this.hasBegun) {
      this.#exchange.measured.ttftMs = this.#clock.monotonic() - this.#exchange.arrivedAt;
      this.#exchange.delivery.readText = () => this.#assembly.text();
      this.#begin.resolve();
    }
    if (this.#output) return this.#output.write(bytes);
    this.#pending += bytes;
    return true;
  }

  /** Bytes that follow everything else; held where some of what they follow is. */
  writeLast(bytes: string, isHeld: boolean): void {
    if (isHeld) this.#held += bytes;
    else this.write(bytes);
  }

  /** Nothing follows. */
  end(error: GatewayError | undefined): void {
    this.#end.resolve(error);
    this.#begin.resolve();
  }

  attach(output: StreamOutput): void {
    this.#output = output;
    const pending = this.#pending;
    this.#pending = '';
    if (pending !== '' && !output.write(pending)) return;
    this.#turn?.resume();
  }

  resume(): void {
    this.#turn?.resume();
  }

  release(): void {
    this.#turn?.release();
  }

  override takeHeld(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  reply(facts: ReplyFacts): ChatReply {
    return this.#assembly.reply({ id: this.#id, ...facts });
  }
}
