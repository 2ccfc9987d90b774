import { bearer, defineProvider, lateFile } from 'gw/contract';
import { withoutTail } from 'gw/common-wire';
import { toFault } from './errors.ts';
import { params } from './params.ts';
import type * as Wire from './wire.ts';

const late = lateFile<typeof Wire>(import.meta, './wire.ts');

/** Chat and rerank of the second version of the API, embeddings of the first: paths bring it. See docs/providers.md#cohere-models. */
export default defineProvider({
  name: 'cohere',
  wire: 'native',
  connection: {
    env: ['COHERE_API_KEY'],
    baseUrl: 'https://api.cohere.com',
    root: (address) => ['/v1', '/v2'].reduce(withoutTail, address),
    authorize: bearer('COHERE_API_KEY'),
  },
  params,
  chatTraits: { mediaInResults: false, errorsInResults: false, history: { thoughts: 'tool_turns' } },
  // Source: docs.litellm.ai, "Providers", 2026-11-05.
  elsewhere: { litellm: { names: ['cohere_chat'], models: ['command'] } },
  translators: {
    chat: late('chat', ['toUpstream', 'fromUpstream', 'openStream']),
    embeddings: late('embeddings', ['toUpstream', 'fromUpstream']),
    rerank: late('rerank', ['toUpstream', 'fromUpstream']),
  },
  toFault,
});
