import { bodyTexts } from '../../../host/contract/client-body.ts';
import { isFields, type StreamEvent, tryParseJson } from '../../../host/contract/index.ts';
import { bytesOfText } from '../../../host/upstream/sse.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { Aside, SameWireStream } from '../../../host/wire/client-wire.ts';
import { BODY_TEXTS } from './body-texts.ts';
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
    return isFields(tryParseJson(data)) ? this.#write(bytesOfText(data)) : ''; // anything else would spoil the list
  }

  /** Parts that the vendor runs, sources, and what else a frame says. */
  aside({ data }: StreamEvent): Aside | undefined {
    const frame = tryParseJson(data);
    if (!isFields(frame)) return undefined;
    const { candidates } = frame;
    const value = { ...frame, candidates: Array.isArray(candidates) ? candidates.map(withoutCommonParts) : candidates };
    const body = { wire: 'gemini', operation: 'streamGenerateContent', value, texts: BODY_TEXTS } as const;
    return bodyTexts(body).next().done ? undefined : { body };
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

/** A candidate less what has a place in the common format. */
function withoutCommonParts(candidate: unknown): unknown {
  if (!isFields(candidate) || !isFields(candidate['content']) || !Array.isArray(candidate['content']['parts'])) return candidate;
  const parts = candidate['content']['parts'].filter(isFields).map(({ text: _text, functionCall: _call, thought: _thought, thoughtSignature: _signature, ...rest }) => rest);
  return { ...candidate, content: { ...candidate['content'], parts } };
}
