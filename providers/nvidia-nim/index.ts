import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';
import { DEFAULT_ROOT, rerank } from './rerank.ts';

/**
 * Common wire, but for rerank. `input_type` of embeddings travels as given: retrievers need it, and only the caller knows
 * it. Embeddings come as base64 on request. Source: NeMo Retriever Embedding NIM, API reference, 2026-11-21.
 */
export default defineProvider({
  name: 'nvidia-nim',
  wire: 'common',
  connection: {
    env: ['NVIDIA_NIM_API_KEY'],
    baseUrl: DEFAULT_ROOT,
    authorize: bearer('NVIDIA_NIM_API_KEY'),
  },
  params: {},
  // See docs/catalog.md#which-entry-is-a-targets.
  names: { catalog: ['nvidia_nim'] },
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { litellm: { names: ['nvidia_nim'] }, portkey: { names: ['nvidia'] } },
  translators: {
    ...commonTranslators(
      ['chat', 'embeddings'],
      {},
      { chat: { drops: ['web_search_options'] }, embeddings: { encodingFormat: 'any' } },
    ),
    rerank,
  },
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
