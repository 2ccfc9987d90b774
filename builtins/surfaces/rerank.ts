import { invalidRequest } from '../../host/common/invalid-request.ts';
import { isFields, type RerankRequest } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { checkFields, checkPositive, type FieldKind, flag, integer, requireText, text } from './fields.ts';

const FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['model', text],
  ['query', text],
  ['top_n', integer],
  ['return_documents', flag],
  ['max_tokens_per_doc', integer],
]);

/** `POST /v1/rerank`. */
export default surfaceBuiltin({
  surface: 'rerank',
  path: '/v1/rerank',
  read: jsonBody((body) => ({ request: readRerank(body), streaming: false })),
});

function readRerank(body: JsonObject): RerankRequest {
  checkFields(body, FIELDS);
  requireText(body, 'model');
  requireText(body, 'query');
  const { documents, top_n: top } = body;
  if (!Array.isArray(documents) || documents.length === 0)
    throw invalidRequest('documents is required and must hold at least one string');
  const texts = documents.map(textOf);
  const odd = texts.indexOf(undefined);
  if (odd >= 0) throw invalidRequest(`documents[${odd}] must be a string, or an object with a text alone`);
  body['documents'] = texts;
  if (typeof top === 'number' && top < 0) throw invalidRequest('top_n must not be negative');
  if (top === 0) delete body['top_n'];
  checkPositive(body, 'max_tokens_per_doc');
  return body as unknown as RerankRequest;
}

/** Clients of Cohere's first API send objects. What they may hold beside the text has no place on the wire. */
function textOf(document: unknown): string | undefined {
  if (!isFields(document)) return typeof document === 'string' ? document : undefined;
  const { text: own, ...others } = document;
  return typeof own === 'string' && Object.keys(others).length === 0 ? own : undefined;
}
