const VARINT = 0;
const LENGTH = 2;

/** Writes one message in the wire format of protocol buffers. Source: protobuf.dev/programming-guides/encoding, read 2026-11-22. */
export class Message {
  readonly #pieces: Uint8Array[] = [];

  integer(field: number, value: number | bigint): this {
    this.#pieces.push(varint((field << 3) | VARINT), varint(value));
    return this;
  }

  /** Many integers of one field, packed. */
  integers(field: number, values: readonly number[]): this {
    return this.#block(field, Buffer.concat(values.map((value) => varint(value))));
  }

  text(field: number, value: string): this {
    return this.#block(field, Buffer.from(value));
  }

  message(field: number, value: Message): this {
    return this.#block(field, value.bytes());
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  #block(field: number, bytes: Uint8Array): this {
    this.#pieces.push(varint((field << 3) | LENGTH), varint(bytes.length), bytes);
    return this;
  }
}

/** Seven bits a byte, the lowest first; the highest bit says that another byte follows. */
function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt(typeof value === 'number' ? Math.round(value) : value);
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
