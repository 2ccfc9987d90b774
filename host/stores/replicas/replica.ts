/** Bytes of an id. */
const SIZE = 8;

/**
 * This process among those that share its stores. Its id is another one at each start, and after each time that the others took it for gone:
 * what stands under the old id is not its own any more.
 */
export class Replica {
  readonly #randomBytes: (size: number) => Buffer;
  #id: string | undefined;

  constructor(randomBytes: (size: number) => Buffer) {
    this.#randomBytes = randomBytes;
  }

  /** 16 hexadecimal digits. */
  get id(): string {
    return (this.#id ??= this.#randomBytes(SIZE).toString('hex'));
  }

  /** Another id from now on. */
  renew(): void {
    this.#id = undefined;
  }
}
