import { bearer, defineProvider, type Usage } from 'gw/contract';
import {
  type ChatBody,
  commonTranslators,
  type Fields,
  isFields,
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
 * With a key of the customer's own the model is paid for elsewhere, and OpenRouter's part beside it. Where what is paid elsewhere is not
 * said, nothing is known. Source: openrouter.ai, "Usage Accounting", 2026-11-26.
 */
function costOf({ cost, is_byok: isOwnKey, cost_details: details }: Usage): number | undefined {
  if (typeof cost !== 'number') return undefined;
  if (isOwnKey !== true) return cost;
  const upstream = isFields(details) ? details['upstream_inference_cost'] : undefined;
  return typeof upstream === 'number' && upstream > 0 ? cost + upstream : undefined;
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
  costReport: { use: 'prefer', usd: costOf },
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
