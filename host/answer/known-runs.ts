import { MAX_REPLY_BYTES } from '../upstream/limits.ts';
import type { KnownFrames } from '../wire/known-frames.ts';
import type { Relayed } from './relayed.ts';
import { eventTooLong, parsedFrame } from './stream-bounds.ts';

/** A line without anything that needs decoding: printable ASCII, no quote, no backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Longer blocks are read the long way: whatever a shortcut keeps of one would keep all of it in memory. */
const MAX_KNOWN_BYTES = 1024 * 1024;

/** How a block of lines is read. */
export interface BlockReading {
  /** The shortcut for lines of a known shape; `undefined` where each line must be read the long way. */
  readonly frames: KnownFrames | undefined;
  readonly relayed: Relayed;
  /** False where what was delivered will not be asked for. */
  readonly assembles: boolean;
  /** Reads one line the long way; `learns` is whether later ones may take the shortcut. */
  line(line: string, learns: boolean): void;
}

/** Reads blocks of whole lines. Lines of a known shape leave unparsed, and runs that need no change in one piece. */
export class BlockReader {
  readonly #reading: BlockReading;
  readonly #lineEnd = /[\r\n]/g;

  constructor(reading: BlockReading) {
    this.#reading = reading;
  }

  read(block: string): void {
    const { relayed, assembles } = this.#reading;
    const isShort = block.length <= MAX_KNOWN_BYTES;
    const frames = isShort ? this.#reading.frames : undefined;
    const hasCr = block.includes('\r');
    let at = 0;
    let runStart = 0; // [runStart, at) leaves as it came
    try {
      while (at < block.length && !relayed.isDone) {
        const frame = frames?.match(block, at);
        const text = frames && frame && pieceText(block, frames);
        if (frames && frame && text !== undefined) {
          relayed.chunks += 1;
          relayed.characters += text.length;
          if (frame.kind === 'content' && text !== '') relayed.isSpoken = true;
          if (assembles) relayed.assembly.addText(frame.choice, frame.kind, frame.tool, text);
          const next = frames.lineEnd + 1;
          if (frame.isSame && !hasCr && block.charCodeAt(next) === 0x0a) {
            at = next + 1;
            continue;
          }
          const { pieceStart, pieceEnd } = frames;
          relayed.send(block.slice(runStart, at) + frame.outLead + block.slice(pieceStart, pieceEnd) + frame.outTail);
          runStart = at = block.charCodeAt(next) === 0x0a ? next + 1 : next; // with its blank line
          continue;
        }
        const end = hasCr ? this.#lineEndAfter(block, at) : block.indexOf('\n', at);
        relayed.send(block.slice(runStart, at));
        if (end - at > MAX_REPLY_BYTES) {
          runStart = at;
          throw eventTooLong();
        }
        const line = block.slice(at, end);
        runStart = at = end + 1;
        if (line !== '') this.#reading.line(line, isShort);
      }
    } finally {
      relayed.send(block.slice(runStart, at));
    }
  }

  /** Index of the CR or LF that ends the line at `at`; blocks always end with one. */
  #lineEndAfter(block: string, at: number): number {
    this.#lineEnd.lastIndex = at;
    return this.#lineEnd.exec(block)?.index ?? block.length;
  }
}

/** The piece of text of the line that matched last; `undefined` when it is not a whole string. */
function pieceText(block: string, { pieceStart, pieceEnd }: KnownFrames): string | undefined {
  const piece = block.slice(pieceStart, pieceEnd);
  if (PLAIN.test(piece)) return piece;
  const text = parsedFrame(`"${piece}"`);
  return typeof text === 'string' ? text : undefined;
}
