import { bearer, defineProvider } from 'gw/contract';
import { withoutTail } from 'gw/common-wire';
import { embeddings } from './embeddings.ts';
import { toFault } from './errors.ts';
import { params, toUpstream } from './request.ts';
import { rerank } from './rerank.ts';
import { fromUpstream } from './response.ts';
import { openStream } from './stream.ts';

/** Chat and rerank of the second version of the API, embeddings of the first: paths bring it. Source: providers reference 5.5. */
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
  translators: { chat: { toUpstream, fromUpstream, openStream }, embeddings, rerank },
  toFault,
});
