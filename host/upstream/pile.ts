/** Pieces that are joined before another begins. */
const SMALL_PIECES = 1024;

/**
 * Pieces of something that is not complete yet. Every byte is copied at most twice, and thousands of tiny pieces take
 * little more memory than what they hold.
 */
export class Pile<T extends { readonly length: number }> {
  /** What all pieces hold together: bytes, or characters. */
  length = 0;
  readonly #join: (pieces: T[]) => T;
  #pieces: T[] = [];
  #joined: T[] = [];

  constructor(join: (pieces: T[]) => T) {
    this.#join = join;
  }

  push(piece: T): void {
    this.length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length < SMALL_PIECES) return;
    this.#joined.push(this.#join(this.#pieces));
    this.#pieces = [];
  }

  /** All pieces as one; the pile is empty then. */
  take(): T {
    const whole = this.#join(this.#joined.length === 0 ? this.#pieces : [...this.#joined, ...this.#pieces]);
    this.#pieces = [];
    this.#joined = [];
    this.length = 0;
    return whole;
  }
}

/** A pile of byte strings. */
export const textPile = (): Pile<string> => new Pile((pieces) => pieces.join(''));

/** A pile of buffers. */
export const bytePile = (): Pile<Buffer> => new Pile(joinBuffers);

function joinBuffers(pieces: readonly Buffer[]): Buffer {
  const [only, second] = pieces;
  return only && !second ? only : Buffer.concat(pieces); // mostly a single one, which need not be copied
}
