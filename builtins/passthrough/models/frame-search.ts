import type { GatewayError } from '../../../host/contract/index.ts';
import type { NamedModel } from '../../../host/pipeline/named-models.ts';
import { cannotBeSearched } from './listed.ts';
import { modelsInJson } from './model-search.ts';

const CONTINUATION = 0;
/** From here on opcodes are those of control frames, which may stand between the frames of a message. */
const CONTROL = 8;

/** A frame whose payload is read now. */
interface Frame {
  readonly isLast: boolean;
  readonly isControl: boolean;
  readonly mask: Buffer | undefined;
  /** Bytes of the payload that have come, and all there are. */
  read: number;
  readonly length: number;
}

/** Looks for names of models in what a client sends over a WebSocket: in each message that is JSON. Source: RFC 6455 5.2. */
export class FrameSearch {
  readonly #maxBytes: number;
  readonly #refusalOf: (named: readonly NamedModel[]) => GatewayError | undefined;
  #header = Buffer.alloc(0);
  #frame: Frame | undefined;
  #message: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, refusalOf: (named: readonly NamedModel[]) => GatewayError | undefined) {
    this.#maxBytes = maxBytes;
    this.#refusalOf = refusalOf;
  }

  /** Throws as soon as a message has ended that must not go on: these bytes are its end. */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      at = this.#frame ? this.#payload(this.#frame, bytes, at) : this.#head(bytes, at);
      if (this.#frame && this.#frame.read === this.#frame.length) this.#endFrame(this.#frame);
    }
  }

  #head(bytes: Buffer, at: number): number {
    this.#header = Buffer.concat([this.#header, bytes.subarray(at, at + 1)]);
    const [first = 0, second = 0] = this.#header;
    const short = second & 0x7f;
    const extended = short === 127 ? 8 : short === 126 ? 2 : 0;
    const masked = (second & 0x80) === 0 ? 0 : 4;
    if (this.#header.length < 2 || this.#header.length < 2 + extended + masked) return at + 1;
    if ((first & 0x70) !== 0) throw cannotBeSearched('a frame of an extension');
    const length =
      extended === 8 ? Number(this.#header.readBigUInt64BE(2)) : extended === 2 ? this.#header.readUInt16BE(2) : short;
    const opcode = first & 0x0f;
    if (opcode !== CONTINUATION && opcode < CONTROL) this.#forget();
    this.#frame = {
      isLast: (first & 0x80) !== 0,
      isControl: opcode >= CONTROL,
      mask: masked > 0 ? this.#header.subarray(2 + extended) : undefined,
      read: 0,
      length,
    };
    this.#header = Buffer.alloc(0);
    return at + 1;
  }

  #payload(frame: Frame, bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + frame.length - frame.read);
    if (!frame.isControl) this.#keep(unmasked(bytes.subarray(at, end), frame));
    frame.read += end - at;
    return end;
  }

  #keep(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) throw cannotBeSearched('a message of this length');
    this.#message.push(bytes);
  }

  #endFrame({ isLast, isControl }: Frame): void {
    this.#frame = undefined;
    if (!isLast || isControl) return;
    const text = Buffer.concat(this.#message)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trimStart();
    this.#forget();
    if (!text.startsWith('{') && !text.startsWith('[')) return;
    const named = modelsInJson(text);
    const refusal = named ? this.#refusalOf(named) : cannotBeSearched('the message');
    if (refusal) throw refusal;
  }

  #forget(): void {
    this.#message = [];
    this.#bytes = 0;
  }
}

function unmasked(bytes: Buffer, { mask, read }: Frame): Buffer {
  return mask ? Buffer.from(bytes.map((byte, at) => byte ^ (mask[(read + at) % 4] ?? 0))) : bytes;
}
