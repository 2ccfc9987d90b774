import { chatChunks, chatReply, sseEvent } from '../upstream.ts';
import type { WireCall } from './requests.ts';

/** Families of routes of the common wire, by how their paths end. */
const ROUTES = {
  chat: '/chat/completions',
  embeddings: '/embeddings',
  images: '/images/generations',
  edits: '/images/edits',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  rerank: '/rerank',
  moderations: '/moderations',
  models: '/models',
} as const;

export type LabSurface = keyof typeof ROUTES;

/** A well-behaved answer, before anything is done to it. */
export interface GoodAnswer {
  readonly surface: LabSurface;
  readonly isStream: boolean;
  readonly contentType: string;
  /** The body; of a stream, an event each. */
  readonly pieces: readonly Buffer[];
}

/** What an upstream of the common wire says to a request; `undefined` for paths it does not know. */
export function goodAnswer(call: WireCall): GoodAnswer | undefined {
  const path = call.path.replace(/\?.*$/, '');
  const surface = (Object.keys(ROUTES) as LabSurface[]).find((name) => path.endsWith(ROUTES[name]));
  if (!surface) return undefined;
  const request = bodyOf(call);
  if (surface === 'chat' && request['stream'] === true) {
    const events = [...chatChunks(WORDS), '[DONE]'].map((event) => Buffer.from(sseEvent(event)));
    return { surface, isStream: true, contentType: 'text/event-stream', pieces: events };
  }
  if (surface === 'speech') return { surface, isStream: false, contentType: 'audio/mpeg', pieces: [AUDIO] };
  return {
    surface,
    isStream: false,
    contentType: 'application/json',
    pieces: [Buffer.from(JSON.stringify(REPLIES[surface](request)))],
  };
}

/** Several bytes to a character, so that a cut may fall inside one. */
const WORDS = ['Grüße ', 'aus ', 'dem 😀 ', 'Labor. ', 'All ', 'is ', 'well.'];
/** No first byte of any JSON text. */
const AUDIO = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at === 0 ? 0xff : at % 251)));

type Request = Readonly<Record<string, unknown>>;

function bodyOf({ text }: WireCall): Request {
  try {
    return (JSON.parse(text) ?? {}) as Request;
  } catch {
    return {}; // a form
  }
}

const pictures = (): object => ({ created: 1_700_000_000, data: [{ b64_json: 'aGVsbG8=' }] });

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) && typeof value[0] !== 'number' ? value : [value];

const REPLIES: Readonly<Record<Exclude<LabSurface, 'speech'>, (request: Request) => object>> = {
  chat: () => chatReply(WORDS.join('')),
  embeddings: ({ input, model }) => ({
    object: 'list',
    model,
    data: listOf(input).map((_, index) => ({ object: 'embedding', index, embedding: [0.25, -0.5, 1] })),
    usage: { prompt_tokens: 3, total_tokens: 3 },
  }),
  images: pictures,
  edits: pictures,
  transcriptions: () => ({ text: 'hello' }),
  translations: () => ({ text: 'hello' }),
  rerank: ({ documents }) => ({
    id: 'rerank-1',
    results: listOf(documents).map((_, index) => ({ index, relevance_score: 1 / (index + 1) })),
  }),
  moderations: ({ model }) => ({
    id: 'modr-1',
    model,
    results: [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } }],
  }),
  models: () => ({ object: 'list', data: [{ id: 'lab', object: 'model', created: 1_700_000_000, owned_by: 'lab' }] }),
};
