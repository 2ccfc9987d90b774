import type { EmbeddingsRequest, Translator } from 'gw/contract';
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
  withoutAbsent,
} from 'gw/common-wire';

const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering'];
const KNOWN = ['model', 'input', 'input_type', 'encoding_format', 'dimensions', 'user', 'truncate'];

/** The first version of the API: bare vectors in the order of the texts. See docs/reference/providers.md#embeddings. */
export const embeddings: Translator<'embeddings'> = {
  toUpstream(request, call) {
    for (const name of ['dimensions', 'user'])
      if (isGiven(request[name]))
        throw invalidRequest(`${name} is not supported: cohere embeds texts as the model does`);
    return {
      path: '/v1/embed',
      body: withoutAbsent({
        texts: inputTexts(request),
        model: call.model,
        input_type: inputType(request),
        truncate: request['truncate'],
      }),
      ignored: fieldsBeside(request, KNOWN),
    };
  },
  fromUpstream(reply, call, request) {
    const { embeddings: given, meta } = objectOf(reply);
    return embeddingsOf(isFields(given) ? given['float'] : given, request, call, billedTokens(meta));
  },
};

function inputType({ input_type: asked }: EmbeddingsRequest): string {
  if (!isGiven(asked)) return 'search_document';
  if (!INPUT_TYPES.includes(String(asked)))
    throw invalidRequest(`input_type "${String(asked)}" is none of ${INPUT_TYPES.join(', ')}`);
  return String(asked);
}

function billedTokens(meta: unknown): number {
  const units: unknown = isFields(meta) ? meta['billed_units'] : undefined;
  return isFields(units) ? countOf((units satisfies Fields)['input_tokens']) : 0;
}
