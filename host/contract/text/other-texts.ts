import type { Words } from './chat-words.ts';
import { inForwarded, inRequest } from './chosen-names.ts';
import { leaves, readings } from './client-body.ts';
import { membersTexts, named } from './member-texts.ts';
import { onePartTexts } from './part-texts.ts';
import type { RequestOf, Surface } from '../surface.ts';
import type { ContentPart } from '../wire/chat.ts';
import type { OpaqueRequest } from '../wire/other.ts';

/** A label of a request beside chat. */
const LABEL = /^[\w.:-]{0,64}$/;
const REQUEST_WORDS: Words = new Map([
  ['model', /^/],
  ...[
    'encoding_format',
    'response_format',
    'size',
    'quality',
    'style',
    'voice',
    'input_type',
    'output_format',
    'stream_format',
    'background',
    'moderation',
    'truncate',
    'language',
    'temperature',
    'timestamp_granularities',
    'timestamp_granularities[]',
    'include[]',
    'stream',
    'input_fidelity',
  ].map((name) => [name, LABEL] as const),
]);

/**
 * The projection, and what else travels beside it: who asks, how to speak, fields that are only
 * forwarded.
 */
export function* otherRequestTexts(surface: Surface, request: RequestOf<Surface>): Generator<string> {
  if (surface === 'passthrough' || surface === 'responses') {
    yield* named((request as OpaqueRequest).json, 'own', surface === 'responses' ? inRequest : inForwarded);
    return;
  }
  for (const text of projection(surface, request)) yield* readings(text);
  const projected = PROJECTED.get(surface);
  if (!projected) return;
  yield* membersTexts(
    Object.fromEntries(Object.entries(request).filter(([name]) => !projected.has(name))),
    REQUEST_WORDS,
    inForwarded,
  );
}

/**
 * What plugins read of a body beside chat. Unreadable parts are left out; the host marks such
 * exchanges.
 */
export function projection(surface: Surface, request: RequestOf<Surface>): Iterable<string> {
  const body: Readonly<Record<string, unknown>> = request;
  const pick = PROJECTIONS[surface];
  return pick ? pick(body) : [];
}

type Body = Readonly<Record<string, unknown>>;
const onlyStrings = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === 'string');

/** Texts, and those of multimodal parts; their media is not read. */
function* inputTexts(input: unknown): Generator<string> {
  if (Array.isArray(input))
    for (const item of input)
      yield* typeof item === 'object' && item !== null
        ? onePartTexts(item as ContentPart, inRequest)
        : onlyStrings(item);
  else yield* onlyStrings(input);
}

const PROJECTIONS: Partial<Record<Surface, (body: Body) => Iterable<string>>> = {
  embeddings: (body) => onlyStrings(body['input']),
  images: (body) => onlyStrings(body['prompt']),
  'images.edits': (body) => onlyStrings(body['prompt']),
  rerank: (body) => [...onlyStrings(body['query']), ...onlyStrings(body['documents'])],
  moderations: (body) => inputTexts(body['input']),
  'audio.transcriptions': (body) => onlyStrings(body['prompt']),
  'audio.translations': (body) => onlyStrings(body['prompt']),
  'audio.speech': (body) => onlyStrings(body['input']),
  responses: (body) => leaves(body['json']),
  passthrough: (body) => leaves(body['json']),
  mcp: (body) => argumentTexts(body['arguments']),
};

function* argumentTexts(value: unknown): Generator<string> {
  for (const text of leaves(value)) yield* readings(text);
}

/** Members that a projection reads, on the surfaces whose other members travel too. */
const PROJECTED: ReadonlyMap<Surface, ReadonlySet<string>> = new Map([
  ['embeddings', new Set(['input'])],
  ['images', new Set(['prompt'])],
  ['images.edits', new Set(['prompt', 'form'])],
  ['rerank', new Set(['query', 'documents'])],
  ['moderations', new Set(['input'])],
  ['audio.transcriptions', new Set(['prompt', 'form', 'file'])],
  ['audio.translations', new Set(['prompt', 'form', 'file'])],
  ['audio.speech', new Set(['input'])],
]);
