import { bytePile } from '../../../host/upstream/pile.ts';

const LINE_END = 0x0a;

export interface LineOptions {
  readonly maxBytes: number;
  /** Called with each line that holds something, without its end. */
  readonly onLine: (line: string) => void;
  /** Called when a line is too long; nothing may follow then. Without it such a line is cut. */
  readonly onTooLong?: () => void;
}

/** Cuts bytes at their line ends, and holds no more than one line of the longest permitted length. */
export class LineReader {
  readonly #options: LineOptions;
  readonly #held = bytePile();

  constructor(options: LineOptions) {
    this.#options = options;
  }

  push(bytes: Buffer): void {
    let at = 0;
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, at)) {
      if (!this.#hold(bytes.subarray(at, end))) return;
      this.#emit();
      at = end + 1;
    }
    this.#hold(bytes.subarray(at));
  }

  #hold(piece: Buffer): boolean {
    const { maxBytes, onTooLong } = this.#options;
    const room = maxBytes - this.#held.length;
    if (piece.length > room && onTooLong) {
      onTooLong();
      return false;
    }
    if (piece.length > 0 && room > 0) this.#held.push(piece.subarray(0, room));
    return true;
  }

  #emit(): void {
    const line = this.#held.take().toString('utf8');
    if (line.trim() !== '') this.#options.onLine(line);
  }
}
