import { type Authorize, defineProvider } from 'gw/contract';
import { accountHeaders, commonTranslators, listedModels, requireImageFormat, type Fields } from 'gw/common-wire';

/** Only `dall-e` models choose between address and data; the others answer with data and refuse the field. See docs/reference/providers.md#images. */
function withImageFormat({ response_format: asked, ...body }: Fields): Fields {
  const model = String(body['model']);
  if (model.startsWith('dall-e')) return { ...body, response_format: asked ?? 'url' };
  requireImageFormat(asked, ['b64_json'], model);
  return body;
}

const authorize: Authorize = (_request, credentials) => ({
  ...accountHeaders(credentials),
  authorization: `Bearer ${credentials['OPENAI_API_KEY'] ?? ''}`,
});

/** The common wire is this provider's own. Only `max_completion_tokens` is sent, and `encoding_format` always. See docs/reference/providers.md#token-ceilings. */
export default defineProvider({
  name: 'openai',
  wire: 'common',
  connection: {
    env: ['OPENAI_API_KEY'],
    baseUrl: 'https://api.openai.com/v1',
    authorize,
    settings: { organization: 'organization', project: 'project' },
    keyShapes: [
      { shape: 'sk-proj-[A-Za-z0-9_-]{20,}', shownAs: 'OPENAI_KEY' },
      { shape: 'sk-svcacct-[A-Za-z0-9_-]{20,}', shownAs: 'OPENAI_KEY' },
      { shape: 'sk-admin-[A-Za-z0-9_-]{20,}', shownAs: 'OPENAI_KEY' },
      { shape: 'sk-[A-Za-z0-9]{20,}', shownAs: 'OPENAI_KEY' },
    ],
  },
  params: {},
  // See docs/reference/ingress.md#what-is-lost and docs/reference/ingress.md#late-system-messages.
  chatTraits: {
    history: { marks: 'unasked', late_system: true },
    fields: ['prompt_cache_key', 'service_tier', 'verbosity'],
  },
  bannerPlace: 1,
  // Source: docs.litellm.ai, "Providers", 2026-11-05.
  elsewhere: {
    litellm: { names: ['text_completion_openai', 'text-completion-openai'], models: [''] },
  },
  translators: commonTranslators(
    [
      'chat',
      'embeddings',
      'images',
      'images.edits',
      'moderations',
      'audio.transcriptions',
      'audio.translations',
      'audio.speech',
    ],
    {},
    {
      chat: {
        ceiling: 'max_completion_tokens',
        knowsDeveloper: true,
        knowsRefusals: true,
        knowsAllowedTools: true,
        responses: { isAutomatic: true },
      },
      embeddings: { encodingFormat: 'always', drops: ['input_type'] },
      images: { adjust: withImageFormat },
    },
  ),
  streams: ['images', 'images.edits', 'audio.transcriptions', 'audio.speech'],
  passthrough: true,
  batches: true,
  responses: 'native',
  discovery: listedModels,
});
