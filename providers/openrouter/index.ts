import { bearer, defineProvider } from 'gw/contract';
import {
  type ChatBody,
  commonTranslators,
  type Fields,
  listedModels,
  translateWebSearch,
  type WebSearch,
  withoutAbsent,
} from 'gw/common-wire';

/** A search is a tool that the vendor runs, whatever the model. Source: @openrouter/sdk 1.3.19, OpenRouterWebSearchServerTool, 2026-11-22. */
function searchTool({ contextSize, location }: WebSearch, { tools }: ChatBody): Fields {
  const parameters = withoutAbsent({
    search_context_size: contextSize,
    user_location: location && { type: 'approximate', ...location },
  });
  return {
    tools: [
      ...(Array.isArray(tools) ? tools : []),
      { type: 'openrouter:web_search', ...(Object.keys(parameters).length > 0 && { parameters }) },
    ],
  };
}

/**
 * Common wire over many vendors, so it takes any model id; it knows the role `developer`. Embeddings come as base64 on
 * request. Source: OpenRouter SDK reference, "ChatDeveloperMessage" and "EncodingFormat", 2026-11-22.
 */
export default defineProvider({
  name: 'openrouter',
  wire: 'common',
  connection: {
    env: ['OPENROUTER_API_KEY'],
    baseUrl: 'https://openrouter.ai/api/v1',
    authorize: bearer('OPENROUTER_API_KEY'),
  },
  params: {},
  // See docs/reference/ingress.md#what-is-lost, docs/reference/ingress.md#late-system-messages and docs/reference/ingress.md#reasoning-of-other-vendors.
  chatTraits: { history: { marks: ['tools', 'parts', 'messages'], late_system: true } },
  translators: commonTranslators(
    ['chat', 'embeddings'],
    {},
    {
      chat: { knowsDeveloper: true, adjust: (body, notes) => translateWebSearch(body, notes, searchTool) },
      embeddings: { encodingFormat: 'any' },
    },
  ),
  passthrough: true,
  responses: true,
  anyModel: true,
  discovery: listedModels,
});
