import type { Translator } from 'gw/contract';
import { countOf, embeddingsOf, fieldsBeside, inputTexts, isFields, isGiven, objectOf } from 'gw/common-wire';
import { methodPath, modelName } from './models.ts';

const KNOWN = ['model', 'input', 'dimensions', 'encoding_format'];

/** One request per text in one call, vectors in their order. See docs/reference/providers.md#embeddings. */
export const embeddings: Translator<'embeddings'> = {
  toUpstream(request, call) {
    const { dimensions } = request;
    const model = `models/${modelName(call.model)}`;
    const requests = inputTexts(request).map((text) => ({
      model,
      content: { parts: [{ text }] },
      ...(isGiven(dimensions) && { outputDimensionality: dimensions }),
    }));
    return {
      path: methodPath(call.model, 'batchEmbedContents'),
      body: { requests },
      ignored: fieldsBeside(request, KNOWN),
    };
  },
  fromUpstream(reply, call, request) {
    const { embeddings: several, embedding: one, usageMetadata: usage } = objectOf(reply);
    const given = Array.isArray(several) ? several : [one]; // one where a client of this wire asked for one
    const vectors = given.map((item: unknown) => (isFields(item) ? item['values'] : undefined));
    return embeddingsOf(vectors, request, call, isFields(usage) ? countOf(usage['promptTokenCount']) : 0);
  },
};
