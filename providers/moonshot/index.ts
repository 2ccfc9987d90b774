import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/** Common wire. Source: providers reference 6. */
export default defineProvider({
  name: 'moonshot',
  wire: 'common',
  connection: {
    env: ['MOONSHOT_API_KEY'],
    baseUrl: 'https://api.moonshot.ai/v1',
    authorize: bearer('MOONSHOT_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat'], {}, { chat: { drops: ['web_search_options'] } }),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
