import { bearer, type CallInfo, defineProvider, type ModelFacts, NO_FACTS } from 'gw/contract';
import {
  type ChatBody,
  commonTranslators,
  type Fields,
  listedModels,
  type Notes,
  translateWebSearch,
} from 'gw/common-wire';
import { boundedBudget, EFFORT_BUDGETS } from '../_common/model-limits.ts';

/** A switch, without a place and a size. Source: Alibaba Cloud Model Studio, "OpenAI compatible - Chat", `enable_search`, 2026-11-22. */
const search = (): Fields => ({ enable_search: true });

function adjust(body: ChatBody, notes: Notes, { facts = NO_FACTS }: CallInfo): ChatBody {
  const asked = withSwitch(body, notes, facts);
  return translateWebSearch(preserved(asked, facts), notes, search, ['contextSize', 'location']);
}

/**
 * Thinking is switched by a field of its own, with a budget of tokens where others have efforts. Sources: Alibaba Cloud Model
 * Studio, "Deep thinking", `enable_thinking` and `thinking_budget`, 2026-11-22; @ai-sdk/alibaba 2.0.58.
 */
function withSwitch(
  body: ChatBody,
  notes: Notes,
  { thinking, thinking_budget: hasBudget, budget }: ModelFacts,
): ChatBody {
  const { reasoning_effort: effort, ...rest } = body;
  if (effort === 'none') return { ...rest, enable_thinking: false };
  const tokens = EFFORT_BUDGETS.get(effort);
  if (thinking !== 'switch' || tokens === undefined) return body;
  notes.bounded.push('reasoning_effort');
  const own = hasBudget === true && budget ? { thinking_budget: boundedBudget(tokens, budget) } : {};
  return { enable_thinking: true, ...own, ...rest };
}

/** Some models read thoughts of earlier turns only where a switch says so. Source: @ai-sdk/alibaba 2.0.58, 2026-11-26. */
function preserved(body: ChatBody, { thoughts_back: back }: ModelFacts): ChatBody {
  const hasThoughts = body.messages.some(
    ({ role, reasoning_content: text }) => role === 'assistant' && typeof text === 'string' && text !== '',
  );
  if (!hasThoughts || 'preserve_thinking' in body || body['enable_thinking'] === false) return body;
  return back === 'tool_turns' ? { ...body, preserve_thinking: true } : body;
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
