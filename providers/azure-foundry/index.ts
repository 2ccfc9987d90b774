import { defineProvider, headerKey } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { azureFault, resourceRoot } from '../_common/azure.ts';

/** Fields that a model does not know are dropped there rather than refused. Source: Azure AI model inference API, "Extensibility", 2026-11-21. */
const LENIENT = { 'extra-parameters': 'drop' };

/** Bodies of the common wire; every model of a resource answers at the same paths, and `AZURE_FOUNDRY_API_VERSION` is read by nothing. Source: providers reference 2.4 and 5.7. */
export default defineProvider({
  name: 'azure-foundry',
  wire: 'native',
  connection: {
    env: ['AZURE_FOUNDRY_API_KEY', 'AZURE_FOUNDRY_ENDPOINT'],
    optionalEnv: ['AZURE_FOUNDRY_API_VERSION'],
    baseUrlEnv: 'AZURE_FOUNDRY_ENDPOINT',
    baseUrl: ({ AZURE_FOUNDRY_ENDPOINT: endpoint = '' }) => endpoint,
    root: resourceRoot,
    authorize: headerKey('api-key', 'AZURE_FOUNDRY_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat', 'embeddings'], {}, {
    chat: { path: '/openai/v1/chat/completions', headers: LENIENT, ceiling: 'max_completion_tokens' },
    embeddings: { path: '/openai/v1/embeddings' },
  }),
  anyModel: true,
  toFault: azureFault,
});
