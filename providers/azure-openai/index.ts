import { defineProvider, headerKey } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { chatTraitsBeside } from '../_common/anthropic/index.ts';
import { resourceRoot } from '../_common/azure.ts';
import { checkDeployment, configured, pinned, requested } from './deployments.ts';
import { elsewhere } from './elsewhere.ts';
import { textInput, withoutModel } from './bodies.ts';

const authorize = headerKey('api-key', 'AZURE_OPENAI_API_KEY');

/**
 * Bodies of the common wire at the paths of a resource: chat at the one configured deployment, everything else at the
 * deployment that the request names. The role `developer` is known, a search of the web is not. Source: Azure OpenAI REST
 * API reference, data plane inference 2024-10-21, 2026-11-22.
 */
export default defineProvider({
  name: 'azure-openai',
  wire: 'native',
  connection: {
    env: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_DEPLOYMENT'],
    optionalEnv: ['AZURE_OPENAI_API_VERSION'],
    baseUrlEnv: 'AZURE_OPENAI_ENDPOINT',
    baseUrl: ({ AZURE_OPENAI_ENDPOINT: endpoint = '' }) => endpoint,
    root: resourceRoot,
    authorize,
    open: (credentials) => {
      checkDeployment(credentials);
      return { authorize };
    },
    settings: {
      deployment: { variable: 'AZURE_OPENAI_DEPLOYMENT', isRequired: false },
      api_version: 'AZURE_OPENAI_API_VERSION',
    },
    chatModelEnv: 'AZURE_OPENAI_DEPLOYMENT',
    models: ({ AZURE_OPENAI_DEPLOYMENT: deployment }) => (deployment === undefined ? [] : [deployment]),
  },
  params: {},
  // See docs/reference/ingress.md#what-is-lost and docs/reference/ingress.md#late-system-messages.
  chatTraitsFor: chatTraitsBeside({ wire: 'common', history: { marks: 'unasked', late_system: true } }),
  // See docs/catalog.md#which-entry-is-a-targets. Source: semantic conventions 1.45 of OpenTelemetry, 2026-11-23.
  names: { catalog: ['azure_openai', 'azure'], telemetry: 'azure.ai.openai' },
  elsewhere,
  translators: commonTranslators(
    ['chat', 'embeddings', 'images', 'images.edits', 'audio.transcriptions', 'audio.translations', 'audio.speech'],
    {},
    {
      chat: {
        path: pinned('/chat/completions'),
        ceiling: 'max_completion_tokens',
        knowsDeveloper: true,
        knowsRefusals: true,
        knowsAllowedTools: true,
        drops: ['web_search_options'],
        responses: {
          path: '/openai/v1/responses',
          model: ({ model, credentials }) => configured(credentials) || model,
          isAutomatic: true,
        },
      },
      embeddings: { path: requested('/embeddings'), encodingFormat: 'any', drops: ['input_type'], adjust: textInput },
      images: { path: requested('/images/generations'), adjust: withoutModel },
      'images.edits': { path: requested('/images/edits'), model: false },
      'audio.transcriptions': { path: requested('/audio/transcriptions'), model: '' },
      'audio.translations': { path: requested('/audio/translations'), model: '' },
      'audio.speech': { path: requested('/audio/speech'), adjust: (body) => ({ ...body, model: '' }) },
    },
  ),
  streams: ['images', 'images.edits', 'audio.transcriptions', 'audio.speech'],
  batches: true,
  forwardPath: '/openai/v1',
  catalogModels: false,
});
