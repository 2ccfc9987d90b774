import type { Translator } from 'gw/contract';
import { countOf, fieldsBeside, objectOf, pathSegments, withoutTail } from 'gw/common-wire';

/** What the host does itself, and the fields this wire has. */
const KNOWN = ['model', 'query', 'documents', 'top_n', 'return_documents'];

/**
 * A task of its own, beside the compatible root: one score per document, in their order.
 * Source: DeepInfra, "Qwen3-Reranker-8B", HTTP API, 2026-11-21.
 */
export const rerank: Translator<'rerank'> = {
  toUpstream: (request, call) => ({
    path: `${withoutTail(call.root, '/openai')}/inference/${pathSegments(call.model)}`,
    body: { queries: [request.query], documents: request.documents },
    ignored: fieldsBeside(request, KNOWN),
  }),
  fromUpstream(reply, _call, { documents }) {
    const { scores, input_tokens: tokens } = objectOf(reply);
    const isWhole =
      Array.isArray(scores) && scores.length === documents.length && scores.every((score) => typeof score === 'number');
    if (!isWhole) throw new Error(`the answer does not hold ${documents.length} scores`);
    const input = countOf(tokens);
    return {
      results: (scores as readonly number[]).map((score, index) => ({ index, relevance_score: score })),
      ...(input > 0 && { meta: { tokens: { input_tokens: input } } }),
    };
  },
};
