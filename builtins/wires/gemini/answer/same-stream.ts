import { bodyTexts } from '../../../../host/contract/text/client-body.ts';
import { type Fields, isFields, type StreamEvent, tryParseJson } from '../../../../host/contract/index.ts';
import { bytesOfText } from '../../../../host/upstream/sse.ts';
import type { ClientFailure } from '../../../../host/wire/client-failure.ts';
import type { Aside, HeldText, SameWireStream } from '../../../../host/wire/client-wire.ts';
import { BODY_TEXTS } from '../body-texts.ts';
import { errorBody } from '../errors.ts';
import { OpenCalls, type Signatures, vendorsOwn, withHeldTexts, withVendorsOwn } from './held-frames.ts';
import { SSE_FORM, type StreamForm } from '../stream-form.ts';

/** Passes on the frames of the wire's own vendor, which always sends events: as they are, or their objects in one list. */
export class SameStream implements SameWireStream {
  readonly frames = undefined;
  readonly #form: StreamForm;
  readonly #calls = new OpenCalls();
  /** Frames in which guards have changed what only the vendor has. */
  readonly #edited = new WeakMap<StreamEvent, Readonly<Fields>>();
  readonly #signatures: Signatures = new Map();
  #written = 0;

  constructor(form: StreamForm) {
    this.#form = form;
  }

  get contentType(): string {
    return this.#form.contentType;
  }

  event({ data }: StreamEvent, raw: string | undefined): string {
    if (this.#form === SSE_FORM && raw !== undefined) return this.#counted(raw);
    return isFields(tryParseJson(data)) ? this.#write(bytesOfText(data)) : ''; // anything else would spoil the list
  }

  /** Parts that the vendor runs, sources, and what else a frame says. */
  aside({ data }: StreamEvent): Aside | undefined {
    const frame = tryParseJson(data);
    if (!isFields(frame)) return undefined;
    const body = {
      wire: 'gemini',
      operation: 'streamGenerateContent',
      value: vendorsOwn(frame),
      texts: BODY_TEXTS,
    } as const;
    return bodyTexts(body).next().done ? undefined : { body };
  }

  /** The frame that has just come. */
  withBody(event: StreamEvent, own: Readonly<Fields>): string {
    const frame = tryParseJson(event.data);
    const edited = withVendorsOwn(isFields(frame) ? frame : {}, own);
    this.#edited.set(event, edited);
    return this.#framed(edited, this.#written === 1);
  }

  withTexts(event: StreamEvent, texts: readonly HeldText[], bytes: string): string {
    const frame = this.#edited.get(event) ?? tryParseJson(event.data);
    return isFields(frame) ? this.#framed(withHeldTexts(frame, texts, this.#signatures), bytes.startsWith('[')) : bytes;
  }

  /** Arguments of a call come in pieces, and chunks hold them once they are complete. */
  isPartial({ data }: StreamEvent): boolean {
    const frame = data.includes('"functionCall"') ? tryParseJson(data) : undefined;
    return this.#calls.after(isFields(frame) ? frame : {});
  }

  /** Chunks of a stream that is passed on are only read. */
  chunk(): string {
    return '';
  }

  end(): string {
    return this.#written === 0 ? this.#form.empty : this.#form.end;
  }

  keepAlive(): string {
    return this.#form.keepAlive;
  }

  error(failure: ClientFailure, isFirst = false): string {
    if (isFirst) this.#written = 0;
    return this.#write(bytesOfText(JSON.stringify(errorBody(failure)))) + this.#form.end;
  }

  #framed(frame: object, isFirst: boolean): string {
    return this.#form.frame(bytesOfText(JSON.stringify(frame)), isFirst);
  }

  #write(json: string): string {
    return this.#counted(this.#form.frame(json, this.#written === 0));
  }

  #counted(bytes: string): string {
    this.#written += 1;
    return bytes;
  }
}
