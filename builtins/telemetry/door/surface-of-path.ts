import { type Surface, SURFACES } from '../../../host/contract/index.ts';

/** Surfaces by their paths. What is not here is passed through. */
const BY_PATH: Readonly<Record<string, Surface>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/messages': 'messages',
  '/v1/messages/count_tokens': 'messages',
  '/v1/responses': 'responses',
  '/v1/responses/compact': 'responses',
  '/v1/responses/input_tokens': 'responses',
  '/v1/embeddings': 'embeddings',
  '/v1/images/generations': 'images',
  '/v1/images/edits': 'images.edits',
  '/v1/rerank': 'rerank',
  '/v1/moderations': 'moderations',
  '/v1/audio/transcriptions': 'audio.transcriptions',
  '/v1/audio/translations': 'audio.translations',
  '/v1/audio/speech': 'audio.speech',
  '/mcp': 'mcp',
};

/** The word for questions about models and keys, which no plugin sees. */
export const READS = 'models';
const IS_READ = /^\/v1(?:beta)?\/models(?:\/|$)|^\/v1\/(?:capabilities|key)$/;
/** A method of a model, as the Gemini API writes it. */
const OPERATION = /^\/v1(?:beta)?\/models\/.*:(\w+)$/;

/** The tag of what a path asks for. A request that was refused at the door has no surface yet. */
export function surfaceOfPath(path: string): string {
  const operation = OPERATION.exec(path)?.[1];
  if (operation !== undefined) return SURFACES[/embed/i.test(operation) ? 'embeddings' : 'generate_content'].tag;
  if (IS_READ.test(path)) return READS;
  return SURFACES[Object.hasOwn(BY_PATH, path) ? (BY_PATH[path] ?? 'passthrough') : 'passthrough'].tag;
}
