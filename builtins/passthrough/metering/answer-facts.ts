/** What an answer that is forwarded says of itself: its usage, the model, the ids of what was made, and how much it says. */
import {
  charactersIn,
  countOf,
  type Fields,
  isFields,
  readBilled,
  readUsage,
  responseToolCounts,
  tryParseJson,
  type Usage,
  withFacts,
} from '../../../host/contract/index.ts';
import { withTier } from '../../../host/answer/charged-usage.ts';
import { textOfBytes } from '../../../host/upstream/sse.ts';

export interface ResponseFacts {
  readonly usage: Usage | undefined;
  readonly model: string | undefined;
  /** Ids under which the provider keeps what was made, and what came of it. */
  readonly ids: readonly string[];
  /** Characters of the texts of the answer. */
  readonly answered: number;
  /** Images that were made. */
  readonly images: number | undefined;
  /** What they look like, in the words of the vendor. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** Seconds of sound that were heard. */
  readonly seconds?: number | undefined;
  /** Pages of a document that were read, and whether they were annotated. */
  readonly pages?: number | undefined;
  readonly isAnnotated?: boolean | undefined;
  /** Names of sums of the usage that cannot be believed. */
  readonly doubts: readonly string[];
  /** Whether the provider goes on with it by itself, and tells its usage later, under its id. */
  readonly isRunning: boolean;
}

export const UNKNOWN: ResponseFacts = Object.freeze({
  usage: undefined,
  model: undefined,
  ids: [],
  answered: 0,
  images: undefined,
  doubts: [],
  isRunning: false,
});

const RUNNING: ReadonlySet<unknown> = new Set(['queued', 'in_progress']);

/** What an answer, or the response that an event holds, says of itself. */
export function factsOf(response: unknown): ResponseFacts {
  if (!isFields(response)) return UNKNOWN;
  const { usage, model, output, data, status, file, tools } = response; // `file` of an upload that was completed
  const doubts: string[] = [];
  const ids = [
    response['id'],
    response['output_file_id'],
    response['error_file_id'],
    isFields(file) ? file['id'] : undefined,
  ].filter((id): id is string => typeof id === 'string' && id !== '');
  const common = commonUsage(usage, doubts, response['service_tier']);
  return {
    usage: common && withFacts(common, responseToolCounts(output, tools)),
    model: typeof model === 'string' ? model : undefined,
    ids,
    doubts,
    answered: charactersIn(output ?? response['choices']),
    images: Array.isArray(data) && data.some(isImage) ? data.length : undefined,
    isRunning: response['background'] === true && RUNNING.has(status),
    ...countsOf(response),
  };
}

type Counts = Pick<ResponseFacts, 'size' | 'quality' | 'seconds' | 'pages' | 'isAnnotated'>;

/**
 * What an answer is billed by beside tokens. Sources: OpenAI API reference, "Create image", `size`, `quality`, and "Create
 * transcription", `usage`, `duration`; Mistral API reference, "OCR", `usage_info`, `document_annotation`; 2026-11-27.
 */
function countsOf(answer: Readonly<Fields>): Counts {
  const { usage, usage_info: info, size, quality } = answer;
  const isTimed = 'duration' in answer || (isFields(usage) && ('seconds' in usage || 'prompt_audio_seconds' in usage));
  const seconds = isTimed ? readBilled(answer).seconds : undefined;
  const pages = isFields(info) ? countOf(info['pages_processed']) : 0;
  return {
    ...(typeof size === 'string' && { size }),
    ...(typeof quality === 'string' && { quality }),
    ...(seconds !== undefined && { seconds }),
    ...(pages > 0 && { pages, isAnnotated: isAnnotated(answer) }),
  };
}

/** Annotations stand beside the pages, or beside the pictures in them. */
function isAnnotated({ document_annotation: whole, pages }: Readonly<Fields>): boolean {
  if (whole !== undefined && whole !== null && whole !== '') return true;
  return (
    Array.isArray(pages) &&
    pages.some(
      (page: unknown) =>
        isFields(page) &&
        Array.isArray(page['images']) &&
        page['images'].some((image: unknown) => isFields(image) && typeof image['image_annotation'] === 'string'),
    )
  );
}

const isImage = (item: unknown): boolean =>
  isFields(item) && (typeof item['url'] === 'string' || typeof item['b64_json'] === 'string');

/**
 * Usage under the names of the common wire, where cache writes stand beside the prompt; none that counts nothing. Sources: OpenAI API
 * reference, "Responses", 2026-11-22; the wire's own names, as chats have them.
 */
function commonUsage(usage: unknown, doubts: string[], tier: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const found = 'prompt_tokens' in usage ? readUsage(usage, doubts) : readUsage(renamed(usage), doubts);
  return found && (found.prompt_tokens + found.completion_tokens > 0 || doubts.length > 0)
    ? withTier(found, tier)
    : undefined;
}

function renamed({
  input_tokens: input,
  output_tokens: output,
  total_tokens: total,
  input_tokens_details: inputDetails,
  output_tokens_details: outputDetails,
}: Readonly<Record<string, unknown>>): object {
  const written = isFields(inputDetails) ? countOf(inputDetails['cache_write_tokens']) : 0;
  return {
    prompt_tokens: written > 0 ? Math.max(countOf(input) - written, 0) : input,
    completion_tokens: output,
    total_tokens: Math.max(countOf(total) - written, 0),
    cache_write_tokens: written,
    ...(isFields(inputDetails) && { prompt_tokens_details: inputDetails }),
    ...(isFields(outputDetails) && { completion_tokens_details: outputDetails }),
  };
}

const DELTA = /"delta"\s*:\s*"/;
const SOUND = /"type"\s*:\s*"response\.(?:output_)?audio\.delta"/;
/** Characters that one second of sound counts for, of a rate of 128 kbit/s, as base64: 20 tokens. */
const SOUND_SHARE = 80 / ((16_000 * 4) / 3);

/** Characters of text that an event adds to its answer; `data` is a byte string. */
export function charactersOfEvent(data: string): number {
  const found = DELTA.exec(data);
  if (!found) return 0;
  const start = found.index + found[0].length;
  const end = closingQuote(data, start);
  if (SOUND.test(data)) return (end - start) * SOUND_SHARE;
  const piece = data.slice(start, end);
  const text = piece.includes('\\') ? tryParseJson(`"${textOfBytes(piece)}"`) : textOfBytes(piece);
  return typeof text === 'string' ? text.length : piece.length;
}

/** Where a string ends: at the first quote that no odd number of backslashes stands before. */
function closingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
