import type { ServerResponse } from 'node:http';
import Joi from 'joi';
import { type ChatChunk, definePlugin, type ExchangeOutcome, type PluginModule, type Surface } from 'gw/contract';
import {
  ask,
  chatChunks,
  eventually,
  fakeClock,
  golden,
  openSse,
  type SeenRequest,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';

/** One call that the upstream has got, and has not answered yet. */
export interface Held {
  readonly request: SeenRequest;
  readonly response: ServerResponse;
}

/** How requests ended, as a plugin hears of it. */
export interface Witnessed {
  readonly outcomes: ExchangeOutcome[];
  readonly errors: (string | undefined)[];
}

export interface Scene {
  readonly t: TestHost;
  readonly upstream: StubUpstream;
  /** What arrived at the upstream, which answers nothing by itself. */
  readonly held: Held[];
  readonly witnessed: Witnessed;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Asks with the key. */
  send(asked: Asked): Promise<Response>;
}

/** Time stands still unless a clock is given: what ends does so because it was heard of, not by the next look. Model `m` is served by a target of the common wire, `n` by one that has responses and everything that is passed through. */
export async function scene(config: object = {}, options: TestHostOptions = {}, target: object = {}): Promise<Scene> {
  const held: Held[] = [];
  const upstream = await stubUpstream((request, response) => {
    held.push({ request, response });
  });
  const witnessed: Witnessed = { outcomes: [], errors: [] };
  const t = await startHost(
    {
      strategy: { mode: 'fallback' },
      targets: [
        upstream.target(
          'a',
          { circuit_breaker: { failure_threshold: 1 }, retry: { attempts: 3 }, ...target },
          everySurface,
        ),
        upstream.target('b', { models: ['n'], ...target }, { passthrough: true, responses: 'native' }),
      ],
      responses: { translate: 'auto' },
      ...config,
      plugins: [
        ...('plugins' in config ? (config.plugins as object[]) : []),
        { name: 'witness', stage: 'on_error', enabled: true },
      ],
    },
    { clock: fakeClock(), ...options, modules: [witness(witnessed), HOLDING, ...(options.modules ?? [])] },
  );
  const { key, record } = await t.host.stores.keys.create({ name: 'ends', scopes: ['read_only'] });
  const headers = { authorization: `Bearer ${key}` };
  return {
    t,
    upstream,
    held,
    witnessed,
    id: record.id,
    headers,
    send: ({ path, body }) => fetch(t.url + path, { method: 'POST', ...bodyOf(body, headers) }),
  };
}

function bodyOf(body: Asked['body'], headers: Record<string, string>): RequestInit {
  if (body instanceof FormData) return { body, headers };
  return { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } };
}

/** A guard that lets nothing of a stream go before its end. */
const HOLDING = definePlugin({
  name: 'holding',
  type: 'guardrail',
  summary: 'Holds streams back',
  stages: ['after_request'],
  settings: Joi.object({}),
  create: () => ({
    after_request: () => undefined,
    stream: () => {
      const held: ChatChunk[] = [];
      return { push: (chunk) => (held.push(chunk), []), end: () => held };
    },
  }),
});

function witness({ outcomes, errors }: Witnessed): PluginModule {
  return definePlugin({
    name: 'witness',
    type: 'logging',
    summary: 'Notes how requests end',
    stages: ['on_error'],
    settings: Joi.object({}),
    create: () => ({
      on_error: ({ error }) => {
        errors.push(error?.message);
      },
      finished: (_exchange, outcome) => {
        outcomes.push(outcome);
      },
    }),
  });
}

export interface Asked {
  readonly path: string;
  readonly body: object;
}

/** One way to ask on a surface, what its upstream begins to answer, and what an answer that breaks off ends with. */
export interface Case extends Asked {
  readonly surface: Surface;
  readonly streams: boolean;
  /** The beginning of an answer, where it goes on as it comes. */
  readonly begun?: string;
  readonly type?: string;
  /** The last that the client reads; without it the connection breaks off. */
  readonly last?: RegExp;
  /** Code of the error where nothing of an answer has left. */
  readonly refused: RegExp;
}

export const ENDED = 'the credential of this request was ended';
const COMMON = {
  refused: /"type":"authentication_error","code":"invalid_api_key"/,
  last: /"type":"stream_error","code":"stream_error"\}\}\n\n$/,
};
const CHUNKS = chatChunks(['some ', 'words'])
  .slice(0, 3)
  .map((chunk) => sseEvent(chunk))
  .join('');
const firstOf = (fixture: string): string => `${golden(`openai/${fixture}/events.sse`).split('\n\n')[0]}\n\n`;

function form(members: Readonly<Record<string, string>>, file: string): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries({ model: 'm', ...members })) made.set(name, value);
  made.set(file, new Blob(['RIFF audio'], { type: file === 'image' ? 'image/png' : 'audio/wav' }), 'talk.wav');
  return made;
}

type Way = Omit<Case, 'surface'>;
const whole = (path: string, body: object, more: Partial<Way> = {}): Way => ({
  path,
  body,
  streams: false,
  refused: COMMON.refused,
  ...more,
});
const streamed = (path: string, body: object, more: Partial<Way> = {}): Way => ({
  path,
  body,
  streams: true,
  begun: CHUNKS,
  ...COMMON,
  ...more,
});

const MESSAGE = { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], model: 'm' };
const CONTENTS = { contents: [{ parts: [{ text: 'hi' }] }] };
const OF_MESSAGES = {
  refused: /"type":"authentication_error".*"error_code":"invalid_api_key"/,
  last: /event: error\ndata: .*"api_error".*\n\n$/,
};
const OF_GEMINI = { refused: /"status":"UNAUTHENTICATED"/, last: /"status":"UNAVAILABLE".*\r?\n\r?\n$/ };
const OF_RESPONSES = {
  refused: /invalid_api_key/,
  last: /event: response\.failed\ndata: .*"code":"server_error".*\n\n$/,
};

/** Every surface, whole and streamed where it can be. Tools of `/mcp` and tunnels have tests of their own. */
const WAYS: Readonly<Record<Exclude<Surface, 'mcp'>, readonly Way[]>> = {
  chat: [whole('/v1/chat/completions', ask()), streamed('/v1/chat/completions', ask('hi', { stream: true }))],
  completions: [whole('/v1/completions', { model: 'm', prompt: 'hi' })],
  messages: [
    whole('/v1/messages', MESSAGE, { refused: OF_MESSAGES.refused }),
    streamed('/v1/messages', { ...MESSAGE, stream: true }, OF_MESSAGES),
  ],
  generate_content: [
    whole('/v1beta/models/m:generateContent', CONTENTS, { refused: OF_GEMINI.refused }),
    streamed('/v1beta/models/m:streamGenerateContent?alt=sse', CONTENTS, OF_GEMINI),
  ],
  embeddings: [whole('/v1/embeddings', { model: 'm', input: 'hi' })],
  images: [
    whole('/v1/images/generations', { model: 'm', prompt: 'hi' }),
    streamed(
      '/v1/images/generations',
      { model: 'm', prompt: 'hi', stream: true, partial_images: 2 },
      { begun: firstOf('images') },
    ),
  ],
  'images.edits': [
    whole('/v1/images/edits', form({ prompt: 'hi' }, 'image')),
    streamed('/v1/images/edits', form({ prompt: 'hi', stream: 'true', partial_images: '2' }, 'image'), {
      begun: firstOf('edits'),
    }),
  ],
  rerank: [whole('/v1/rerank', { model: 'm', query: 'hi', documents: ['a', 'b'] })],
  moderations: [whole('/v1/moderations', { model: 'm', input: 'hi' })],
  'audio.transcriptions': [
    whole('/v1/audio/transcriptions', form({}, 'file')),
    streamed('/v1/audio/transcriptions', form({ stream: 'true' }, 'file'), { begun: firstOf('transcriptions') }),
  ],
  'audio.translations': [whole('/v1/audio/translations', form({}, 'file'))],
  'audio.speech': [
    whole('/v1/audio/speech', { model: 'm', input: 'hi', voice: 'alloy' }, { begun: 'some sound', type: 'audio/mpeg' }),
    streamed(
      '/v1/audio/speech',
      { model: 'm', input: 'hi', voice: 'alloy', stream_format: 'sse' },
      { begun: firstOf('speech') },
    ),
  ],
  responses: [
    whole('/v1/responses', { model: 'n', input: 'hi' }, { begun: '{"id":', type: 'application/json' }),
    whole(
      '/v1/responses',
      { model: 'n', input: 'hi', stream: true },
      { streams: true, begun: 'event: response.created\ndata: {}\n\n' },
    ),
  ],
  'responses.translated': [
    whole('/v1/responses', { model: 'm', input: 'hi' }, { refused: OF_RESPONSES.refused }),
    streamed('/v1/responses', { model: 'm', input: 'hi', stream: true }, OF_RESPONSES),
  ],
  passthrough: [whole('/v1/fine_tuning/jobs', { model: 'n' }, { begun: '{"id":', type: 'application/json' })],
};

export const CASES: readonly Case[] = Object.entries(WAYS).flatMap(([surface, ways]) =>
  ways.map((way) => ({ ...way, surface: surface as Surface })),
);

export const titleOf = ({ surface, streams }: Case): string => `${surface}, ${streams ? 'streamed' : 'whole'}`;

/** What the upstream has got as the call of this number, once it is there. */
export async function arrived({ held }: Scene, number = 1): Promise<Held> {
  await eventually(() => held.length >= number);
  const call = held[number - 1];
  if (!call) throw new Error(`the upstream has got ${held.length} calls`);
  return call;
}

/** Whether the upstream's connection was closed on it. */
export const isLeft = ({ response }: Held): boolean => response.destroyed && !response.writableFinished;

/** Begins to answer, as events unless said. */
export function begin({ response }: Held, { begun = '', type }: Pick<Case, 'begun' | 'type'>): void {
  if (type === undefined) openSse(response);
  else response.writeHead(200, { 'content-type': type });
  response.write(begun);
}

export interface Read {
  readonly text: string;
  /** The connection broke off. */
  readonly isBroken: boolean;
}

/** Reads on to the end of an answer, however it ends. */
export async function restOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Read> {
  const pieces: Uint8Array[] = [];
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
    return { text: Buffer.concat(pieces).toString(), isBroken: false };
  } catch {
    return { text: Buffer.concat(pieces).toString(), isBroken: true };
  }
}

/** The first piece of an answer, and what reads the rest. */
export async function firstOfAnswer(response: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = response.body?.getReader();
  if (!reader) throw new Error(`an answer without a body: ${response.status}`);
  await reader.read();
  return reader;
}

/** The figures of what was ended, by kind. */
export const endedFigures = ({ t }: Scene): string[] =>
  t.samples
    .filter(({ name }) => name === 'gateway_credentials_ended_total')
    .map(({ labels }) => String(labels['kind']));
