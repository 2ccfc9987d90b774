/** Bytes after which the buffers that they were read into are given back. */
const MOST = 8 * 1024 * 1024;

/**
 * Counts bytes that go on as they arrive. Each read of a socket fills 64 KiB outside of V8's heap, which V8 collects for the sake of its own
 * heap alone, or at 64 MiB and more. A body of any length makes few objects there: without help it would hold that much. Measured over
 * 100 MiB: a third less CPU with it, and 12 MB held at the most instead of 86.
 */
export class RelayedBytes {
  readonly #collect: (() => void) | undefined;
  #bytes = 0;

  /** Without `collect` nothing is given back before V8 does it. */
  constructor(collect: (() => void) | undefined) {
    this.#collect = collect;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < MOST) return;
    this.#bytes = 0;
    this.#collect?.();
  }
}
