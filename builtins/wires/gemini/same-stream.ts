import type { StreamEvent } from '../../../host/contract/index.ts';
import { bytesOfText } from '../../../host/upstream/sse.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { SameWireStream } from '../../../host/wire/client-wire.ts';
import { errorBody } from './errors.ts';
import { SSE_FORM, type StreamForm } from './stream-form.ts';

/** Passes on the frames of the wire's own vendor, which always sends events: as they are, or their objects in one list. */
export class SameStream implements SameWireStream {
  readonly frames = undefined;
  readonly #form: StreamForm;
  #written = 0;

  constructor(form: StreamForm) {
    this.#form = form;
  }

  get contentType(): string {
    return this.#form.contentType;
  }

  event({ data }: StreamEvent, raw: string | undefined): string {
    if (this.#form === SSE_FORM && raw !== undefined) return this.#counted(raw);
    return data === '' ? '' : this.#write(bytesOfText(data));
  }

  /** Of a stream that is passed on, chunks are read only. */
  chunk(): string {
    return '';
  }

  end(): string {
    return this.#written === 0 ? this.#form.empty : this.#form.end;
  }

  error(failure: ClientFailure, isFirst = false): string {
    if (isFirst) this.#written = 0;
    return this.#write(bytesOfText(JSON.stringify(errorBody(failure)))) + this.#form.end;
  }

  #write(json: string): string {
    return this.#counted(this.#form.frame(json, this.#written === 0));
  }

  #counted(bytes: string): string {
    this.#written += 1;
    return bytes;
  }
}
