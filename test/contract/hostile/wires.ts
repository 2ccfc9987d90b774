import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MODULES } from '../../../builtins/manifest.ts';
import {
  definePlugin,
  messageTexts,
  type ProviderModule,
  texts,
  type TranslatedSurface,
} from '../../../host/contract/index.ts';
import Joi from 'joi';
import { systemClock } from '../../../host/common/clock.ts';
import { baseUrlVariable } from '../../../host/common/kinds/base-url-variable.ts';
import {
  type Answer,
  answerOf,
  golden,
  MASTER_KEY,
  minimal,
  ROUTES,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../../kit/index.ts';
import {
  chunkOfText,
  CLAUDE,
  eventOfText,
  KEYS,
  LLAMA,
  MISTRAL,
  NOVA,
  TITAN,
} from '../../providers/bedrock-support.ts';
import { type Edit, editsOf, STRANGE_DOCUMENTS } from './edits.ts';

/** One golden answer of one provider's wire, and how to send it with a change. */
export interface HostileWire {
  readonly what: string;
  readonly provider: string;
  readonly surface: TranslatedSurface;
  readonly model: string;
  readonly stream: boolean;
  readonly edits: () => readonly Edit[];
  /** The golden answer, or the pieces of the stream that it is. */
  readonly whole?: unknown;
  readonly pieces?: readonly StreamPiece[];
  /** An upstream that answers with a changed document. */
  readonly answering: (edit: Edit, url: string) => StubHandler;
}

/** One event as the upstream sends it. */
export interface StreamPiece {
  /** What it holds; `undefined` where that is not JSON. */
  readonly value: unknown;
  /** With another text in the place of what it holds. */
  readonly bytes: (text?: string) => Buffer;
}

export const PROVIDERS: readonly ProviderModule[] = MODULES.filter((module) => module.kind === 'provider').filter(
  ({ offline }) => !offline,
);

/** Where the golden files of a surface lie. */
const FOLDERS: Readonly<Record<TranslatedSurface, string>> = {
  chat: 'chat',
  embeddings: 'embeddings',
  images: 'images',
  'images.edits': 'edits',
  rerank: 'rerank',
  moderations: 'moderations',
  'audio.transcriptions': 'transcriptions',
  'audio.translations': 'translations',
  'audio.speech': 'speech',
};

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));

/** Models by the golden file they answer with, where the model decides what the wire is; any other name will do elsewhere. */
const MODELS: Readonly<Record<string, readonly (readonly [file: RegExp, model: string])[]>> = {
  anthropic: [[/chat/, 'claude-sonnet-4-5']],
  ai21: [[/chat/, 'jamba-mini']],
  bedrock: [
    [/chat\/claude-/, CLAUDE],
    [/chat\/nova-/, NOVA],
    [/chat\/titan-/, TITAN],
    [/chat\/llama-/, LLAMA],
    [/chat\/converse-/, MISTRAL],
    [/embeddings\/cohere-r/, 'cohere.embed-english-v3'],
    [/embeddings\/cohere-v4/, 'cohere.embed-v4:0'],
    [/embeddings\/titan/, 'amazon.titan-embed-text-v2:0'],
    [/images\/amazon/, 'amazon.nova-canvas-v1:0'],
    [/images\/stability/, 'stability.stable-diffusion-xl-v1'],
    [/rerank/, 'cohere.rerank-v3-5:0'],
  ],
  gemini: [
    [/images\/answer/, 'gemini-3-pro-image'],
    [/images/, 'imagen-4.0-generate-001'],
    [/embeddings/, 'gemini-embedding-001'],
    [/chat/, 'gemini-3-pro'],
  ],
  replicate: [[/./, 'owner/name']],
  'vertex-ai': [
    [/images/, 'imagen-4.0-generate-001'],
    [/embeddings/, 'text-embedding-005'],
    [/chat/, 'gemini-2.5-pro'],
  ],
};

/** Addresses of the vendor's own that no setting moves to a stub. */
const ELSEWHERE: Readonly<Record<string, readonly TranslatedSurface[]>> = {
  fireworks: ['audio.transcriptions', 'audio.translations'],
};

/** Beside the variables that a provider must have. */
const VARIABLES: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  bedrock: (url) => ({ ...KEYS, AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME: url }),
  'vertex-ai': () => ({ VERTEX_AI_REGION: 'us-central1', VERTEX_AI_API_KEY: 'key-0123456789' }),
};

/** What a provider needs beside its required variables. */
export const wireVariables = ({ name }: ProviderModule, url = 'http://h'): Record<string, string> =>
  VARIABLES[name]?.(url) ?? {};

/** Every golden answer of a provider that is JSON, or a stream of it. */
export function wiresOf(module: ProviderModule): HostileWire[] {
  return (Object.keys(module.translators) as TranslatedSurface[])
    .filter((surface) => !ELSEWHERE[module.name]?.includes(surface))
    .flatMap((surface) => {
      const files = globSync(`${module.name}/${FOLDERS[surface]}/**/*.{json,txt,sse}`, { cwd: FIXTURES })
        .map((file) => file.replaceAll('\\', '/'))
        .toSorted();
      return files
        .filter((file) => !/^(error|starting|processing)/.test(basename(file)))
        .flatMap((file) => wireOf(module, surface, file) ?? []);
    });
}

function wireOf({ name, framing }: ProviderModule, surface: TranslatedSurface, file: string): HostileWire | undefined {
  const model = MODELS[name]?.find(([pattern]) => pattern.test(file))?.[1] ?? 'm';
  const wire = { what: file, provider: name, surface, model };
  const text = golden(file);
  if (!file.endsWith('.json')) return { ...wire, stream: true, ...sseWire(text, name) };
  if (framing === 'eventstream' && file.endsWith('-stream.json'))
    return { ...wire, stream: true, ...frameWire(JSON.parse(text) as Frames) };
  return { ...wire, stream: false, ...wholeWire(text) };
}

type Edited = Pick<HostileWire, 'edits' | 'answering' | 'whole' | 'pieces'>;

const json = { 'content-type': 'application/json' };

/** What is asked for later on, where an answer takes several round trips. */
const laterOn = (text: string, url: string): string => text.replaceAll(/https:\/\/(api|stream)\.replicate\.com/g, url);

function wholeWire(text: string): Edited {
  return {
    whole: JSON.parse(text) as unknown,
    edits: () => [...STRANGE_DOCUMENTS, ...editsOf(JSON.parse(text))],
    answering:
      (edit, url) =>
      ({ method }, response) => {
        response.writeHead(200, json).end(laterOn(method === 'GET' || edit === UNCHANGED ? text : edit.text(), url));
      },
  };
}

/** Changes to the events of a stream, one at a time: to the first of each shape, and strange ones in place of the first event and of the last. */
class EventEdits {
  readonly #events: readonly unknown[];
  readonly #places = new Map<Edit, number>();

  constructor(events: readonly unknown[]) {
    this.#events = events;
  }

  all(): Edit[] {
    const shapes = new Set<string>();
    return this.#events.flatMap((event, place) => {
      const shape = shapeOf(event);
      const isNew = event !== undefined && !shapes.has(shape);
      shapes.add(shape);
      const strange = place === 0 || place === this.#events.length - 1 ? STRANGE_DOCUMENTS : [];
      const own = [...strange, ...(isNew ? editsOf(event) : [])].map((edit) => ({
        ...edit,
        what: `event ${place}: ${edit.what}`,
      }));
      for (const edit of own) this.#places.set(edit, place);
      return own;
    });
  }

  isAt(edit: Edit, place: number): boolean {
    return this.#places.get(edit) === place;
  }
}

/** Names and kinds of what a value holds. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].join()}]`;
  if (typeof value !== 'object' || value === null) return typeof value;
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}:${shapeOf(member)}`)
    .join()}}`;
}

/** Events between blank lines; those whose data is JSON are changed. */
function sseWire(text: string, provider: string): Edited {
  const blocks = text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .filter((block) => block.trim() !== '');
  const edits = new EventEdits(blocks.map(dataOf));
  const withData = (block: string, data: string): string => block.replace(/^data: ?.*$/m, () => `data: ${data}`);
  return {
    pieces: blocks.map((block) => ({
      value: dataOf(block),
      bytes: (data) => Buffer.from(`${data === undefined ? block : withData(block, data)}\n\n`),
    })),
    edits: () => edits.all(),
    answering:
      (edit, url) =>
      ({ method }, response) => {
        if (method === 'POST' && provider === 'replicate') {
          response.writeHead(201, json).end(laterOn(golden('replicate/chat/reply.json'), url));
          return;
        }
        const sent = blocks.map((block, index) => (edits.isAt(edit, index) ? withData(block, edit.text()) : block));
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${sent.join('\n\n')}\n\n`);
      },
  };
}

function dataOf(block: string): unknown {
  const data = /^data: ?(.*)$/m.exec(block)?.[1];
  try {
    return data === undefined ? undefined : JSON.parse(data);
  } catch {
    return undefined;
  }
}

type Frames = readonly (Readonly<Record<string, unknown>> | readonly [type: string, payload: unknown])[];

function frameWire(frames: Frames): Edited {
  const edits = new EventEdits(frames.map((frame): unknown => (Array.isArray(frame) ? frame[1] : frame)));
  const frameOf = (frame: Frames[number], text: string | undefined): Buffer =>
    Array.isArray(frame)
      ? eventOfText(String(frame[0]), text ?? JSON.stringify(frame[1]))
      : chunkOfText(text ?? JSON.stringify(frame));
  return {
    pieces: frames.map((frame) => ({
      value: Array.isArray(frame) ? frame[1] : frame,
      bytes: (text) => frameOf(frame, text),
    })),
    edits: () => edits.all(),
    answering: (edit) => (_request, response) => {
      const sent = frames.map((frame, index) => frameOf(frame, edits.isAt(edit, index) ? edit.text() : undefined));
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' }).end(Buffer.concat(sent));
    },
  };
}

/** Reads everything that a plugin may read, of every answer. */
const reader = definePlugin({
  name: 'reader',
  type: 'guardrail',
  summary: 'Reads all there is',
  stages: ['before_request', 'after_request'],
  settings: Joi.object({}),
  create: () => ({
    after_request(exchange) {
      const all = [
        ...texts(exchange),
        ...messageTexts(exchange),
        exchange.deliveredText(),
        JSON.stringify(exchange.reply),
        JSON.stringify(structuredClone(exchange.usage)),
      ];
      if (all.some((text) => text !== undefined && typeof text !== 'string')) throw new Error('a text is not one');
    },
  }),
});

/** No change at all: of a whole answer its text, of a stream no event is replaced. */
const UNCHANGED: Edit = { what: 'nothing', text: () => '' };

export interface HostileHost {
  readonly host: TestHost;
  /** Sends the wire's smallest request; the upstream answers with the change. */
  readonly send: (wire: HostileWire, edit: Edit, surface?: 'completions') => Promise<Answer>;
  /** Sends this body to the wire's route; the upstream answers as it should. */
  readonly sendText: (wire: HostileWire, body: string) => Promise<Answer>;
}

/** A gateway whose only target is the provider, with plugins that read everything, or without any. */
export async function hostOf(module: ProviderModule, isGuarded: boolean): Promise<HostileHost> {
  let current: StubHandler = () => {};
  const upstream = await stubUpstream((request, response) => current(request, response));
  const plugins = isGuarded
    ? [
        {
          name: 'word-filter',
          stage: 'after_request',
          enabled: true,
          config: { blocked_words: ['never said'], stream: 'window' },
        },
        { name: 'reader', stage: 'after_request', enabled: true },
      ]
    : [];
  const models = [...new Set(wiresOf(module).map(({ model }) => model))];
  const declared = { [module.name]: { kind: module.name, base_url: upstream.url } };
  const host = await startHost(
    {
      targets: [{ virtual_key: module.name, models }],
      plugins,
      ...(module.connection.onlyDeclared && { providers: declared }),
    },
    {
      variables: variablesOf(module, upstream.url),
      modules: [reader],
      streamIdleMs: 5000,
      clock: { ...systemClock, timer: (ms, then) => systemClock.timer(ms === 500 ? 1 : ms, then) }, // providers that poll do so at once
    },
  );
  return {
    host,
    send: (wire, edit, surface) => {
      current = wire.answering(edit, upstream.url);
      return ask(host, wire, surface);
    },
    sendText: (wire, body) => {
      current = wire.answering(UNCHANGED, upstream.url);
      return host.post(ROUTES[wire.surface] ?? '/', body);
    },
  };
}

export function variablesOf(module: ProviderModule, url: string): Record<string, string> {
  const address = baseUrlVariable(module);
  const names = module.connection.env.flatMap((need) => (typeof need === 'string' ? [need] : need.slice(0, 1)));
  return {
    ...Object.fromEntries(names.map((name) => [name, 'key-0123456789'])),
    [address]: url,
    ...wireVariables(module, url),
  };
}

async function ask(host: TestHost, { surface, model, stream }: HostileWire, other?: 'completions'): Promise<Answer> {
  if (other) return host.post('/v1/completions', { model, prompt: 'hi' });
  const route = ROUTES[surface];
  const asked = stream && (surface === 'audio.speech' ? { stream_format: 'sse' } : { stream });
  if (route !== undefined) return host.post(route, { ...minimal(surface, model), ...asked });
  const form = new FormData();
  form.append(surface === 'images.edits' ? 'image' : 'file', new Blob(['RIFF']), 'a.wav');
  form.append('model', model);
  if (stream) form.append('stream', 'true');
  const response = await fetch(`${host.url}/v1/${surface.replace('.', '/')}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}` },
    body: form,
  });
  return answerOf(response.status, response.headers, await response.text());
}
