import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import {
  type ChatMessage,
  type ChatRequest,
  type EmbeddingsReply,
  type Fields,
  GatewayError,
  isFields,
} from '../../../host/contract/index.ts';
import { checkCoding } from '../../../host/http/body/coding.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import { readMetadata } from '../../../host/http/metadata-header.ts';
import type { ReadRequest } from '../../../host/http/surface-route.ts';
import { ClientRequest } from '../../../host/wire/client-request.ts';
import { NO_HISTORY } from '../history-notes.ts';
import { askedIn, checkForm, isListStream, modelOf, type Operation } from './address.ts';
import { GEMINI_DIALECT, geminiDialect } from './dialect.ts';
import { readBatch, readEmbed, writeEmbedding, writeEmbeddings } from './request/embeddings.ts';
import { isObject, listOf, membersOf } from './request/members.ts';
import { type ReadGenerate, readGenerate } from './request/request.ts';
import { LIST_FORM, SSE_FORM } from './stream-form.ts';
import { GeminiWire } from './wire.ts';

/** Whole or as a stream. What only other wires cannot carry is refused once it is known that no target speaks this one. */
export function generate(
  operation: Operation,
  body: JsonObject,
  httpRequest: IncomingMessage,
  bytes: Buffer,
): ReadRequest {
  checkCoding(httpRequest);
  const { url = '' } = httpRequest;
  checkForm(url);
  const model = modelOf(askedIn(url));
  checkContents(body);
  const { request, facts, lost, history, refusal } = readOrRefuse(body, model);
  const streaming = operation === 'streamGenerateContent';
  return {
    request,
    streaming,
    metadata: readMetadata(httpRequest.headers['x-gateway-metadata']),
    wire: new GeminiWire(isListStream(url) ? LIST_FORM : SSE_FORM, facts),
    clientRequest: new ClientRequest({
      dialect: geminiDialect(history, facts?.includesThoughts === true),
      operation,
      bytes,
      value: body,
      refusal,
      lost,
    }),
  };
}

/** What a request counts, which stands there as it is or as one member. */
export function count(body: JsonObject, httpRequest: IncomingMessage, bytes: Buffer): ReadRequest {
  checkCoding(httpRequest);
  const { url = '' } = httpRequest;
  checkForm(url);
  const model = modelOf(askedIn(url));
  const { contents, generateContentRequest: asked } = membersOf(body, COUNTED, '');
  if (asked !== undefined && contents !== undefined)
    throw invalidRequest('contents and generateContentRequest are both given');
  if (asked !== undefined && !isObject(asked)) throw invalidRequest('generateContentRequest must be an object');
  const counted = asked ?? body;
  checkContents(counted, asked === undefined ? '' : 'generateContentRequest.');
  const { request, lost, history, refusal } = readOrRefuse(counted, model, true);
  return {
    request,
    streaming: false,
    clientRequest: new ClientRequest({
      dialect: geminiDialect(history),
      operation: 'countTokens',
      bytes,
      value: body,
      refusal,
      lost,
    }),
  };
}

const COUNTED = new Set(['contents', 'generateContentRequest']);

function checkContents({ contents }: Readonly<Fields>, at = ''): void {
  if (Array.isArray(contents) || (isObject(contents) && listOf(contents['parts']))) return;
  throw invalidRequest(`${at}contents ${contents === undefined ? 'is required' : 'must be a list'}`);
}

/** Vectors of one text, or of several. */
export function embed(
  operation: 'embedContent' | 'batchEmbedContents',
  body: JsonObject,
  httpRequest: IncomingMessage,
  bytes: Buffer,
): ReadRequest {
  const isBatch = operation === 'batchEmbedContents';
  const write = isBatch ? writeEmbeddings : writeEmbedding;
  checkCoding(httpRequest);
  const { url = '' } = httpRequest;
  checkForm(url);
  const { request, lost } = (isBatch ? readBatch : readEmbed)(body, modelOf(askedIn(url)));
  return {
    request,
    streaming: false,
    clientRequest: new ClientRequest({ dialect: GEMINI_DIALECT, operation, bytes, value: body, lost }),
    write: ({ reply }) => write(reply as EmbeddingsReply),
  };
}

interface Read extends Omit<ReadGenerate, 'facts'> {
  readonly facts?: ReadGenerate['facts'];
  readonly refusal?: GatewayError;
}

function readOrRefuse(body: JsonObject, model: string, isCounting = false): Read {
  try {
    return readGenerate(body, model, isCounting);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { request: plainRequest(body, model), lost: [], history: NO_HISTORY, refusal: error };
  }
}

/** The texts of a body that has no form in the common format: what routing and plugins look at. */
function plainRequest({ contents }: JsonObject, model: string): ChatRequest {
  const messages = (listOf(contents) ?? []).filter(isFields).map(({ role, parts }): ChatMessage => ({
    role: role === 'model' ? 'assistant' : 'user',
    content: (listOf(parts) ?? [])
      .filter(isFields)
      .map(({ text }: Fields) => (typeof text === 'string' ? text : ''))
      .join(''),
  }));
  return { model, messages };
}
