/** Whole answers beside chat as the events that clients of a stream read. */
import {
  type Fields,
  type ImagesReply,
  isFields,
  type RawReply,
  tryParseJson,
  type Usage,
} from '../../contract/index.ts';
import { bytesOfText } from '../../upstream/sse.ts';
import { dataEvent } from '../../wire/known-frames.ts';
import { COMPLETING } from './event-relay.ts';

/** Members of a transcript that its last event has as well. */
const TRANSCRIPT = ['text', 'languages', 'logprobs', 'usage'] as const;
/** Members of an answer with images that each of them has in a stream. */
const PICTURE = ['background', 'output_format', 'quality', 'size'] as const;

/** What of an exchange its events are made of. */
interface Answered {
  readonly surface: string;
  readonly reply: unknown;
  /** The answer came as a stream, and was read whole: its text stands in an event of its own too. */
  readonly delivery: { readonly isHeld: boolean };
}

/** The events of a whole answer, as a byte string. */
export function wholeEvents({ surface, reply, delivery }: Answered): string {
  const events =
    surface === 'images' || surface === 'images.edits'
      ? imageEvents(COMPLETING[surface], reply as ImagesReply)
      : surface === 'audio.speech'
        ? speechEvents(reply as RawReply)
        : transcriptEvents(reply as RawReply, delivery.isHeld);
  return events.map((event) => dataEvent(bytesOfText(JSON.stringify(event)))).join('');
}

/** One for each image; the last says what all of them used. */
function imageEvents(type: string, { created, usage, data, ...shown }: ImagesReply): Fields[] {
  const picture = pick(shown, PICTURE);
  return data.map((image, at) => ({
    type,
    ...image,
    ...(created !== undefined && { created_at: created }),
    ...picture,
    ...(usage && at === data.length - 1 && { usage: imagesUsage(usage) }),
  }));
}

/** Usage under the names that answers with images have for it. Source: OpenAI API reference, "Images", 2026-11-22. */
export function imagesUsage({ prompt_tokens, completion_tokens, total_tokens, ...details }: Usage): object {
  return { ...details, input_tokens: prompt_tokens, output_tokens: completion_tokens, total_tokens };
}

function speechEvents({ body }: RawReply): Fields[] {
  const audio = Buffer.from(bytesOf(body)).toString('base64');
  return [{ type: 'speech.audio.delta', audio }, { type: COMPLETING['audio.speech'] }];
}

function transcriptEvents({ contentType, body }: RawReply, isHeld: boolean): Fields[] {
  const words = Buffer.from(bytesOf(body)).toString('utf8');
  const json = contentType.includes('json') ? tryParseJson(words) : undefined;
  const members = isFields(json) ? pick(json, TRANSCRIPT) : { text: words };
  const done = { type: COMPLETING['audio.transcriptions'], ...members };
  return isHeld ? [{ type: 'transcript.text.delta', delta: members['text'] }, done] : [done];
}

/** A whole answer is here already. */
const bytesOf = (body: RawReply['body']): Uint8Array => (body instanceof Uint8Array ? body : new Uint8Array());

function pick(from: Readonly<Fields>, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
