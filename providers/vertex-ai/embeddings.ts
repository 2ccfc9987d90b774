import type { Translator } from 'gw/contract';
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
import { predictPath } from './address.ts';
import { ownName } from './models.ts';

const KNOWN = ['model', 'input', 'dimensions', 'encoding_format'];
/** Families that embed. See docs/reference/providers.md#embeddings. */
const EMBEDS = /^(?:gemini-embedding-001$|text-embedding-|textembedding-gecko|text-multilingual-embedding-)/;

/** One instance per text, vectors in their order. Throws a 400 for models that do not embed. */
export const embeddings: Translator<'embeddings'> = {
  toUpstream(request, call) {
    const model = ownName(call.model);
    if (!EMBEDS.test(model)) throw invalidRequest(`model "${call.model}" makes no embeddings`);
    const { dimensions } = request;
    return {
      path: predictPath(call.root, model),
      body: {
        instances: inputTexts(request).map((content) => ({ content })),
        ...(isGiven(dimensions) && { parameters: { outputDimensionality: dimensions } }),
      },
      ignored: fieldsBeside(request, KNOWN),
    };
  },
  fromUpstream(reply, call, request) {
    const { predictions, metadata } = objectOf(reply);
    const given: readonly unknown[] = Array.isArray(predictions) ? predictions : [];
    const items = given.map((item) => (isFields(item) ? item : {}));
    return embeddingsOf(
      items.map(vectorOf),
      request,
      call,
      totalOf(metadata) || items.map(tokensOf).reduce((sum, count) => sum + count, 0),
    );
  },
};

function vectorOf({ embeddings: held, values, embedding }: Fields): unknown {
  return (isFields(held) ? held['values'] : undefined) ?? values ?? embedding;
}

function totalOf(metadata: unknown): number {
  return countOf(
    ['tokenMetadata', 'inputTokenCount', 'totalTokens'].reduce<unknown>(
      (at, name) => (isFields(at) ? at[name] : undefined),
      metadata,
    ),
  );
}

function tokensOf({ embeddings: held, statistics: own }: Fields): number {
  const statistics = isFields(held) && isFields(held['statistics']) ? held['statistics'] : own;
  return isFields(statistics) ? countOf(statistics['token_count']) || countOf(statistics['tokenCount']) : 0;
}
