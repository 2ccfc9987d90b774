import { leaves } from './client-body.ts';
import { isFields } from '../json/fields.ts';
import { tryParseJson } from '../json/json.ts';
import type { Surface } from '../surface.ts';
import type { ImagesReply, RawReply, RerankReply } from '../wire/other.ts';

/**
 * The texts of an answer beside chat: transcripts, what became of an image's prompt, documents that
 * come back. The others hold numbers, labels, pictures and sound.
 *
 * @param surface one beside chat; for those of chats it gives nothing.
 * @param reply the answer in the common wire. A body that is still arriving has no texts yet.
 */
export function* answerTexts(surface: Surface, reply: unknown): Generator<string> {
  if (surface === 'images' || surface === 'images.edits') yield* imagesTexts(reply as ImagesReply);
  else if (surface === 'rerank') yield* documentTexts(reply as RerankReply);
  else if (surface === 'audio.transcriptions' || surface === 'audio.translations')
    yield* transcriptTexts(reply as RawReply);
}

/** All but where the picture is. */
function* imagesTexts({ data }: ImagesReply): Generator<string> {
  for (const { url: _url, b64_json: _bytes, ...rest } of data) yield* leaves(rest);
}

function* documentTexts({ results }: RerankReply): Generator<string> {
  for (const { document } of results) yield* leaves(document);
}

/** Members of a detailed transcript that name what was done. */
const TRANSCRIPT_LABELS = new Set(['task', 'language']);
/**
 * A line of subtitles that says when the next ones are shown; it may have the number of the cue
 * before it.
 */
const CUE_TIMES = /(?:^|\n)(?:\d+\r?\n)?[^\n]*-->[^\n]*(?=\n|$)/g;

/**
 * The texts of a transcript. Subtitles also give what is said without the times between: a sentence
 * goes on over several of them.
 */
function* transcriptTexts({ contentType, body }: RawReply): Generator<string> {
  if (!(body instanceof Uint8Array)) return;
  const text = new TextDecoder().decode(body);
  const json = contentType.includes('json') ? tryParseJson(text) : undefined;
  if (isFields(json)) {
    for (const [name, member] of Object.entries(json))
      if (!TRANSCRIPT_LABELS.has(name) || typeof member !== 'string') yield* leaves(member);
    return;
  }
  yield text;
  if (text.includes('-->')) yield text.replace(CUE_TIMES, '').replace(/\s+/g, ' ');
}
