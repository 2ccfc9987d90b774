import { readBilled } from 'gw/contract';
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
import { type Fields, isFields, isGiven } from './fields.ts';
import { type FormOptions, formRequest } from './forms.ts';
import { type Path, pathOf } from './paths.ts';

export type TranscriptionOptions = FormOptions;

const FIELDS = ['language', 'prompt', 'response_format', 'temperature'] as const;

/** Both uploads have the same request and reply. */
interface SpeechToText {
  toUpstream(request: TranscriptionRequest, call: CallInfo): WireRequest;
  fromUpstream(reply: UnaryReply, call: CallInfo, request: TranscriptionRequest): RawReply;
}

/** Speech to text, in the language spoken. See docs/reference/providers.md#transcriptions. */
export function commonTranscriptions(options: TranscriptionOptions = {}): Translator<'audio.transcriptions'> {
  return speechToText('/audio/transcriptions', [], options);
}

/** Speech to English text: there is no language to choose. */
export function commonTranslations(options: TranscriptionOptions = {}): Translator<'audio.translations'> {
  return speechToText('/audio/translations', ['language'], options);
}

function speechToText(usual: string, left: readonly string[], options: TranscriptionOptions): SpeechToText {
  return {
    toUpstream: (request, call) =>
      formRequest(
        partsOf(request).filter(({ name }) => !left.includes(name)),
        call,
        usual,
        options,
      ),
    fromUpstream: (reply, _call, request) => readTranscript(reply, request.response_format),
  };
}

/** The parts as the client wrote them; of a request that no client has written, those that its members make. */
function partsOf(request: TranscriptionRequest): readonly FormPart[] {
  if (request.form) return request.form;
  const values = FIELDS.flatMap((name) => (isGiven(request[name]) ? [{ name, value: String(request[name]) }] : []));
  const granularities = (request.timestamp_granularities ?? []).map((value) => ({
    name: 'timestamp_granularities[]',
    value,
  }));
  return [{ name: 'file', file: request.file }, { name: 'model', value: request.model }, ...values, ...granularities];
}

const PLAIN = new Set<unknown>(['text', 'srt', 'vtt']);
const textOf = ({ body }: UnaryReply): string => new TextDecoder().decode(body);

/** Plain formats go on as they are, detailed JSON whole; of `json`, and where nothing was asked for, only the text. */
function readTranscript(reply: UnaryReply, format: string | undefined): RawReply {
  if (PLAIN.has(format)) return { contentType: 'text/plain; charset=utf-8', body: reply.body };
  if (isGiven(format) && format !== 'json') {
    const body = reply.json();
    if (isFields(body) && isGiven(body['error'])) throw new Error('the answer is an error');
    return { contentType: 'application/json', body: reply.body, billed: readBilled(body) };
  }
  const { billed, ...members } = transcriptOf(reply);
  return { contentType: 'application/json', body: new TextEncoder().encode(JSON.stringify(members)), billed };
}

/** What of a plain transcript goes on beside its text, where the vendor sent it. Source: npm openai 7.57.0, `Transcription`, 2026-11-27. */
const BESIDE = ['languages', 'logprobs', 'usage'] as const;

function transcriptOf(reply: UnaryReply): { readonly text: string; readonly billed?: Billed } & Fields {
  let body: unknown;
  try {
    body = reply.json();
  } catch {
    return { text: textOf(reply) }; // some vendors answer in plain text whatever is asked
  }
  if (!isFields(body) || typeof body['text'] !== 'string') throw new Error('the answer holds no text');
  const { text } = body;
  const beside = BESIDE.flatMap((name) => (isGiven(body[name]) ? [[name, body[name]]] : []));
  return { text, ...Object.fromEntries(beside), billed: readBilled(body) };
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
