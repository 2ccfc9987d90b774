import type { RawEvent } from '../upstream/raw-events.ts';
import { decodedBy } from '../boundary/stream-boundary.ts';
import type { ChatChunk, StreamEvent } from '../contract/index.ts';
import { unusableReply } from '../upstream/fault.ts';
import { MAX_REPLY_BYTES } from '../upstream/limits.ts';
import { Asides, asMember } from './asides.ts';
import { chunkPieces } from './guarded/chunk-pieces.ts';
import type { ChunkNormalizer } from './chunk-normalizer.ts';
import { HeldEvents } from './held-events.ts';
import type { PutOff } from './guarded/put-off.ts';
import type { Relayed } from './relayed.ts';
import type { RelayGuards, SameWireSource } from './relay-source.ts';
import { refuseDeep } from './stream-bounds.ts';

/** Bytes of an answer that may wait for its first event that is read. */
const MAX_OPENING_BYTES = 64 * 1024;

/** Passes on the events of an answer that comes in the client's own wire; guards see their chunks, and hold events back where they hold texts. */
export class SameWireRelay {
  readonly #source: SameWireSource;
  readonly #guards: RelayGuards | undefined;
  readonly #normalizer: ChunkNormalizer;
  readonly #relayed: Relayed;
  readonly #putOff: PutOff;
  readonly #holding: HeldEvents | undefined;
  readonly #asides: Asides | undefined;
  #earlyBytes = 0;

  constructor({
    source,
    guards,
    normalizer,
    relayed,
    putOff,
  }: {
    readonly source: SameWireSource;
    readonly guards: RelayGuards | undefined;
    readonly normalizer: ChunkNormalizer;
    readonly relayed: Relayed;
    readonly putOff: PutOff;
  }) {
    this.#source = source;
    this.#guards = guards;
    this.#normalizer = normalizer;
    this.#relayed = relayed;
    this.#putOff = putOff;
    relayed.isOpening = source.stream.isOpening !== undefined;
    const isHeldBack = guards !== undefined && (guards.holdsBack || guards.awaitsVerdict);
    this.#holding = isHeldBack ? new HeldEvents(source.stream) : undefined;
    if (source.readsAsides && source.stream.aside) this.#asides = new Asides(relayed.assembly, guards?.filter);
  }

  push(event: StreamEvent | RawEvent): void {
    const { stream, decode, module } = this.#source;
    const out = stream.event(event, 'raw' in event ? event.raw : undefined);
    refuseDeep(event.data);
    const chunks = event.data === '' ? [] : decodedBy(module, decode, event);
    if (this.#relayed.isOpening && event.data !== '') this.#relayed.isOpening = stream.isOpening?.(event) ?? false;
    this.#pass(event, chunks, out);
    if (this.#relayed.waitingBytes > MAX_OPENING_BYTES) this.#relayed.isOpening = false;
  }

  #pass(event: StreamEvent | RawEvent, chunks: readonly ChatChunk[], bytes: string): void {
    const { stream } = this.#source;
    let out = bytes;
    if (event.data !== '' || this.#relayed.chunks > 0) this.#relayed.chunks += 'raw' in event ? (event.count ?? 1) : 1;
    else this.#waitFor(out); // a comment begins no answer: another target may still be tried
    for (const chunk of chunks) {
      this.#relayed.count(chunk);
      this.#normalizer.normalize(chunk);
      const { silence } = this.#normalizer;
      if (silence !== undefined) throw unusableReply(silence);
    }
    const aside = this.#asides && stream.aside?.(event);
    if (this.#holding) {
      const screened = aside && this.#asides?.screen(aside);
      if (screened?.body) out = stream.withBody?.(event, screened.body) ?? out;
      const guarded = screened?.chunk ? [...chunks, screened.chunk] : chunks;
      this.#holding.push(event, out, guarded);
      this.#screen(guarded, this.#holding);
      return;
    }
    if (aside) this.#asides?.keep(aside);
    this.#relayed.send(out);
    for (const chunk of chunks) this.#relayed.keep(chunk);
    if (this.#guards) this.#screen(chunks, undefined);
  }

  /** Has the guards see the chunks of an event: long texts piece by piece, all but the first later. */
  #screen(chunks: readonly ChatChunk[], holding: HeldEvents | undefined): void {
    const pieces = chunks.flatMap((chunk) => chunkPieces(chunk));
    const hasLong = pieces.length > chunks.length;
    this.#let(hasLong ? pieces.slice(0, 1) : pieces, holding);
    if (hasLong) this.#putOff.before(pieces.slice(1).map((piece) => () => this.#let([piece], holding)));
  }

  #let(chunks: readonly ChatChunk[], holding: HeldEvents | undefined): void {
    const passed = chunks.flatMap((chunk) => this.#guards?.filter([chunk], 'push') ?? [chunk]);
    if (holding) this.#release(holding, passed, false);
  }

  /** What the guards still hold back, once the stream is complete. */
  flush(): void {
    const rest = this.#guards?.filter([], 'end') ?? [];
    if (this.#holding) this.#release(this.#holding, rest, true);
  }

  /** Comments before the first event wait for it in memory. */
  #waitFor(early: string): void {
    this.#earlyBytes += early.length;
    if (this.#earlyBytes > MAX_REPLY_BYTES)
      throw unusableReply(`the stream held more than ${MAX_REPLY_BYTES} bytes of comments and no event`);
  }

  /** Sends the events whose texts the guards let pass. */
  #release(holding: HeldEvents, chunks: readonly ChatChunk[], isLast: boolean): void {
    for (const chunk of chunks) this.#relayed.keep(asMember(chunk));
    const bytes = holding.release(chunks, isLast);
    if (holding.waitingBytes > MAX_REPLY_BYTES)
      throw unusableReply(`guards held back more than ${MAX_REPLY_BYTES} bytes of the stream`);
    this.#relayed.sendGuarded(bytes);
  }
}
