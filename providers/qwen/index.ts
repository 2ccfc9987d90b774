import { bearer, defineProvider } from 'gw/contract';
import {
  type ChatBody,
  commonTranslators,
  type Fields,
  listedModels,
  type Notes,
  translateWebSearch,
} from 'gw/common-wire';

/** A switch, without a place and a size. Source: Alibaba Cloud Model Studio, "OpenAI compatible - Chat", `enable_search`, 2026-11-22. */
const search = (): Fields => ({ enable_search: true });

/** Thinking is switched off by a field of its own. Source: Alibaba Cloud Model Studio, "Deep thinking", `enable_thinking`, 2026-11-22. */
function adjust(body: ChatBody, notes: Notes): ChatBody {
  const { reasoning_effort: effort, ...rest } = body;
  const asked = effort === 'none' ? { ...rest, enable_thinking: false } : preserved(body);
  return translateWebSearch(asked, notes, search, ['contextSize', 'location']);
}

/** Models that read thoughts of earlier turns only where a switch says so. Source: @ai-sdk/alibaba 2.0.58, 2026-11-26. */
const PRESERVING = /^qwen3\.(6-(plus|max)|[78])/i;

function preserved(body: ChatBody): ChatBody {
  const hasThoughts = body.messages.some(
    ({ role, reasoning_content: text }) => role === 'assistant' && typeof text === 'string' && text !== '',
  );
  if (!hasThoughts || 'preserve_thinking' in body || body['enable_thinking'] === false) return body;
  return PRESERVING.test(String(body['model'])) ? { ...body, preserve_thinking: true } : body;
}

/** Common wire in DashScope's compatible mode, with files and batches. See docs/providers.md#providers. */
export default defineProvider({
  name: 'qwen',
  wire: 'common',
  connection: {
    env: ['QWEN_API_KEY'],
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    authorize: bearer('QWEN_API_KEY'),
    keyShapes: [{ shape: 'sk-ws-[A-Za-z0-9][A-Za-z0-9._-]{14,}', shownAs: 'QWEN_KEY' }],
  },
  params: {},
  // See docs/reference/ingress.md#what-is-lost.
  chatTraits: { history: { marks: ['texts'] } },
  // See docs/catalog.md#which-entry-is-a-targets.
  names: { catalog: ['qwen', 'dashscope'] },
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { litellm: { names: ['dashscope'] }, portkey: { names: ['dashscope'] } },
  translators: commonTranslators(
    ['chat', 'embeddings'],
    {},
    {
      chat: { adjust },
    },
  ),
  passthrough: true,
  batches: true,
  responses: true,
  discovery: listedModels,
});
