import { type Authorize, defineProvider, headerKey } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import {
  BETA_HEADER,
  chatTraitsBeside,
  claudeParams,
  FOUNDRY,
  messagesFault,
  withClaude,
} from '../_common/anthropic/index.ts';
import { resourceRoot } from '../_common/azure.ts';

/** Fields that a model does not know are dropped there rather than refused. Source: Azure AI model inference API, "Extensibility", 2026-11-21. */
const LENIENT = { 'extra-parameters': 'drop' };

const { chat, embeddings } = commonTranslators(
  ['chat', 'embeddings'],
  {},
  {
    chat: {
      path: '/openai/v1/chat/completions',
      headers: LENIENT,
      ceiling: 'max_completion_tokens',
      knowsAllowedTools: true,
      drops: ['web_search_options'],
      responses: { path: '/openai/v1/responses', isAutomatic: true },
    },
    embeddings: { path: '/openai/v1/embeddings' },
  },
);

/** Source: platform.claude.com, "Claude in Microsoft Foundry", 2026-11-22. */
const CLAUDE_PATH = '/anthropic/v1/messages';

const keyOfClaude = headerKey('x-api-key', 'AZURE_FOUNDRY_API_KEY', { 'anthropic-version': '2023-06-01' });
const keyOfOthers = headerKey('api-key', 'AZURE_FOUNDRY_API_KEY');
const authorize: Authorize = (request, credentials) =>
  (request.url.endsWith(CLAUDE_PATH) ? keyOfClaude : keyOfOthers)(request, credentials);

/** Bodies of the common wire, and of Claude in its own; every model of a resource answers at the same paths, and `AZURE_FOUNDRY_API_VERSION` is read by nothing. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'azure-foundry',
  wire: 'native',
  connection: {
    env: ['AZURE_FOUNDRY_API_KEY', 'AZURE_FOUNDRY_ENDPOINT'],
    optionalEnv: ['AZURE_FOUNDRY_API_VERSION'],
    baseUrlEnv: 'AZURE_FOUNDRY_ENDPOINT',
    baseUrl: ({ AZURE_FOUNDRY_ENDPOINT: endpoint = '' }) => endpoint,
    root: resourceRoot,
    authorize,
  },
  params: {},
  paramsFor: claudeParams,
  // See docs/reference/ingress.md#late-system-messages.
  chatTraitsFor: chatTraitsBeside({ wire: 'common', history: { late_system: true } }),
  // See docs/catalog.md#which-entry-is-a-targets. Source: semantic conventions 1.45 of OpenTelemetry, 2026-11-23.
  names: { catalog: ['azure_foundry', 'azure'], telemetry: 'azure.ai.inference' },
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: {
    litellm: { names: ['azure_ai'] },
    portkey: {
      names: ['azure-ai', 'azure-ai-inference'],
      settings: [{ variable: 'AZURE_FOUNDRY_ENDPOINT', from: ['azure_foundry_url', 'azureFoundryUrl'] }],
    },
  },
  translators: {
    chat: withClaude(chat, { variant: FOUNDRY, pathOf: () => CLAUDE_PATH }),
    ...(embeddings && { embeddings }),
  },
  anyModel: true,
  toFault: messagesFault,
  clientHeaders: [BETA_HEADER],
  describedAs: (model) => `anthropic/${model}`,
});
