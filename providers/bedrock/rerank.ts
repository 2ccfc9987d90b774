import type { RerankReply, RerankRequest, Translator } from 'gw/contract';
import { fieldsBeside, type Fields, itemsOf, objectOf } from 'gw/common-wire';
import { agentRoot, partitionOf, regionOf } from './connection.ts';

/** Another service of the vendor's, at an address of its own; the host caps. See docs/reference/providers.md#rerank. */
export const rerank: Translator<'rerank'> = {
  toUpstream(request, { model, credentials }) {
    const region = regionOf(credentials);
    const modelArn = model.startsWith('arn:')
      ? model
      : `arn:${partitionOf(region)}:bedrock:${region}::foundation-model/${model}`;
    return {
      path: `${agentRoot(credentials)}/rerank`,
      withCredential: true,
      body: {
        queries: [{ type: 'TEXT', textQuery: { text: request.query } }],
        sources: request.documents.map((text) => ({
          type: 'INLINE',
          inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
        })),
        rerankingConfiguration: {
          type: 'BEDROCK_RERANKING_MODEL',
          bedrockRerankingConfiguration: { numberOfResults: resultsOf(request), modelConfiguration: { modelArn } },
        },
      },
      ignored: fieldsBeside(request, ['model', 'query', 'documents', 'top_n', 'return_documents']),
    };
  },
  fromUpstream: (reply) => ({ results: itemsOf(objectOf(reply)['results'], 'results').map(readResult) }),
};

/** 0 means all. */
function resultsOf({ top_n: top, documents }: RerankRequest): number {
  return Math.min(top || documents.length, documents.length);
}

function readResult({ index, relevanceScore: score }: Fields): RerankReply['results'][number] {
  if (typeof index !== 'number' || typeof score !== 'number') throw new Error('a result holds no index and score');
  return { index, relevance_score: score };
}
