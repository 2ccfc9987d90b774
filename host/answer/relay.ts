import { decodedBy, editBy } from '../boundary/stream-boundary.ts';
import { type ChatChunk, type ChatReply, GatewayError, type StreamEvent, type Usage } from '../contract/index.ts';
import { classified, faultInFrame, faultInUseless, unusableReply } from '../upstream/fault.ts';
import { MAX_REPLY_BYTES } from '../upstream/limits.ts';
import { dataOf, isEndMark, LineCutter, textOfBytes } from '../upstream/sse.ts';
import type { ClientStream } from '../wire/client-wire.ts';
import type { KnownFrames } from '../wire/known-frames.ts';
import type { Assembly } from './assembly.ts';
import { chunkPieces } from './guarded/chunk-pieces.ts';
import type { AnswerFacts } from './charged-usage.ts';
import { isChunk } from './chunk-kind.ts';
import { ChunkNormalizer } from './chunk-normalizer.ts';
import { eventReader, type StreamReader } from './event-reader.ts';
import { BlockReader } from './known-runs.ts';
import { PutOff } from './guarded/put-off.ts';
import type { RelayGuards, RelayOptions, RelaySource } from './relay-source.ts';
import { Relayed } from './relayed.ts';
import { SameWireRelay } from './same-wire-relay.ts';
import type { ReplyFacts, StreamRelay } from './events/stream-relay.ts';
import { eventTooLong, parsedFrame, refuseDeep } from './stream-bounds.ts';

/**
 * Turns the bytes of an upstream's stream into the bytes of the client's: synchronous, one call per read. Byte strings
 * come out (one character per byte), ready to be written as `latin1`; after a failure, what came before it.
 */
export class Relay implements StreamRelay {
  /** Why the stream cannot go on; nothing is read after it. */
  failure: GatewayError | undefined;
  /** Writes what goes to the client, and what ends it once the stream is over. */
  readonly encoder: ClientStream;
  readonly isGuarded: boolean;
  readonly #source: RelaySource;
  readonly #guards: RelayGuards | undefined;
  /** What may leave without being written again; nothing unless the client's wire is the common one. */
  readonly #frames: KnownFrames | undefined;
  readonly #relayed: Relayed;
  readonly #normalizer: ChunkNormalizer;
  /** Cuts what arrives into events; `undefined` where it is read line by line. */
  readonly #events: StreamReader | undefined;
  readonly #lines = new LineCutter();
  readonly #blocks: BlockReader;
  readonly #sameWire: SameWireRelay | undefined;
  /** What guards have not looked at yet of what came. */
  readonly #putOff = new PutOff();
  /** The last frame that was not a chunk. */
  #odd: unknown;

  constructor(options: RelayOptions) {
    const { encoder, source, guards, assembles = true } = options;
    this.encoder = encoder;
    this.#source = source;
    this.#guards = guards;
    this.isGuarded = guards !== undefined;
    this.#frames = encoder.frames;
    const normalizer = new ChunkNormalizer(options, guards?.holdsBack);
    const relayed = new Relayed(assembles, guards?.awaitsVerdict ?? false);
    this.#normalizer = normalizer;
    this.#relayed = relayed;
    if (source.speaks === 'client')
      this.#sameWire = new SameWireRelay({ source, guards, normalizer, relayed, putOff: this.#putOff });
    this.#events = eventReader(source, guards !== undefined);
    this.#blocks = new BlockReader({
      relayed,
      frames: source.speaks === 'common' && !source.edit && !guards ? encoder.frames : undefined,
      assembles,
      line: (line, learns) => {
        if (guards) this.#putOff.run(() => this.#line(line, learns));
        else this.#line(line, learns);
      },
    });
  }

  /** Whether guards have not looked at all yet that came: `catchUp` has them look at the next piece of it. */
  get isBehind(): boolean {
    return !this.#putOff.isEmpty;
  }

  catchUp(): string {
    return this.#collect(() => this.#putOff.next());
  }

  /** What was delivered, as one answer. */
  get assembly(): Assembly {
    return this.#relayed.assembly;
  }

  /** Characters of the texts that arrived, whatever becomes of them. */
  get characters(): number {
    return this.#relayed.characters;
  }

  /** Chunks read so far, whether or not anything left; none while the answer may still fail as if it had not begun. */
  get chunks(): number {
    return this.#relayed.isOpening ? 0 : this.#relayed.chunks;
  }

  /** Whether something waits for the answer to begin. */
  get isWaiting(): boolean {
    return this.#relayed.isOpening && this.#relayed.chunks > 0; // comments begin no answer
  }

  /** Events read so far that say that the answer goes on, whether or not they hold a chunk. */
  get signs(): number {
    return this.#relayed.signs;
  }

  /** True once the upstream said that nothing follows. */
  get isDone(): boolean {
    return this.#relayed.isDone;
  }

  get usage(): Usage | undefined {
    return this.#normalizer.usage;
  }

  /** Names of sums of the usage that cannot be believed. */
  get doubts(): readonly string[] {
    return this.#normalizer.doubts;
  }

  /** Whether the answer, or a choice of it, has ended: what its usage said by then is all of it. */
  get isFinished(): boolean {
    return this.#normalizer.isFinished;
  }

  /** The upstream's name of the model, once a chunk has named it. */
  get reportedModel(): string | undefined {
    return this.#normalizer.reportedModel;
  }

  /** The upstream's id of the answer; empty until it gave one. */
  get id(): string {
    return this.#normalizer.id;
  }

  reply(facts: ReplyFacts): ChatReply {
    return this.assembly.reply({ id: this.id, ...facts });
  }

  facts(): AnswerFacts {
    return { usage: this.usage, answered: this.characters, doubts: this.doubts };
  }

  push(bytes: Buffer): string {
    return this.#collect(() => {
      if (this.#events) this.#takeEvents(this.#events.push(bytes));
      else this.#blocks.read(this.#lines.push(bytes));
      if ((this.#events ?? this.#lines).heldBytes > MAX_REPLY_BYTES) throw eventTooLong();
    });
  }

  /** The upstream's body has ended: a failure, unless it said so before. */
  end(): string {
    return this.#collect(() => {
      if (this.#events) this.#takeEvents(this.#events.end());
      else this.#blocks.read(this.#lines.end());
      this.#putOff.run(() => {
        if (!this.isDone && !this.#normalizer.isFinished) throw this.#brokenOff();
        this.#relayed.isDone = true;
        this.#relayed.isOpening = false;
      });
    });
  }

  /** The answer begins with what has come of it, however little that says. */
  begin(): string {
    this.#relayed.isOpening = false;
    return this.#relayed.takeOut();
  }

  /** The upstream ended without an end: it may have said why in a frame of another shape. */
  #brokenOff(): GatewayError {
    return faultInUseless(this.#odd) ?? unusableReply('the stream ended before it was complete');
  }

  /** What the guards still hold back, once the stream is complete. */
  flush(): string {
    return this.#collect(() => {
      this.#putOff.clear(); // nothing counts behind the end
      if (this.#sameWire) {
        this.#sameWire.flush();
        return;
      }
      const own = this.#normalizer.rest();
      if (own) this.#guard([own], 'push');
      this.#guard([], 'end');
    });
  }

  /** The bytes of an answer that was held, once. */
  takeHeld(): string {
    return this.#relayed.takeHeld();
  }

  #collect(read: () => void): string {
    if (this.failure) return '';
    try {
      read();
    } catch (error) {
      this.#putOff.clear();
      this.failure =
        error instanceof GatewayError ? classified(error) : unusableReply('the stream cannot be decoded', error);
      if (this.failure.code === 'response_rejected') this.#relayed.isOpening = false; // what guards refuse has begun
    }
    return this.#relayed.takeOut();
  }

  #takeEvents(events: Iterable<StreamEvent>): void {
    for (const event of events) {
      if (this.#guards) this.#putOff.run(() => this.#event(event));
      else this.#event(event);
    }
  }

  #event(event: StreamEvent): void {
    if (this.isDone) return;
    if (this.#sameWire) this.#sameWire.push(event);
    else this.#nativeEvent(event);
  }

  /** One line, the long way; `learns` is whether later ones may take the short. */
  #line(line: string, learns: boolean): void {
    if (this.isDone) return;
    const { framing, speaks } = this.#source;
    const data = framing === 'ndjson' ? line : dataOf(line);
    if (data === undefined || data === '') return;
    if (speaks !== 'common') this.#takeEvents([{ type: '', data: textOfBytes(data) }]);
    else if (isEndMark(data)) this.#relayed.isDone = true;
    else this.#commonFrame(line, data, learns);
  }

  #nativeEvent(event: StreamEvent): void {
    if (this.#source.speaks !== 'native') return;
    if (this.#source.tellsAll) this.#relayed.signs += 1;
    if (isEndMark(event.data)) {
      if (!this.#source.tellsAll || this.isFinished) this.#relayed.isDone = true;
      return;
    }
    refuseDeep(event.data);
    const later: ChatChunk[] = [];
    for (const chunk of decodedBy(this.#source.module, this.#source.decode, event)) {
      this.#relayed.chunks += 1;
      this.#relayed.count(chunk);
      this.#correct(chunk);
      this.#see(chunk, later);
    }
    this.#putOff.before(later.map((piece) => () => this.#guard([piece], 'push')));
  }

  #commonFrame(line: string, data: string, learns: boolean): void {
    const chunk = parsedFrame(data);
    const failure = faultInFrame(chunk);
    if (failure) throw failure;
    if (!isChunk(chunk)) {
      this.#odd = chunk;
      return;
    }
    this.#relayed.chunks += 1;
    this.#relayed.count(chunk);
    const { version } = this.#normalizer;
    const edit = this.#source.speaks === 'common' ? this.#source.edit : undefined;
    if (edit) editBy(this.#source.module, edit, chunk);
    const isChanged = this.#correct(chunk) || edit !== undefined;
    if (this.#guards) {
      const later: ChatChunk[] = [];
      this.#see(chunk, later);
      this.#putOff.before(later.map((piece) => () => this.#guard([piece], 'push')));
      return;
    }
    this.#relayed.keep(chunk);
    const frames = this.#frames;
    this.#relayed.send(frames && !isChanged ? frames.unchanged(data) : this.encoder.chunk(chunk));
    if (version !== this.#normalizer.version) frames?.forget();
    else if (learns && !edit) frames?.learn(line, (fresh) => this.#normalizer.rehearse(fresh));
  }

  /** Corrects a chunk in place; true on any change. Throws where it ends an answer that says nothing and was not meant to. */
  #correct(chunk: ChatChunk): boolean {
    const isChanged = this.#normalizer.normalize(chunk);
    const { silence } = this.#normalizer;
    if (silence !== undefined && !this.#relayed.isSpoken) throw unusableReply(silence);
    return isChanged;
  }

  /** Has the guards, if any, see a chunk that came. Of a long text they see the first piece; the others, and what comes behind them, are for later. */
  #see(chunk: ChatChunk, later: ChatChunk[]): void {
    const pieces = this.#guards ? chunkPieces(chunk) : [chunk];
    const now = later.length > 0 ? 0 : 1;
    this.#guard(pieces.slice(0, now), 'push');
    for (const piece of pieces.slice(now)) later.push(piece);
  }

  /** Writes what the guards, if any, let pass of these chunks, and remembers it as delivered. */
  #guard(chunks: readonly ChatChunk[], moment: 'push' | 'end'): void {
    for (const chunk of this.#guards?.filter(chunks, moment) ?? chunks) {
      this.#relayed.keep(chunk);
      this.#relayed.sendGuarded(this.encoder.chunk(chunk));
    }
  }
}
