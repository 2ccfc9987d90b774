import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type EmbeddingsRequest, quoted } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { checkFields, checkPositive, type FieldKind, integer, requireText, text } from './fields.ts';

const FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['model', text],
  ['encoding_format', text],
  ['dimensions', integer],
  ['user', text],
  ['input_type', text],
]);

/** `POST /v1/embeddings`. Token ids are not text: a guardrail cannot read them. */
export default surfaceBuiltin({
  surface: 'embeddings',
  path: '/v1/embeddings',
  read: jsonBody((body) => {
    const request = readEmbeddings(body);
    const { input } = request;
    return {
      request,
      streaming: false,
      unreadable: typeof input !== 'string' && input.some((item) => typeof item !== 'string'),
    };
  }),
});

function readEmbeddings(body: JsonObject): EmbeddingsRequest {
  checkFields(body, FIELDS);
  requireText(body, 'model');
  checkInput(body['input']);
  const format = body['encoding_format'];
  if (format === '') delete body['encoding_format'];
  else if (format !== undefined && format !== 'float' && format !== 'base64')
    throw invalidRequest(`encoding_format ${quoted(format)} is not supported, use "float" or "base64"`);
  checkPositive(body, 'dimensions');
  return body as unknown as EmbeddingsRequest;
}

function checkInput(input: unknown): void {
  if (input === undefined || input === null) throw invalidRequest('input is required');
  if (typeof input === 'string') return;
  if (!Array.isArray(input)) throw invalidRequest('input must be a string, a list of strings, or token ids');
  if (input.length === 0) throw invalidRequest('input must hold at least one item');
  const isEvery = (accepts: (item: unknown) => boolean): boolean => input.every(accepts);
  const isIds = (item: unknown): boolean => Array.isArray(item) && item.length > 0 && item.every(isId);
  if (!isEvery((item) => typeof item === 'string') && !isEvery(isId) && !isEvery(isIds)) {
    throw invalidRequest('input must be a string, a list of strings, a list of token ids, or a list of such lists');
  }
}

const isId = (item: unknown): boolean => Number.isInteger(item) && (item as number) >= 0;
