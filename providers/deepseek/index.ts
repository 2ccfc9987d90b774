import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/** Accepted without effect. Source: providers reference 3.2. */
const params = { presence_penalty: 'unsupported', frequency_penalty: 'unsupported' } as const;

/**
 * Common wire; the caller's `user` is called `user_id`. Cache hits come as `prompt_cache_hit_tokens`, which the host
 * reads. Source: providers reference 6.
 */
export default defineProvider({
  name: 'deepseek',
  wire: 'common',
  connection: {
    env: ['DEEPSEEK_API_KEY'],
    baseUrl: 'https://api.deepseek.com/v1',
    authorize: bearer('DEEPSEEK_API_KEY'),
  },
  params,
  translators: commonTranslators(['chat'], params, { chat: { renames: { user: 'user_id' } } }),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
