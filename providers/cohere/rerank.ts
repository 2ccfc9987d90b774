import type { RerankReply, Translator } from 'gw/contract';
import { countOf, type Fields, fieldsBeside, isFields, itemsOf, objectOf, withoutAbsent } from 'gw/common-wire';

const KNOWN = ['model', 'query', 'documents', 'top_n', 'return_documents', 'max_tokens_per_doc', 'priority'];

/** The host sorts, caps and puts the documents back. See docs/reference/providers.md#rerank. */
export const rerank: Translator<'rerank'> = {
  toUpstream(request, call) {
    const { query, documents, top_n, max_tokens_per_doc, priority } = request;
    return {
      path: '/v2/rerank',
      body: withoutAbsent({
        model: call.model,
        query,
        documents,
        top_n: top_n || undefined,
        max_tokens_per_doc,
        priority,
      }), // 0 means all
      ignored: fieldsBeside(request, KNOWN),
    };
  },
  fromUpstream(reply) {
    const { id, results, meta } = objectOf(reply);
    const searched = searchUnits(meta);
    return {
      ...(typeof id === 'string' && { id }),
      results: itemsOf(results, 'results').map(readResult),
      ...(searched > 0 && { meta: { billed_units: { search_units: searched } } }),
    };
  },
};

function readResult({ index, relevance_score: score }: Fields): RerankReply['results'][number] {
  if (typeof index !== 'number' || typeof score !== 'number') throw new Error('a result holds no index and score');
  return { index, relevance_score: score };
}

function searchUnits(meta: unknown): number {
  const units: unknown = isFields(meta) ? meta['billed_units'] : undefined;
  return isFields(units) ? countOf(units['search_units']) : 0;
}
