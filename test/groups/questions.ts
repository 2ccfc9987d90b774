import type { Surface } from '../../host/contract/index.ts';
import { MASTER_KEY } from '../kit/index.ts';

/** One request of a client. */
export interface Question {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** What a client asks on one surface. */
interface Ask {
  /** `path` and `body` for a model, whole or streamed. */
  readonly of: (model: string, isStream: boolean) => { readonly path: string; readonly body: object | Form };
  readonly canStream: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

class Form {
  readonly fields: Readonly<Record<string, string>>;
  constructor(fields: Readonly<Record<string, string>>) {
    this.fields = fields;
  }
}

const PROMPT = 'how is the tide?';
const messages = [{ role: 'user', content: PROMPT }];

const json =
  (path: string, body: object): Ask['of'] =>
  (model, stream) => ({ path, body: { model, ...body, ...(stream && { stream }) } });

const contents = [{ role: 'user', parts: [{ text: PROMPT }] }];

/** Every surface that names a model, so that a new one is a compile error here. */
const ASKS: Readonly<Record<Exclude<Surface, 'mcp'>, Ask>> = {
  chat: { of: json('/v1/chat/completions', { messages }), canStream: true },
  completions: { of: json('/v1/completions', { prompt: PROMPT }), canStream: false },
  messages: {
    of: json('/v1/messages', { max_tokens: 64, messages }),
    canStream: true,
    headers: { 'anthropic-version': '2023-06-01' },
  },
  generate_content: {
    of: (model, isStream) => ({
      path: `/v1beta/models/${encodeURIComponent(model)}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      body: { contents },
    }),
    canStream: true,
  },
  embeddings: { of: json('/v1/embeddings', { input: 'tide' }), canStream: false },
  images: { of: json('/v1/images/generations', { prompt: 'a quay' }), canStream: false },
  'images.edits': {
    of: (model) => ({
      path: '/v1/images/edits',
      body: new Form({ model, prompt: 'a quay', 'image@a.png': 'picture' }),
    }),
    canStream: false,
  },
  rerank: { of: json('/v1/rerank', { query: 'tide', documents: ['a', 'b'] }), canStream: false },
  moderations: { of: json('/v1/moderations', { input: 'tide' }), canStream: false },
  'audio.transcriptions': {
    of: (model) => ({ path: '/v1/audio/transcriptions', body: new Form({ model, 'file@a.wav': 'RIFF' }) }),
    canStream: false,
  },
  'audio.translations': {
    of: (model) => ({ path: '/v1/audio/translations', body: new Form({ model, 'file@a.wav': 'RIFF' }) }),
    canStream: false,
  },
  'audio.speech': { of: json('/v1/audio/speech', { input: 'tide', voice: 'alloy' }), canStream: false },
  responses: { of: json('/v1/responses', { input: PROMPT, store: false }), canStream: true },
  'responses.translated': { of: json('/v1/responses', { input: PROMPT, store: false }), canStream: true },
  passthrough: { of: json('/v1/fine_tuning/jobs', { training_file: 'x' }), canStream: false },
};

export const SURFACES_ASKED = Object.keys(ASKS) as (keyof typeof ASKS)[];

/** The request of a surface for a model. */
export function question(surface: keyof typeof ASKS, model: string, isStream = false): Question {
  const ask = ASKS[surface];
  const { path, body } = ask.of(model, isStream);
  const form = body instanceof Form ? formBody(body) : undefined;
  return {
    title: `${surface}${isStream ? ', streamed' : ''}`,
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${MASTER_KEY}`,
      'content-type': form ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/json',
      ...ask.headers,
    },
    body: form ?? JSON.stringify(body),
  };
}

/** Whole and, where the surface streams, streamed. */
export const shapesOf = (surface: keyof typeof ASKS): readonly boolean[] =>
  ASKS[surface].canStream ? [false, true] : [false];

const BOUNDARY = 'edge';

/** A name `field@file` is a file. */
function formBody({ fields }: Form): string {
  const parts = Object.entries(fields).map(([name, value]) => {
    const [field, file] = name.split('@');
    const disposition = `form-data; name="${field}"${file === undefined ? '' : `; filename="${file}"`}`;
    return `--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\n\r\n${value}\r\n`;
  });
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}
