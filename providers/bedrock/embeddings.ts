import { Buffer } from 'node:buffer';
import type {
  CallInfo,
  EmbeddingsReply,
  EmbeddingsRequest,
  Send,
  Translator,
  UnaryReply,
  WireReply,
  WireRequest,
} from 'gw/contract';
import {
  countOf,
  embeddingsOf,
  type Fields,
  fieldsBeside,
  inputTexts,
  invalidRequest,
  isFields,
  isGiven,
  objectOf,
} from 'gw/common-wire';
import { modelPath, routingId } from './models.ts';

/** Titan embeds one text per call, Cohere many. See docs/reference/providers.md#embeddings. */
export const embeddings: Translator<'embeddings'> = {
  toUpstream(request, call) {
    const id = routingId(call.model);
    if (id.startsWith('amazon.titan-embed-text-')) return toTitan(request, call, id);
    if (id.startsWith('cohere.embed-')) return toCohere(request, call, id);
    throw invalidRequest(`bedrock cannot embed with the model "${call.model}"`);
  },
  fromUpstream: (reply, call, request) =>
    routingId(call.model).startsWith('cohere.') ? readCohere(reply, call, request) : readTitan(reply, call, request),
};

const KNOWN = ['model', 'input', 'encoding_format', 'dimensions'];

/** A list of texts stands for a call each: `embedEach` makes them. */
interface TitanBody {
  readonly inputText: readonly string[];
  readonly dimensions?: number;
}

function toTitan(request: EmbeddingsRequest, call: CallInfo, id: string): WireRequest {
  const { dimensions } = request;
  if (isGiven(dimensions) && !id.startsWith('amazon.titan-embed-text-v2'))
    throw invalidRequest(`dimensions: the model "${call.model}" has a fixed number of them`);
  const body: TitanBody = { inputText: inputTexts(request), ...(typeof dimensions === 'number' && { dimensions }) };
  return { path: modelPath(call.model, 'invoke'), body, ignored: fieldsBeside(request, KNOWN) };
}

const MAX_PARALLEL = 4;

/** Whether a request stands for a call per text. */
export const standsForMany = ({ body }: WireRequest): boolean => isFields(body) && Array.isArray(body['inputText']);

/** A call per text, a few at a time; the answers in the order of the texts, as one. The first failure is the answer. */
export async function embedEach(send: Send, request: WireRequest): Promise<WireReply> {
  const { inputText: texts, ...settings } = request.body as TitanBody;
  const replies: WireReply[] = [];
  let failed: WireReply | undefined;
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < texts.length) {
      const place = next;
      next += 1;
      const reply = await send({ ...request, body: { inputText: texts[place], ...settings } }).catch(
        (error: unknown) => {
          next = texts.length;
          throw error;
        },
      );
      if (reply.status === 200) replies[place] = reply;
      else {
        failed ??= reply;
        next = texts.length;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, texts.length) }, work));
  return failed ?? joined(replies);
}

function joined(replies: readonly WireReply[]): WireReply {
  const answers = replies.map(({ body }) => Buffer.from(body as Uint8Array).toString('utf8'));
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`{"answers":[${answers.join(',')}]}`),
  };
}

function readTitan(reply: UnaryReply, call: CallInfo, request: EmbeddingsRequest): EmbeddingsReply {
  const { answers } = objectOf(reply);
  const each = Array.isArray(answers) ? answers.map((answer: unknown): Fields => (isFields(answer) ? answer : {})) : [];
  const tokens = each.reduce((sum, { inputTextTokenCount }) => sum + countOf(inputTextTokenCount), 0);
  return embeddingsOf(
    each.map(({ embedding }) => embedding),
    request,
    call,
    tokens,
  );
}

const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering'];

function toCohere(request: EmbeddingsRequest, call: CallInfo, id: string): WireRequest {
  const { input_type: asked, dimensions } = request;
  if (isGiven(dimensions)) throw invalidRequest(`dimensions: bedrock does not take them for the model "${call.model}"`);
  if (isGiven(asked) && !INPUT_TYPES.includes(String(asked)))
    throw invalidRequest(`input_type "${String(asked)}" is none of ${INPUT_TYPES.join(', ')}`);
  const body = {
    texts: inputTexts(request),
    input_type: isGiven(asked) ? asked : INPUT_TYPES[0],
    ...(id.startsWith('cohere.embed-v4') && { embedding_types: ['float'] }),
  };
  return { path: modelPath(call.model, 'invoke'), body, ignored: fieldsBeside(request, [...KNOWN, 'input_type']) };
}

function readCohere(reply: UnaryReply, call: CallInfo, request: EmbeddingsRequest): EmbeddingsReply {
  const { embeddings: given, meta } = objectOf(reply);
  const billed = isFields(meta) ? meta['billed_units'] : undefined;
  const tokens =
    countOf(isFields(billed) ? billed['input_tokens'] : undefined) ||
    countOf(Number(reply.headers['x-amzn-bedrock-input-token-count']));
  return embeddingsOf(isFields(given) ? given['float'] : given, request, call, tokens);
}
