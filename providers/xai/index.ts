import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/** Common wire. Images have one size, quality and style. Source: providers reference 7.2. */
export default defineProvider({
  name: 'xai',
  wire: 'common',
  connection: {
    env: ['XAI_API_KEY'],
    baseUrl: 'https://api.x.ai/v1',
    authorize: bearer('XAI_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat', 'images'], {}, { images: { drops: ['size', 'quality', 'style'] } }),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
