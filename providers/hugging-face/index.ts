import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';
import { embeddings, images } from './tasks.ts';

/** Chat on the common wire, embeddings and images as tasks of the inference service. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'hugging-face',
  wire: 'common',
  connection: {
    env: ['HUGGING_FACE_API_KEY'],
    baseUrlEnv: 'HUGGING_FACE_ENDPOINT',
    baseUrl: 'https://router.huggingface.co/v1',
    needsAddress: true,
    authorize: bearer('HUGGING_FACE_API_KEY'),
  },
  params: {},
  // See docs/catalog.md#which-entry-is-a-targets.
  names: { catalog: ['hugging_face'] },
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22; docs.getbifrost.ai, "Provider Setup", 2026-11-22.
  elsewhere: {
    litellm: { names: ['huggingface'] },
    portkey: { names: ['huggingface'] },
    bifrost: { names: ['huggingface'] },
  },
  translators: { ...commonTranslators(['chat'], {}, { chat: { drops: ['web_search_options'] } }), embeddings, images },
  passthrough: true,
  responses: true,
  anyModel: true,
  discovery: listedModels,
  imageFormats: ['b64_json'],
});
