/**
 * Brings the answers of the surfaces beside chat into the shape that clients are promised, whatever the provider sent
 * (docs/reference/data-plane.md#answers). What is missing or malformed makes the call a failed one: it throws.
 */
import type {
  ChatReply,
  EmbeddingsReply,
  EmbeddingsRequest,
  ImagesReply,
  ModerationsReply,
  RawReply,
  ReplyOf,
  RequestOf,
  RerankReply,
  RerankRequest,
  SpeechRequest,
  TranslatedSurface,
} from '../contract/index.ts';
import { isIndex } from '../contract/json/fields.ts';
import { MAX_CHOICES } from './chunk-normalizer.ts';
import { requireUsable } from './usable-answer.ts';

export interface ShapeFacts {
  /** The model the client asked for, after aliases. */
  readonly model: string;
  readonly exchangeId: string;
  /** Unix seconds. */
  readonly created: number;
  /** The client's wire has no calls of custom tools. */
  readonly functionsOnly?: boolean;
}

type Shape = (reply: never, request: never, facts: ShapeFacts) => object;

const SHAPES: Readonly<Partial<Record<TranslatedSurface, Shape>>> = {
  chat: shapeChat,
  embeddings: shapeEmbeddings,
  images: shapeImages,
  'images.edits': shapeImages,
  rerank: shapeRerank,
  moderations: shapeModerations,
  'audio.speech': shapeSpeech,
};

export function shapeReply<S extends TranslatedSurface>(
  surface: S,
  reply: ReplyOf<S>,
  request: RequestOf<S>,
  facts: ShapeFacts,
): ReplyOf<S> {
  const shape = SHAPES[surface];
  return shape ? (shape(reply as never, request as never, facts) as ReplyOf<S>) : reply;
}

/** The rest of its shape is left to `normalizeReply`, which plugins' answers pass too. */
function shapeChat(reply: ChatReply, _request: unknown, { functionsOnly }: ShapeFacts): ChatReply {
  const { choices } = reply as { readonly choices: unknown };
  if (Array.isArray(choices) && choices.length > MAX_CHOICES)
    throw new Error(`it has more than ${MAX_CHOICES} choices`);
  if (Array.isArray(choices)) requireUsable(reply, functionsOnly);
  return reply;
}

function shapeEmbeddings(
  reply: EmbeddingsReply,
  { input, encoding_format }: EmbeddingsRequest,
  { model }: ShapeFacts,
): EmbeddingsReply {
  const { data, usage, ...rest } = reply;
  const expected = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
  if (!Array.isArray(data) || data.length !== expected)
    throw new Error(`${Array.isArray(data) ? data.length : 0} vectors for ${expected} inputs`);
  const encode = encoding_format === 'base64' ? toBase64 : toNumbers;
  return {
    ...rest,
    object: 'list',
    data: data.map(({ embedding, index }, place) => ({
      object: 'embedding',
      embedding: encode(embedding),
      index: isIndex(index) ? index : place,
    })),
    model,
    usage: {
      prompt_tokens: countOf(usage?.prompt_tokens),
      total_tokens: countOf(usage?.total_tokens) || countOf(usage?.prompt_tokens),
    },
  };
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

const FLOAT_BYTES = 4;

/** Base64 of little-endian float32, whatever the provider sent. */
function toBase64(embedding: unknown): string {
  if (typeof embedding === 'string') return embedding;
  const numbers = toNumbers(embedding);
  const bytes = Buffer.allocUnsafe(numbers.length * FLOAT_BYTES);
  for (const [place, value] of numbers.entries()) bytes.writeFloatLE(value, place * FLOAT_BYTES);
  return bytes.toString('base64');
}

function toNumbers(embedding: unknown): number[] {
  if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64');
    if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) throw new Error('a vector is not base64 of float32');
    return finite(
      Array.from({ length: bytes.length / FLOAT_BYTES }, (_, place) => bytes.readFloatLE(place * FLOAT_BYTES)),
    );
  }
  if (!Array.isArray(embedding)) throw new Error('a vector is not a list of numbers');
  return finite(embedding);
}

/** JSON knows no other numbers. */
function finite(values: readonly unknown[]): number[] {
  if (!values.every((value) => Number.isFinite(value))) throw new Error('a vector is not a list of numbers');
  return values as number[];
}

function shapeImages(reply: ImagesReply, _request: unknown, { created }: ShapeFacts): ImagesReply {
  if (!Array.isArray(reply.data) || reply.data.length === 0) throw new Error('it holds no image');
  return { ...reply, created: countOf(reply.created) || created };
}

/** Best first, equal scores in the order they came; `index` is a place in the request. */
function shapeRerank(
  reply: RerankReply,
  { documents, top_n, return_documents }: RerankRequest,
  { model }: ShapeFacts,
): RerankReply {
  if (!Array.isArray(reply.results)) throw new Error('it holds no results');
  const results = reply.results.map(({ index, relevance_score }) => {
    const text = Number.isInteger(index) ? documents[index] : undefined;
    if (text === undefined || !Number.isFinite(relevance_score))
      throw new Error('a result names no document, or has no score');
    return { index, relevance_score, ...(return_documents && { document: { text } }) };
  });
  results.sort((a, b) => b.relevance_score - a.relevance_score);
  return { ...reply, results: results.slice(0, top_n || results.length), model };
}

function shapeModerations(
  reply: ModerationsReply,
  _request: unknown,
  { model, exchangeId }: ShapeFacts,
): ModerationsReply {
  if (!Array.isArray(reply.results) || reply.results.length === 0) throw new Error('it holds no results');
  const results = reply.results.map((result) => ({
    ...result,
    flagged:
      typeof result.flagged === 'boolean' ? result.flagged : Object.values(result.categories ?? {}).includes(true),
  }));
  return { ...reply, id: typeof reply.id === 'string' ? reply.id : `modr-${exchangeId}`, model, results };
}

const SPEECH_TYPES: ReadonlyMap<string, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['opus', 'audio/opus'],
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['wav', 'audio/wav'],
  ['pcm', 'audio/pcm'],
]);

/** The type goes by the format that was asked for, never by what the provider says. */
function shapeSpeech({ body }: RawReply, { response_format: format }: SpeechRequest): RawReply {
  return { contentType: SPEECH_TYPES.get(format ?? 'mp3') ?? 'application/octet-stream', body };
}
