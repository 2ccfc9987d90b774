import type { GatewayError } from '../contract/index.ts';
import { unusableReply } from '../upstream/fault.ts';
import { MAX_REPLY_BYTES } from '../upstream/limits.ts';
import type { ReplyHeaders } from '../upstream/upstream-call.ts';

/** A reply that is not 200, while it arrives. */
export class ErrorBody {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(status: number, headers: ReplyHeaders) {
    this.status = status;
    this.headers = headers;
  }

  /** False once it is longer than any reply may be. */
  keep(bytes: Buffer): boolean {
    this.#length += bytes.length;
    if (this.#length > MAX_REPLY_BYTES) return false;
    this.#pieces.push(bytes);
    return true;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  tooLong(): GatewayError {
    return unusableReply(`the error body exceeds the limit of ${MAX_REPLY_BYTES} bytes`);
  }
}
