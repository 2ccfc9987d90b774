import { readUsage } from 'gw/contract';
import type {
  Billed,
  CallInfo,
  FormPart,
  RawReply,
  SpeechRequest,
  TranscriptionRequest,
  Translator,
  UnaryReply,
  WireRequest,
} from 'gw/contract';
import { type BodyOptions, commonBody } from './body.ts';
import { fieldsBeside, isFields, isGiven } from './fields.ts';
import { type Path, pathOf } from './paths.ts';

export interface TranscriptionOptions {
  readonly path?: Path;
  /** What the form says where its address already names the model; the model unless said. */
  readonly model?: string;
  /** The whole address, for vendors who serve audio elsewhere; the credential goes along. */
  readonly address?: (call: CallInfo) => string;
}

const FIELDS = ['language', 'prompt', 'response_format', 'temperature'] as const;
const KNOWN = ['model', 'file', 'timestamp_granularities', ...FIELDS];

/** Both uploads have the same request and reply. */
interface SpeechToText {
  toUpstream(request: TranscriptionRequest, call: CallInfo): WireRequest;
  fromUpstream(reply: UnaryReply, call: CallInfo, request: TranscriptionRequest): RawReply;
}

/** Speech to text, in the language spoken. See docs/reference/providers.md#transcriptions. */
export function commonTranscriptions(options: TranscriptionOptions = {}): Translator<'audio.transcriptions'> {
  return speechToText('/audio/transcriptions', FIELDS, options);
}

/** Speech to English text: there is no language to choose. */
export function commonTranslations(options: TranscriptionOptions = {}): Translator<'audio.translations'> {
  return speechToText(
    '/audio/translations',
    FIELDS.filter((name) => name !== 'language'),
    options,
  );
}

function speechToText(
  usual: string,
  fields: readonly (typeof FIELDS)[number][],
  { address, path, model }: TranscriptionOptions,
): SpeechToText {
  return {
    toUpstream(request, call) {
      const sent = { form: formOf(request, model ?? call.model, fields), ignored: fieldsBeside(request, KNOWN) };
      return address
        ? { path: address(call), withCredential: true, ...sent }
        : { path: pathOf(path, usual, call), ...sent };
    },
    fromUpstream: (reply, _call, request) => readTranscript(reply, request.response_format),
  };
}

function formOf(request: TranscriptionRequest, model: string, fields: readonly (typeof FIELDS)[number][]): FormPart[] {
  const values = fields.flatMap((name) => (isGiven(request[name]) ? [{ name, value: String(request[name]) }] : []));
  const granularities = (request.timestamp_granularities ?? []).map((value) => ({
    name: 'timestamp_granularities[]',
    value,
  }));
  return [{ name: 'file', file: request.file }, { name: 'model', value: model }, ...values, ...granularities];
}

const PLAIN = new Set<unknown>(['text', 'srt', 'vtt']);
const textOf = ({ body }: UnaryReply): string => new TextDecoder().decode(body);

/** Plain formats go on as they are, detailed JSON whole; of `json`, and where nothing was asked for, only the text. */
function readTranscript(reply: UnaryReply, format: string | undefined): RawReply {
  if (PLAIN.has(format)) return { contentType: 'text/plain; charset=utf-8', body: reply.body };
  if (isGiven(format) && format !== 'json') {
    const body = reply.json();
    if (isFields(body) && isGiven(body['error'])) throw new Error('the answer is an error');
    return { contentType: 'application/json', body: reply.body, billed: billedIn(body) };
  }
  const { text, billed } = transcriptOf(reply);
  return { contentType: 'application/json', body: new TextEncoder().encode(JSON.stringify({ text })), billed };
}

function transcriptOf(reply: UnaryReply): { readonly text: string; readonly billed?: Billed | undefined } {
  let body: unknown;
  try {
    body = reply.json();
  } catch {
    return { text: textOf(reply) }; // some vendors answer in plain text whatever is asked
  }
  if (!isFields(body) || typeof body['text'] !== 'string') throw new Error('the answer holds no text');
  return { text: body['text'], billed: billedIn(body) };
}

/** A day: more is not believed of one recording. */
const MOST_SECONDS = 86_400;

/**
 * Seconds and tokens, by the names that vendors have for them. Sources: OpenAI API reference, "Create transcription", `usage` and `duration`;
 * Mistral documentation, "Audio transcription", `usage.prompt_audio_seconds`; 2026-11-26.
 */
function billedIn(body: unknown): Billed | undefined {
  if (!isFields(body)) return undefined;
  const usage = isFields(body['usage']) ? body['usage'] : {};
  const seconds = [usage['seconds'], usage['prompt_audio_seconds'], Number(body['duration'])].find(
    (value) => typeof value === 'number' && value > 0 && value <= MOST_SECONDS,
  );
  const tokens = readUsage({
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    ...usage,
  });
  return {
    ...(typeof seconds === 'number' && { seconds }),
    ...(tokens && tokens.prompt_tokens + tokens.completion_tokens > 0 && { usage: tokens }),
  };
}

export interface SpeechOptions extends BodyOptions {
  readonly path?: Path;
  /** Reads the audio out of a reply that holds it inside another format; without it the bytes go on as they arrive. */
  readonly readAudio?: (reply: UnaryReply) => Uint8Array;
}

/** Text to speech. The format is always named: vendors' defaults differ. See docs/reference/providers.md#speech. */
export function commonSpeech(options: SpeechOptions = {}): Translator<'audio.speech'> {
  const { readAudio } = options;
  return {
    toUpstream: (request, call) => ({
      path: pathOf(options.path, '/audio/speech', call),
      ...commonBody({ ...request, response_format: formatOf(request) }, call, options),
    }),
    fromUpstream: (reply) => ({
      contentType: 'application/octet-stream',
      body: readAudio ? readAudio(reply) : reply.body,
    }), // the host names the type
    relaysBytes: !readAudio,
  };
}

const formatOf = ({ response_format: format }: SpeechRequest): string => format || 'mp3';
