import type { ModuleRef } from '../boundary/module-fault.ts';
import { decodedBy, editBy } from '../boundary/stream-boundary.ts';
import {
  type ChatChunk,
  type ChunkEdit,
  failedAnswer,
  GatewayError,
  type ProviderModule,
  type StreamDecoder,
  type StreamEvent,
  type Usage,
} from '../contract/index.ts';
import { MAX_REPLY_BYTES } from '../upstream/limits.ts';
import type { RawEvent } from '../upstream/raw-events.ts';
import { dataOf, isEndMark, LineCutter, textOfBytes } from '../upstream/sse.ts';
import { Asides, asMember } from './asides.ts';
import { charactersOfChunk } from './answer-size.ts';
import { Assembly } from './assembly.ts';
import type { HeldEvents } from './held-events.ts';
import { unusableReply } from '../upstream/fault.ts';
import type { ClientStream, SameWireStream } from '../wire/client-wire.ts';
import type { KnownFrames } from '../wire/known-frames.ts';
import type { ChunkFilter } from './chunk-filter.ts';
import { eventReader, type StreamReader } from './event-reader.ts';
import { ChunkNormalizer, errorFrameMessage, isChunk, type ChunkFacts } from './normalize.ts';
import { eventTooLong, parsedFrame, refuseDeep } from './stream-bounds.ts';

export interface RelayOptions extends ChunkFacts {
  /** Encoder of the client's wire. */
  readonly encoder: ClientStream;
  /** The same encoder, where the client speaks the wire that the upstream answers in: events leave in their own bytes. `decode` reads them beside. */
  readonly verbatim?: SameWireStream | undefined;
  /** There where guards hold that answer back. */
  readonly holding?: HeldEvents | undefined;
  /** Decoder of a native wire; absent when events already are chunks of the common wire. */
  readonly decode?: StreamDecoder | undefined;
  /** Changes chunks of the common wire before they are corrected: every one is then parsed. */
  readonly edit?: ChunkEdit | undefined;
  /** Whose `decode` and `edit` these are. */
  readonly provider?: ModuleRef | undefined;
  readonly framing: NonNullable<ProviderModule['framing']>;
  /** Present when plugins guard the stream: every chunk is then parsed. */
  readonly filter?: ChunkFilter | undefined;
  /** True when nothing may leave before a plugin has judged the whole answer: `takeHeld` gives it then. */
  readonly isHeld?: boolean;
  /** True when plugins read also what only the vendor of the client's wire has. */
  readonly readsAsides?: boolean;
  /** False when what was delivered will not be asked for. */
  readonly assembles?: boolean;
}

/** A line without anything that needs decoding: printable ASCII, no quote, no backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Longer blocks are read the long way: whatever a shortcut keeps of one would keep all of it in memory. */
const MAX_KNOWN_BYTES = 1024 * 1024;

/**
 * Turns the bytes of an upstream's stream into the bytes of the client's: synchronous, one call per read. Byte strings
 * come out (one character per byte), ready to be written as `latin1`; after a failure, what came before it.
 */
export class Relay {
  readonly assembly = new Assembly();
  /** Characters of the texts that arrived, whatever becomes of them. */
  characters = 0;
  /** Chunks read so far, whether or not anything left. */
  chunks = 0;
  /** True once the upstream said that nothing follows. */
  isDone = false;
  /** Why the stream cannot go on; nothing is read after it. */
  failure: GatewayError | undefined;
  /** Writes what goes to the client, and what ends it once the stream is over. */
  readonly encoder: ClientStream;
  readonly #options: RelayOptions;
  /** What may leave without being written again; nothing unless the client's wire is the common one. */
  readonly #frames: KnownFrames | undefined;
  readonly #assembles: boolean;
  readonly #lineEnd = /[\r\n]/g;
  readonly #normalizer: ChunkNormalizer;
  readonly #lines = new LineCutter();
  readonly #events: StreamReader | undefined;
  readonly #asides: Asides | undefined;
  #out = '';
  #held = '';
  #earlyBytes = 0;

  constructor(options: RelayOptions) {
    this.encoder = options.encoder;
    this.#options = options;
    this.#frames = options.encoder.frames;
    this.#assembles = options.assembles ?? true;
    this.#normalizer = new ChunkNormalizer(options);
    this.#events = options.decode && eventReader(options);
    this.#asides =
      options.readsAsides && options.verbatim?.aside ? new Asides(this.assembly, options.filter) : undefined;
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

  push(bytes: Buffer): string {
    return this.#collect(() => {
      if (this.#events) this.#decodeEvents(this.#events.push(bytes));
      else this.#relayBlock(this.#lines.push(bytes));
      if ((this.#events ?? this.#lines).heldBytes > MAX_REPLY_BYTES) throw eventTooLong();
    });
  }

  /** The upstream's body has ended: a failure, unless it said so before. */
  end(): string {
    return this.#collect(() => {
      if (this.#events) this.#decodeEvents(this.#events.end());
      else this.#relayBlock(this.#lines.end());
      if (!this.isDone && !this.#normalizer.isFinished) throw unusableReply('the stream ended before it was complete');
      this.isDone = true;
    });
  }

  /** What the guards still hold back, once the stream is complete. */
  flush(): string {
    return this.#collect(() => {
      const { holding, verbatim, filter } = this.#options;
      const own = verbatim ? undefined : this.#normalizer.rest();
      if (own) this.#emit(filter?.([own], 'push') ?? [own]);
      const rest = filter?.([], 'end') ?? [];
      if (holding) this.#passHeld(holding, rest, true);
      else if (!verbatim) this.#emit(rest);
    });
  }

  /** The bytes of an answer that was held, once. */
  takeHeld(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #collect(read: () => void): string {
    if (this.failure) return '';
    try {
      read();
    } catch (error) {
      this.failure = error instanceof GatewayError ? error : unusableReply('the stream cannot be decoded', error);
    }
    const out = this.#out;
    this.#out = ''; // may be a large event: it is not kept until the next read
    return out;
  }

  /** Lines of the common wire, and of native wires framed by lines. Unchanged runs leave in one piece. */
  #relayBlock(block: string): void {
    const { filter, decode, edit } = this.#options;
    const isShort = block.length <= MAX_KNOWN_BYTES;
    const frames = isShort && !filter && !decode && !edit ? this.#frames : undefined;
    const hasCr = block.includes('\r');
    let at = 0;
    let runStart = 0; // [runStart, at) leaves as it came
    try {
      while (at < block.length && !this.isDone) {
        const frame = frames?.match(block, at);
        const text = frames && frame && pieceText(block, frames);
        if (frames && frame && text !== undefined) {
          this.chunks += 1;
          this.characters += text.length;
          if (this.#assembles) this.assembly.addText(frame.choice, frame.kind, frame.tool, text);
          const next = frames.lineEnd + 1;
          if (frame.isSame && !hasCr && block.charCodeAt(next) === 0x0a) {
            at = next + 1;
            continue;
          }
          const { pieceStart, pieceEnd } = frames;
          this.#out += block.slice(runStart, at) + frame.outLead + block.slice(pieceStart, pieceEnd) + frame.outTail;
          runStart = at = block.charCodeAt(next) === 0x0a ? next + 1 : next; // with its blank line
          continue;
        }
        const end = hasCr ? this.#lineEndAfter(block, at) : block.indexOf('\n', at);
        this.#out += block.slice(runStart, at);
        if (end - at > MAX_REPLY_BYTES) {
          runStart = at;
          throw eventTooLong();
        }
        const line = block.slice(at, end);
        runStart = at = end + 1;
        if (line !== '') this.#line(line, isShort);
      }
    } finally {
      this.#out += block.slice(runStart, at);
    }
  }

  /** Index of the CR or LF that ends the line at `at`; blocks always end with one. */
  #lineEndAfter(block: string, at: number): number {
    this.#lineEnd.lastIndex = at;
    return this.#lineEnd.exec(block)?.index ?? block.length;
  }

  /** One line, the long way; `learns` is whether later ones may take the short. */
  #line(line: string, learns: boolean): void {
    const { decode, framing } = this.#options;
    const data = framing === 'ndjson' ? line : dataOf(line);
    if (data === undefined || data === '') return;
    if (decode) this.#decodeEvents([{ type: '', data: textOfBytes(data) }]);
    else if (isEndMark(data)) this.isDone = true;
    else this.#frame(line, data, learns);
  }

  #frame(line: string, data: string, learns: boolean): void {
    const chunk = parsedFrame(data);
    const failure = errorFrameMessage(chunk);
    if (failure !== undefined) throw failedAnswer(failure);
    if (!isChunk(chunk)) return;
    this.chunks += 1;
    this.characters += charactersOfChunk(chunk);
    const { version } = this.#normalizer;
    if (this.#options.edit) editBy(this.#options.provider, this.#options.edit, chunk);
    const isChanged = this.#normalizer.normalize(chunk) || this.#options.edit !== undefined;
    if (this.#options.filter) {
      this.#emit(this.#options.filter([chunk], 'push'));
      return;
    }
    if (this.#assembles) this.assembly.add(chunk);
    const frames = this.#frames;
    this.#out += frames && !isChanged ? frames.unchanged(data) : this.encoder.chunk(chunk);
    if (version !== this.#normalizer.version) frames?.forget();
    else if (learns && !this.#options.edit) frames?.learn(line, (fresh) => this.#normalizer.normalize(fresh));
  }

  #decodeEvents(events: Iterable<StreamEvent>): void {
    const { decode, filter } = this.#options;
    for (const event of events) {
      if (this.isDone || !decode) return;
      if (this.#options.verbatim) {
        this.#passEvent(event, decode, this.#options.verbatim);
        continue;
      }
      if (isEndMark(event.data)) {
        this.isDone = true;
        return;
      }
      refuseDeep(event.data);
      for (const chunk of decodedBy(this.#options.provider, decode, event)) {
        this.chunks += 1;
        this.characters += charactersOfChunk(chunk);
        this.#normalizer.normalize(chunk);
        this.#emit(filter?.([chunk], 'push') ?? [chunk]);
      }
    }
  }

  /** Sends an event as it is, and reads it beside: guards that only watch see its chunks. */
  #passEvent(event: StreamEvent | RawEvent, decode: StreamDecoder, verbatim: SameWireStream): void {
    let out = verbatim.event(event, 'raw' in event ? event.raw : undefined);
    refuseDeep(event.data);
    const chunks = event.data === '' ? [] : decodedBy(this.#options.provider, decode, event);
    if (event.data !== '' || this.chunks > 0) this.chunks += 'raw' in event ? (event.count ?? 1) : 1;
    else this.#waitFor(out); // a comment begins no answer: another target may still be tried
    for (const chunk of chunks) {
      this.characters += charactersOfChunk(chunk);
      this.#normalizer.normalize(chunk);
    }
    const { filter, holding } = this.#options;
    const aside = this.#asides && verbatim.aside?.(event);
    if (holding) {
      const screened = aside && this.#asides?.screen(aside);
      if (screened?.body) out = verbatim.withBody?.(event, screened.body) ?? out;
      const guarded = screened?.chunk ? [...chunks, screened.chunk] : chunks;
      holding.push(event, out, guarded);
      this.#passHeld(
        holding,
        guarded.flatMap((chunk) => filter?.([chunk], 'push') ?? [chunk]),
        false,
      );
      return;
    }
    if (aside) this.#asides?.keep(aside);
    this.#out += out;
    for (const chunk of chunks) {
      if (this.#assembles) this.assembly.add(chunk);
      filter?.([chunk], 'push');
    }
  }

  /** Comments before the first event wait for it in memory. */
  #waitFor(early: string): void {
    this.#earlyBytes += early.length;
    if (this.#earlyBytes > MAX_REPLY_BYTES)
      throw unusableReply(`the stream held more than ${MAX_REPLY_BYTES} bytes of comments and no event`);
  }

  /** What guards let pass of an answer that goes on as it came. */
  #passHeld(holding: HeldEvents, chunks: readonly ChatChunk[], isLast: boolean): void {
    if (this.#assembles) for (const chunk of chunks) this.assembly.add(asMember(chunk));
    const bytes = holding.release(chunks, isLast);
    if (holding.waitingBytes > MAX_REPLY_BYTES)
      throw unusableReply(`guards held back more than ${MAX_REPLY_BYTES} bytes of the stream`);
    if (this.#options.isHeld) this.#held += bytes;
    else this.#out += bytes;
  }

  /** Writes chunks that may go on, and remembers them as delivered. */
  #emit(chunks: readonly ChatChunk[]): void {
    for (const chunk of chunks) {
      if (this.#assembles) this.assembly.add(chunk);
      const bytes = this.encoder.chunk(chunk);
      if (this.#options.isHeld) this.#held += bytes;
      else this.#out += bytes;
    }
  }
}

/** The piece of text of the line that matched last; `undefined` when it is not a whole string. */
function pieceText(block: string, { pieceStart, pieceEnd }: KnownFrames): string | undefined {
  const piece = block.slice(pieceStart, pieceEnd);
  if (PLAIN.test(piece)) return piece;
  const text = parsedFrame(`"${piece}"`);
  return typeof text === 'string' ? text : undefined;
}
