import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/** Common wire, without exceptions. */
export default defineProvider({
  name: 'sambanova',
  wire: 'common',
  connection: {
    env: ['SAMBANOVA_API_KEY'],
    baseUrl: 'https://api.sambanova.ai/v1',
    authorize: bearer('SAMBANOVA_API_KEY'),
  },
  params: {},
  translators: commonTranslators(
    ['chat', 'embeddings', 'audio.transcriptions', 'audio.translations'],
    {},
    { chat: { drops: ['web_search_options'] } },
  ),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
