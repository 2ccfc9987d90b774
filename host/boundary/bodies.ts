/** The shapes of what modules put in the place of a request or an answer. What an upstream sends is read leniently; a module is not. */
import { type Fields, isFields, isText } from '../contract/json/fields.ts';
import { type Surface, SURFACES, type TranslatedSurface } from '../contract/index.ts';
import { isHeaderValue } from './headers.ts';

/** What is wrong with a request that a plugin puts in the place of the client's, if anything. */
export function requestProblem(surface: Surface, body: unknown): string | undefined {
  if (!isFields(body)) return 'the body is not an object';
  const { model, messages } = body;
  if (SURFACES[surface].translator !== undefined && !isText(model)) return 'the body has no model';
  if (model !== undefined && typeof model !== 'string') return 'the model is not a text';
  if (!SURFACES[surface].isChat) return undefined; // nothing else of it is read
  if (!Array.isArray(messages) || messages.length === 0) return 'the body has no messages';
  return messages.every(
    (message) => isFields(message) && typeof message['role'] === 'string' && isContent(message['content']),
  )
    ? undefined
    : 'a message is not an object with role and content';
}

/** What is wrong with an answer that a module made, if anything. */
export function replyProblem(surface: Surface, body: unknown): string | undefined {
  if (!isFields(body)) return 'the body is not an object';
  if (surface === 'mcp') return Array.isArray(body['content']) ? undefined : 'the body has no list of content';
  const { translator } = SURFACES[surface];
  return translator === undefined ? undefined : REPLIES[translator](body);
}

const isContent = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string' || Array.isArray(value);
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

const REPLIES: Readonly<Record<TranslatedSurface, (body: Fields) => string | undefined>> = {
  chat: ({ choices }) =>
    listProblem(
      'choices',
      choices,
      ({ message }) => isFields(message) && isContent(message['content']) && isCalls(message['tool_calls']),
      'message',
    ),
  embeddings: ({ data }) =>
    listProblem(
      'data',
      data,
      ({ embedding }) => typeof embedding === 'string' || Array.isArray(embedding),
      'embedding',
    ),
  images: imagesProblem,
  'images.edits': imagesProblem,
  rerank: ({ results }) =>
    listProblem(
      'results',
      results,
      ({ index, relevance_score: score }) => isNumber(index) && isNumber(score),
      'index and relevance_score',
    ),
  moderations: ({ results }) => listProblem('results', results, ({ categories }) => isFields(categories), 'categories'),
  'audio.transcriptions': rawProblem,
  'audio.translations': rawProblem,
  'audio.speech': rawProblem,
};

const isCalls = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.every(isFields));

function listProblem(
  name: string,
  list: unknown,
  isItem: (item: Fields) => boolean,
  needs: string,
): string | undefined {
  if (!Array.isArray(list)) return `the body has no list of ${name}`;
  return list.every((item) => isFields(item) && isItem(item)) ? undefined : `an item of ${name} has no ${needs}`;
}

function imagesProblem({ data }: Fields): string | undefined {
  return listProblem('data', data, ({ url, b64_json: base64 }) => isText(url) || isText(base64), 'url or b64_json');
}

function rawProblem({ contentType, body }: Fields): string | undefined {
  if (!isHeaderValue(contentType)) return 'the body has no contentType that a header can hold';
  const isBytes =
    body instanceof Uint8Array || (typeof body === 'object' && body !== null && Symbol.asyncIterator in body);
  return isBytes ? undefined : 'the body has no bytes';
}
