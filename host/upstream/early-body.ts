import { type GatewayError, tryParseJson } from '../contract/index.ts';
import { faultInAnswer, faultInUseless } from './fault.ts';
import { MAX_BODY_BYTES } from './fault-body.ts';

/** `{`, `[`, and blanks that may stand before them. */
const JSON_BEGINS: ReadonlySet<number | undefined> = new Set([0x7b, 0x5b, 0x20, 0x09, 0x0a, 0x0d]);

export const mayBeJson = ([first]: Buffer): boolean => JSON_BEGINS.has(first);

/** What came before the first chunk of a stream, where it may be a whole answer in JSON: some servers answer so with status 200 what is an error. */
export class EarlyBody {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  /** More than an error body may have is not kept. */
  keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= MAX_BODY_BYTES) this.#pieces.push(piece);
    else this.#pieces.length = 0;
  }

  /** The error that it is, if it is one. */
  fault(): GatewayError | undefined {
    if (this.#pieces.length === 0) return undefined;
    const answer = tryParseJson(Buffer.concat(this.#pieces).toString('utf8'));
    return faultInAnswer(answer) ?? faultInUseless(answer);
  }
}
