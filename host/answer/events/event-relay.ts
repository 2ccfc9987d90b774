import {
  type Billed,
  failedAnswer,
  type Fields,
  GatewayError,
  type ImagesReply,
  isFields,
  type RawReply,
  readBilled,
  type ReplyOf,
  type StreamedSurface,
  tryParseJson,
} from '../../contract/index.ts';
import { faultInFrame, faultInUseless, unusableReply } from '../../upstream/fault.ts';
import { type RawEvent, RawEventReader } from '../../upstream/raw-events.ts';
import { isEndMark } from '../../upstream/sse.ts';
import type { ClientStream } from '../../wire/client-wire.ts';
import type { AnswerFacts } from '../charged-usage.ts';
import { membersOf } from './event-tail.ts';
import type { StreamRelay } from './stream-relay.ts';

/**
 * The event that completes an answer, or one image of it, and has its usage. Source: npm openai 7.57.0, types `TranscriptionStreamEvent`,
 * `ImageGenStreamEvent`, `ImageEditStreamEvent`; OpenAI API reference, "Speech", `speech.audio.done`; 2026-11-27.
 */
export const COMPLETING: Readonly<Record<StreamedSurface, string>> = {
  images: 'image_generation.completed',
  'images.edits': 'image_edit.completed',
  'audio.transcriptions': 'transcript.text.done',
  'audio.speech': 'speech.audio.done',
};

/** Largest event that is passed on, in bytes: an image of the largest size, as base64. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;
/** Characters of a transcript that are kept: to be checked before anything of it leaves, or for the log. */
export const MAX_TRANSCRIPT = 1024 * 1024;

export interface EventRelayOptions {
  readonly surface: StreamedSurface;
  /** Says why an answer broke off. */
  readonly encoder: ClientStream;
  /** Nothing leaves: the answer is read to its end, to be judged as a whole. */
  readonly isHeld: boolean;
  /** What a reply is billed by. */
  readonly factsOf: (reply: ReplyOf<StreamedSurface>) => AnswerFacts;
}

/**
 * Passes on the events of an answer beside chat in the bytes they came in, one by one. Of each it reads no more than what it
 * is, what it says of usage, and the text of a transcript.
 */
export class EventRelay implements StreamRelay {
  readonly encoder: ClientStream;
  readonly reportedModel = undefined;
  readonly isWaiting = false;
  readonly isGuarded = false;
  readonly isBehind = false;
  readonly signs = 0;
  failure: GatewayError | undefined;
  isDone = false;
  chunks = 0;
  readonly #surface: StreamedSurface;
  readonly #isHeld: boolean;
  readonly #factsOf: EventRelayOptions['factsOf'];
  readonly #events = new RawEventReader();
  #text = '';
  #billed: Billed = {};
  /** Size and quality of the last image that says them. */
  #look: Readonly<Fields> = {};
  /** Events that completed the answer, or one of its images. */
  #completed = 0;
  /** Members of the last of them, where the whole of it was read. */
  #last: Readonly<Fields> = {};

  constructor({ surface, encoder, isHeld, factsOf }: EventRelayOptions) {
    this.encoder = encoder;
    this.#surface = surface;
    this.#isHeld = isHeld;
    this.#factsOf = factsOf;
  }

  /** Whether the answer is complete: what it said of its usage by then is all of it. */
  get isFinished(): boolean {
    return this.#completed > 0;
  }

  push(bytes: Buffer): string {
    return this.#take(() => {
      const events = this.#events.push(bytes);
      if (this.#events.heldBytes > MAX_EVENT_BYTES)
        throw unusableReply(`an event of the stream exceeds the limit of ${MAX_EVENT_BYTES} bytes`);
      return events;
    });
  }

  end(): string {
    const out = this.#take(() => this.#events.end());
    if (!this.failure && !this.isDone && !this.isFinished)
      this.failure = unusableReply('the stream ended before it was complete');
    this.isDone = true;
    return out;
  }

  catchUp(): string {
    return '';
  }

  begin(): string {
    return '';
  }

  flush(): string {
    return '';
  }

  takeHeld(): string {
    return '';
  }

  /** What was said and made. Pictures and sound have left, and are not kept. */
  reply(): ReplyOf<StreamedSurface> {
    if (this.#surface === 'images' || this.#surface === 'images.edits') {
      const { usage } = this.#billed;
      const { size, quality } = this.#look;
      return {
        data: Array.from({ length: this.#completed }, () => ({})),
        ...(size !== undefined && { size }),
        ...(quality !== undefined && { quality }),
        ...(usage && { usage }),
      } satisfies ImagesReply;
    }
    if (this.#surface === 'audio.speech')
      return { contentType: this.encoder.contentType, body: new Uint8Array(), billed: this.#billed };
    const { type: _type, text = this.#text, ...rest } = this.#last;
    return transcript({ text, ...rest }, this.#billed);
  }

  facts(): AnswerFacts {
    return this.#factsOf(this.reply());
  }

  #take(read: () => readonly RawEvent[]): string {
    if (this.failure) return '';
    let out = '';
    try {
      for (const event of read()) {
        if (this.isDone) break;
        const bytes = this.#event(event);
        if (!this.#isHeld) out += bytes;
      }
    } catch (error) {
      this.failure = error instanceof GatewayError ? error : unusableReply('the stream cannot be decoded', error);
    }
    return out;
  }

  /** What leaves of an event. A comment begins no answer: before the first event another target may still be tried. */
  #event({ type, data, raw }: RawEvent): string {
    if (data === '') return this.chunks > 0 ? raw : '';
    if (isEndMark(data)) {
      this.isDone = true;
      return this.chunks > 0 ? raw : '';
    }
    const value = this.#isHeld ? fieldsIn(data) : membersOf(data);
    const failure = faultInFrame(value) ?? (type === 'error' ? errorOf(value) : oddFault(type, value));
    if (failure) throw failure;
    this.chunks += 1;
    const completing = COMPLETING[this.#surface];
    if (isNamed(completing, type, data, value)) this.#complete(value);
    else if (typeof value?.['delta'] === 'string') this.#addText(value['delta']);
    return raw;
  }

  #complete(value: Readonly<Fields> | undefined): void {
    this.#completed += 1;
    const { usage } = value ?? {};
    if (usage !== undefined) this.#billed = readBilled({ usage });
    if (value?.['size'] !== undefined) this.#look = value;
    if (this.#surface !== 'audio.transcriptions' || typeof value?.['text'] !== 'string') return;
    this.#last = value;
    this.#bound(value['text']);
  }

  #addText(piece: string): void {
    if (this.#text.length <= MAX_TRANSCRIPT) this.#text += piece;
    this.#bound(this.#text);
  }

  #bound({ length }: string): void {
    if (this.#isHeld && length > MAX_TRANSCRIPT)
      throw new GatewayError(
        'response_rejected',
        `response rejected by gateway (after_request): the transcript has more than ${MAX_TRANSCRIPT} characters, which cannot be checked`,
      );
  }
}

/** An event that is an error by its name alone. */
const errorOf = (value: unknown): GatewayError =>
  faultInFrame({ error: value }) ?? failedAnswer('the provider reported an error');

/** All events of these answers have a name with a dot in it: others may be an error in another shape. */
function oddFault(type: string, value: Readonly<Fields> | undefined): GatewayError | undefined {
  const { type: named } = value ?? {};
  return type.includes('.') || (typeof named === 'string' && named.includes('.')) ? undefined : faultInUseless(value);
}

/** Whether an event has this name. A long one is not parsed: inside of a text the quotes of the name would have a backslash before them. */
function isNamed(name: string, type: string, data: string, value: Readonly<Fields> | undefined): boolean {
  return type === name || (typeof value?.['type'] === 'string' ? value['type'] === name : data.includes(`"${name}"`));
}

function fieldsIn(data: string): Readonly<Fields> | undefined {
  const value = tryParseJson(data);
  return isFields(value) ? value : undefined;
}

function transcript(members: Readonly<Fields>, billed: Billed): RawReply {
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(members)), billed };
}
