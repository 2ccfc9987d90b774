import { createHash } from 'node:crypto';
import { allowOnly, type Dialect, refuse, requireFields, sendBytes, sendJson } from './dialect.ts';

/** What is spoken for a text: two pieces, neither of them text. */
export const speechOf = (input: string): readonly [Buffer, Buffer] => [
  Buffer.from([0xff, 0xf3, 0x00, 0x80, 0xfe]),
  Buffer.from(`\u0000${input}`),
];

export interface SpeechDialect {
  readonly only: readonly string[];
  readonly formats: readonly string[];
}

/** Speech as most vendors send it: bytes. An input that says `hold` keeps the second piece until the test lets it go. */
export function speech({ only, formats }: SpeechDialect): Dialect {
  return async ({ body, released }, response) => {
    requireFields(body, ['model', 'input', 'voice']);
    allowOnly(body, only);
    if (body['response_format'] !== undefined && !formats.includes(body['response_format']))
      refuse(`'response_format' must be one of ${formats.join(', ')}`);
    const [first, second] = speechOf(body['input']);
    response.writeHead(200, { 'content-type': 'audio/x-of-the-vendor' });
    response.write(first);
    if (body['input'].includes('hold')) await released;
    response.end(second);
  };
}

/** Mistral's speech: data within JSON, and a voice by another name. */
export const mistralSpeech: Dialect = ({ body }, response) => {
  requireFields(body, ['model', 'input', 'voice_id']);
  allowOnly(body, ['model', 'input', 'voice_id', 'response_format', 'ref_audio', 'stream']);
  sendJson(response, { audio_data: Buffer.concat([...speechOf(body['input'])]).toString('base64') });
};

/** What is understood of a recording: enough to know that all of it arrived. */
export const transcriptOf = (name: string, bytes: Uint8Array): string =>
  `${name}, ${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;

const RECORDING = /\.(flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/;

export interface TranscriptionDialect {
  readonly only?: readonly string[];
  readonly formats?: readonly string[];
}

const FIELDS = ['file', 'model', 'language', 'prompt', 'response_format', 'temperature', 'timestamp_granularities[]'];

/** Speech to text as most vendors speak it: a form, in any order. */
export function transcription({
  only = FIELDS,
  formats = ['json', 'text', 'srt', 'verbose_json', 'vtt'],
}: TranscriptionDialect = {}): Dialect {
  return async ({ form }, response) => {
    const fields = form ?? refuse('multipart/form-data is expected');
    const file = fields.get('file');
    if (!file || typeof file === 'string') refuse("'file' is a required property");
    if (!RECORDING.test(file.name) || file.size === 0) refuse(`'${file.name}' is not a recording`);
    allowOnly(Object.fromEntries(fields), only);
    const format = textOf(fields, 'response_format') ?? 'json';
    const language = textOf(fields, 'language');
    if (!formats.includes(format)) refuse(`'response_format' must be one of ${formats.join(', ')}`);
    if (format !== 'verbose_json' && fields.has('timestamp_granularities[]'))
      refuse("'timestamp_granularities[]' needs 'verbose_json'");
    const said = `${transcriptOf(file.name, await file.bytes())}${language === undefined ? '' : `, in ${language}`}`;
    if (format === 'json') sendJson(response, { text: said, usage: { type: 'duration', seconds: 1 } });
    else if (format === 'verbose_json')
      sendJson(response, {
        task: 'transcribe',
        language: 'english',
        duration: 0.5,
        text: said,
        ...timesOf(said, fields.getAll('timestamp_granularities[]')),
      });
    else
      sendBytes(
        response,
        'text/plain',
        {
          text: `${said}\n`,
          srt: `1\n00:00:00,000 --> 00:00:00,500\n${said}\n\n`,
          vtt: `WEBVTT\n\n00:00.000 --> 00:00.500\n${said}\n`,
        }[format] ?? '',
      );
  };
}

function textOf(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  return typeof value === 'string' ? value : undefined;
}

function timesOf(text: string, granularities: readonly unknown[]): object {
  return {
    ...(granularities.includes('word') && { words: [{ word: text, start: 0, end: 0.5 }] }),
    ...((granularities.length === 0 || granularities.includes('segment')) && {
      segments: [{ id: 0, start: 0, end: 0.5, text }],
    }),
  };
}

/** Translations are into English always: there is no language to name, and there are no times. */
export const translation: Dialect = transcription({
  only: ['file', 'model', 'prompt', 'response_format', 'temperature'],
});
