import type { ParamTreatments, Translator } from 'gw/contract';
import { embeddingsOf, inputTexts } from './embeddings.ts';
import { countOf, fieldsBeside, objectOf } from './fields.ts';
import { withoutTail } from './paths.ts';

export { modelNames } from './model-names.ts';

/** Chat parameters that Ollama's compatible API does not read. Source: Ollama documentation, "OpenAI compatibility", 2026-11-21. */
export const OLLAMA_PARAMS: ParamTreatments = {
  n: 'unsupported',
  tool_choice: 'unsupported',
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  user: 'unsupported',
  logit_bias: 'unsupported',
};

/** Ollama's own embeddings, beside the compatible API: it has no user, no input type and no encodings. See docs/reference/providers.md#embeddings. */
export function ollamaEmbeddings(): Translator<'embeddings'> {
  return {
    toUpstream(request, call) {
      inputTexts(request); // refuses token ids
      const { input, dimensions } = request;
      return {
        path: `${withoutTail(call.root, '/v1')}/api/embed`,
        body: { model: call.model, input, ...(typeof dimensions === 'number' && { dimensions }) },
        ignored: fieldsBeside(request, ['model', 'input', 'dimensions', 'encoding_format']),
      };
    },
    fromUpstream(reply, call, request) {
      const { embeddings, prompt_eval_count: tokens } = objectOf(reply);
      return embeddingsOf(embeddings, request, call, countOf(tokens));
    },
  };
}
