import { type Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { MASTER_KEY } from '../../kit/index.ts';

/** Every way a routed surface is asked; `stream` is chat with a stream for an answer. */
export type Ask =
  | 'chat'
  | 'stream'
  | 'completions'
  | 'embeddings'
  | 'images'
  | 'rerank'
  | 'moderations'
  | 'speech'
  | 'transcriptions'
  | 'translations';

interface AskFacts {
  readonly path: string;
  /** JSON fields; `undefined` for a form with a file. */
  readonly body?: Readonly<Record<string, unknown>>;
}

const messages = [{ role: 'user', content: 'hi' }];

export const ASKS: Readonly<Record<Ask, AskFacts>> = {
  chat: { path: '/v1/chat/completions', body: { messages } },
  stream: { path: '/v1/chat/completions', body: { messages, stream: true } },
  completions: { path: '/v1/completions', body: { prompt: 'hi' } },
  embeddings: { path: '/v1/embeddings', body: { input: 'hi' } },
  images: { path: '/v1/images/generations', body: { prompt: 'a quay' } },
  rerank: { path: '/v1/rerank', body: { query: 'q', documents: ['a', 'b'] } },
  moderations: { path: '/v1/moderations', body: { input: 'hi' } },
  speech: { path: '/v1/audio/speech', body: { input: 'hi', voice: 'alloy' } },
  transcriptions: { path: '/v1/audio/transcriptions' },
  translations: { path: '/v1/audio/translations' },
};

export const ASK_NAMES = Object.keys(ASKS) as readonly Ask[];

/** The tag of a request, wherever its surface keeps it; the upstream finds it in the body. */
export const tagOf = (text: string): string | undefined => /tag-[\w.]+/.exec(text)?.[0];

export interface Outcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The connection ended before the body did. */
  readonly isCut: boolean;
  readonly ms: number;
}

export interface AskOptions {
  readonly url: string;
  readonly agent?: Agent;
  readonly tag?: string;
  readonly model?: string;
  /** The first bytes of the body are there. */
  readonly onData?: () => void;
  readonly signal?: AbortSignal;
}

/** Sends one request as a client would; resolves with whatever came, rejects when nothing did. */
export function askFor(
  ask: Ask,
  { url, agent, tag = 'tag-0', model = 'm', onData, signal }: AskOptions,
): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const startedAt = performance.now();
  const { contentType, bytes } = bodyOf(ask, tag, model);
  const headers = {
    authorization: `Bearer ${MASTER_KEY}`,
    'content-type': contentType,
    'content-length': bytes.length,
  };
  const onReply = (response: IncomingMessage): void => {
    const pieces: Buffer[] = [];
    const settle = (): void =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(pieces),
        isCut: !response.complete,
        ms: performance.now() - startedAt,
      });
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (pieces.length === 1) onData?.();
    });
    response.on('error', () => {}); // 'close' follows, and tells
    response.on('close', settle);
  };
  httpRequest(
    `${url}${ASKS[ask].path}`,
    { method: 'POST', headers, ...(agent && { agent }), ...(signal && { signal }) },
    onReply,
  )
    .on('error', reject)
    .end(bytes);
  return promise;
}

const BOUNDARY = 'lab-boundary';

function bodyOf(ask: Ask, tag: string, model: string): { readonly contentType: string; readonly bytes: Buffer } {
  const { body } = ASKS[ask];
  if (body)
    return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify({ ...body, model, user: tag })) };
  const part = (head: string, value: string): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const text = `${part('name="file"; filename="x.wav"', 'RIFF')}${part('name="model"', model)}${part('name="prompt"', tag)}--${BOUNDARY}--\r\n`;
  return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, bytes: Buffer.from(text) };
}
