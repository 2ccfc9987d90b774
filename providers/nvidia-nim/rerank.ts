import type { RerankReply, Translator } from 'gw/contract';
import { type Fields, fieldsBeside, itemsOf, objectOf, tokensMeta } from 'gw/common-wire';

export const DEFAULT_ROOT = 'https://integrate.api.nvidia.com/v1';
/** The hosted service ranks at an address of its own; a container of one's own below its root. See docs/providers.md#what-differs. */
const HOSTED = 'https://ai.api.nvidia.com/v1/retrieval/nvidia/reranking';

/** What the host does itself, and the fields this wire has. */
const KNOWN = ['model', 'query', 'documents', 'top_n', 'return_documents'];

/** Rankings by logit. See docs/reference/providers.md#rerank. */
export const rerank: Translator<'rerank'> = {
  toUpstream: (request, call) => ({
    path: call.root === DEFAULT_ROOT ? HOSTED : '/ranking',
    withCredential: true,
    headers: { accept: 'application/json' },
    body: {
      model: call.model,
      query: { text: request.query },
      passages: request.documents.map((text) => ({ text })),
      truncate: 'END',
    },
    ignored: fieldsBeside(request, KNOWN),
  }),
  fromUpstream(reply) {
    const { rankings, usage } = objectOf(reply);
    const meta = tokensMeta(usage);
    return { results: itemsOf(rankings, 'rankings').map(readRanking), ...(meta && { meta }) };
  },
};

/** A logit as a score between 0 and 1. */
function readRanking({ index, logit }: Fields): RerankReply['results'][number] {
  if (typeof index !== 'number' || typeof logit !== 'number') throw new Error('a ranking holds no index and logit');
  return { index, relevance_score: 1 / (1 + Math.exp(-logit)) };
}
