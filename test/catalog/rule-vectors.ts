import type { ModelFacts } from '../../host/contract/index.ts';

/** Facts of a model, of which `undefined` is not known. */
type Said = { readonly [Key in keyof ModelFacts]: ModelFacts[Key] | undefined };

/** A model that a rule speaks of, and what of its facts that rule sets. */
export type Vector = readonly [model: string, facts: Said];

const SIX = ['none', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const FIVE = ['none', 'low', 'medium', 'high', 'xhigh'] as const;
const PENALTIES = ['presence_penalty', 'frequency_penalty'] as const;

/** One vector or more of every shipped rule, by its id: written from the vendors' pages, not from the file. */
export const VECTORS: Readonly<Record<string, readonly Vector[]>> = {
  'openai-family': [
    [
      'openai/gpt-9-unheard-of',
      {
        efforts: SIX,
        chat_tools: 'none_only',
        endpoints: ['chat', 'responses'],
        sampling: 'effort_none',
        refuses: ['stop', 'seed', 'logit_bias', ...PENALTIES],
        ceiling: 'max_completion_tokens',
        phases: true,
        system_role: 'developer',
        summaries: true,
        schema: 'json_schema',
        thoughts_back: 'sealed',
      },
    ],
    ['azure-openai/gpt-9-prod', { efforts: SIX, chat_tools: 'none_only' }],
    ['azure-foundry/o4-next', { summaries: true }],
  ],
  'openai-old': [
    ['openai/gpt-4o-2024-08-06', { efforts: [], chat_tools: 'any', sampling: 'always', system_role: 'system' }],
    ['openai/ft:gpt-4.1-mini-2025-04-14:acme::abc', { refuses: undefined, summaries: undefined, phases: undefined }],
    ['openai/gpt-5-chat-latest', { efforts: [], thoughts_back: undefined }],
    ['azure-openai/gpt-4o', { efforts: [], sampling: 'always' }],
  ],
  'openai-oldest': [
    ['openai/gpt-3.5-turbo-0125', { ceiling: 'max_tokens' }],
    ['openai/gpt-4-turbo-2024-04-09', { ceiling: 'max_tokens' }],
    ['azure-openai/gpt-35-turbo', { ceiling: 'max_tokens' }],
  ],
  'openai-o': [
    ['openai/o3-2025-04-16', { efforts: ['low', 'medium', 'high'], effort_default: 'medium', chat_tools: 'any' }],
    ['openai/o4-mini', { sampling: 'never', phases: false, summaries: true }],
  ],
  'openai-o1': [['openai/o1-2024-12-17', { summaries: false }]],
  'openai-5': [
    ['openai/gpt-5-mini-2025-08-07', { efforts: ['minimal', 'low', 'medium', 'high'], sampling: 'never' }],
    ['openai/GPT-5', { effort_default: 'medium', chat_tools: 'any', phases: false, thinking_off: 'no' }],
  ],
  'openai-5.1': [
    ['openai/gpt-5.1-2025-11-13', { efforts: ['none', 'low', 'medium', 'high'], effort_default: 'none' }],
    ['openai/gpt-5.1', { sampling: 'effort_none', chat_tools: 'any' }],
  ],
  'openai-5.2': [['openai/gpt-5.2', { efforts: FIVE, effort_default: 'none', chat_tools: 'any' }]],
  'openai-5.4': [['openai/gpt-5.4-mini', { efforts: FIVE, effort_default: 'none', chat_tools: 'absent_or_none' }]],
  'openai-5.5': [['openai/gpt-5.5', { efforts: FIVE, chat_tools: 'absent_or_none', phases: true }]],
  'openai-5.6': [
    ['openai/gpt-5.6-sol', { efforts: FIVE, chat_tools: 'none_only', effort_default: undefined }],
    ['azure-foundry/gpt-5.6-luna', { efforts: FIVE, sampling: 'effort_none' }],
  ],
  'openai-6': [['openai/gpt-6-sol', { efforts: SIX, chat_tools: 'none_only' }]],
  'openai-6-astra': [
    ['openai/gpt-6-astra', { efforts: SIX.slice(1), chat_tools: 'never', sampling: 'never', thinking_off: 'no' }],
    ['openai/astra-law-1', { efforts: SIX.slice(1), chat_tools: 'never', system_role: 'developer' }],
  ],
  'openai-responses': [
    ['openai/gpt-5.5-pro', { endpoints: ['responses'] }],
    ['openai/o4-mini-deep-research', { endpoints: ['responses'] }],
    ['openai/computer-use-preview-2025-03-11', { endpoints: ['responses'] }],
  ],
  'openai-codex': [['openai/gpt-5.1-codex-max', { efforts: ['low', 'medium', 'high'], thinking_off: 'no' }]],
  'openai-codex-5.2': [['openai/gpt-5.3-codex', { efforts: ['low', 'medium', 'high', 'xhigh'], phases: true }]],
  'openai-5-pro': [['openai/gpt-5-pro', { efforts: ['high'] }]],
  'openai-pro': [['openai/gpt-5.4-pro-2026-03-05', { efforts: ['medium', 'high', 'xhigh'] }]],
  'openai-chat-latest': [
    ['openai/gpt-5.3-chat-latest', { efforts: ['medium'], sampling: 'never', chat_tools: 'any' }],
    ['openai/chat-latest', { efforts: ['medium'] }],
  ],
  'openai-chat-only': [
    ['openai/gpt-audio-1.5', { efforts: [], endpoints: ['chat'], chat_tools: 'any', refuses: undefined }],
    ['openai/gpt-4o-audio-preview', { endpoints: ['chat'], sampling: 'always' }],
  ],
  'openai-search': [['openai/gpt-5-search-api', { chat_search: true, sampling: 'never', endpoints: ['chat'] }]],
  oss: [
    ['together/openai/gpt-oss-120b', { efforts: ['low', 'medium', 'high'], sampling: 'always', thoughts_back: 'none' }],
    ['azure-foundry/gpt-oss-20b', { chat_tools: 'any', system_role: 'system', phases: undefined, refuses: undefined }],
  ],
  'claude-family': [
    [
      'anthropic/claude-opus-7',
      {
        efforts: SIX.slice(1),
        effort_default: 'high',
        thinking: 'adaptive',
        thinking_off: 'no',
        sampling: 'never',
        forced_tool: 'never',
        prefill: false,
        thoughts_back: 'signed',
        binds_thoughts: true,
        late_system: true,
        max_output: 128_000,
      },
    ],
    ['bedrock/eu.anthropic.claude-fable-5-1-v1:0', { forced_tool: 'never', binds_thoughts: true }],
    ['vertex-ai/publishers/anthropic/models/claude-mythos-5-1@20260901', { thinking_off: 'no' }],
  ],
  'claude-sonnet-5-5': [['anthropic/claude-sonnet-5-5-20260920', { thinking_off: 'between_tools' }]],
  'claude-fable-5': [
    ['anthropic/claude-fable-5', { forced_tool: 'any', binds_thoughts: false }],
    ['bedrock/au.anthropic.claude-fable-5-v1:0', { forced_tool: 'any', binds_thoughts: false }],
    ['vertex-ai/claude-mythos-5@20260801', { forced_tool: 'any' }],
  ],
  'claude-haiku-5-5': [['anthropic/claude-haiku-5-5', { thinking_off: 'up_to:high', thinking_budget: false }]],
  'claude-opus-5': [
    ['anthropic/claude-opus-5-20260701', { thinking_off: 'up_to:high', thinking_budget: true, binds_thoughts: false }],
    ['bedrock/us.anthropic.claude-opus-5', { forced_tool: 'not_thinking' }],
  ],
  'claude-4.7': [
    ['anthropic/claude-opus-4-8', { thinking_off: 'yes', thinking_default: 'off', binds_thoughts: false }],
    ['bedrock/anthropic.claude-sonnet-5-v1:0', { forced_tool: 'not_thinking', sampling: 'never' }],
  ],
  'claude-sonnet-5': [['anthropic/claude-sonnet-5', { thinking_default: 'on' }]],
  'claude-opus-4-7': [['bedrock/jp.anthropic.claude-opus-4-7-v1:0', { late_system: false }]],
  'claude-4.6': [
    [
      'anthropic/claude-sonnet-4-6',
      { efforts: ['low', 'medium', 'high', 'max'], thinking_budget: true, prefill: false },
    ],
    ['vertex-ai/claude-opus-4-6@20260105', { sampling: 'one', late_system: false, thinking: 'adaptive' }],
  ],
  'claude-4': [
    ['anthropic/claude-sonnet-4-5-20250929', { thinking: 'budget', prefill: true, max_output: 64_000, efforts: [] }],
    ['anthropic/claude-opus-4-1', { sampling: 'one', late_system: false, binds_thoughts: false }],
    ['bedrock/anthropic.claude-haiku-4-5-20251001-v1:0', { thinking: 'budget', schema: 'json_schema' }],
  ],
  'claude-4-no-schemas': [
    ['anthropic/claude-opus-4-1-20250805', { schema: 'none' }],
    ['bedrock/anthropic.claude-3-7-sonnet-20250219-v1:0', { schema: 'none' }],
  ],
  'claude-4.0': [
    ['anthropic/claude-sonnet-4-0', { sampling: 'always' }],
    ['anthropic/claude-sonnet-4-20250514', { sampling: 'always' }],
  ],
  'claude-opus-4': [['anthropic/claude-opus-4-1', { max_output: 32_000 }]],
  'claude-opus-4-5': [['anthropic/claude-opus-4-5-20251101', { efforts: ['low', 'medium', 'high'] }]],
  'claude-3': [
    ['anthropic/claude-3-5-haiku-20241022', { thinking: 'none', efforts: [], late_system: false }],
    ['bedrock/anthropic.claude-3-haiku-20240307-v1:0', { max_output: 4096 }],
  ],
  'claude-3-5': [['anthropic/claude-3-5-sonnet-latest', { max_output: 8192 }]],
  'gemini-family': [
    ['gemini/models/gemini-4-argon', { efforts: ['low', 'medium', 'high'], thinking: 'level', thinking_off: 'no' }],
    ['vertex-ai/google/gemini-5-ultra', { effort_default: 'high', thoughts_back: 'signed', schema: 'json_schema' }],
    ['gemini/gemini-3.7-flash', { efforts: ['low', 'medium', 'high'] }],
    ['gemini/gemini-flash-latest', { efforts: ['low', 'medium', 'high'] }],
  ],
  'gemini-4-hydrogen': [['gemini/gemini-4-hydrogen-preview', { efforts: ['low', 'medium', 'high', 'xhigh'] }]],
  'gemini-3-pro': [['gemini/gemini-3-pro-preview', { efforts: ['low', 'high'] }]],
  'gemini-3.1-pro': [['vertex-ai/gemini-3.1-pro-preview', { efforts: ['low', 'medium', 'high'] }]],
  'gemini-flash-3': [
    ['gemini/gemini-3-flash-preview', { efforts: ['minimal', 'low', 'medium', 'high'] }],
    ['gemini/gemini-3.6-flash', { efforts: ['minimal', 'low', 'medium', 'high'] }],
    ['gemini/gemini-3.8-flash-lite', { efforts: ['minimal', 'low', 'medium', 'high'] }],
  ],
  'gemini-flash-unsampled': [
    ['gemini/gemini-3.5-flash-lite', { sampling: 'never' }],
    ['gemini/gemini-3.6-flash', { sampling: 'never' }],
    ['gemini/gemini-4-flash', { sampling: 'never' }],
  ],
  'gemini-2.5-pro': [['gemini/gemini-2.5-pro', { thinking: 'budget', budget: [128, 32_768], efforts: undefined }]],
  'gemini-2.5-flash': [
    [
      'gemini/gemini-2.5-flash-lite',
      { thinking: 'budget', budget: [0, 24_576], thinking_off: 'yes', efforts: undefined },
    ],
  ],
  'gemini-2.5-penalties': [['gemini/gemini-2.5-flash', { refuses: PENALTIES }]],
  'gemini-unthinking': [
    ['gemini/gemini-2.0-flash', { thinking: 'none', efforts: [] }],
    ['gemini/gemini-2.5-flash-image', { thinking: 'none', budget: undefined }],
  ],
  'xai-family': [
    ['xai/grok-4.5', { efforts: ['low', 'medium', 'high'], effort_default: 'high', thinking_off: 'no' }],
    ['xai/grok-latest', { refuses: ['stop', ...PENALTIES, 'logit_bias'], thoughts_back: 'sealed' }],
  ],
  'xai-4.6': [['xai/grok-4.6-latest', { efforts: ['low', 'medium', 'high', 'xhigh'] }]],
  'xai-4.3': [['xai/grok-4.3', { efforts: ['none', 'low', 'medium', 'high'], thinking_off: 'yes' }]],
  'xai-3-mini': [['xai/grok-3-mini-fast', { efforts: ['low', 'high'] }]],
  'xai-none': [
    ['xai/grok-4-0709', { efforts: [] }],
    ['xai/grok-code-fast-1', { efforts: [] }],
  ],
  'xai-old': [['xai/grok-3-fast', { efforts: [], refuses: undefined, thoughts_back: undefined }]],
  'xai-multi': [
    ['xai/grok-4.20-multi-agent', { efforts: ['low', 'medium', 'high', 'xhigh'], endpoints: ['responses'] }],
  ],
  'deepseek-v4': [
    [
      'deepseek/deepseek-v4-pro',
      {
        efforts: ['low', 'high', 'max'],
        effort_default: 'high',
        thinking: 'switch',
        thinking_default: 'on',
        thoughts_back: 'every_turn',
        thoughts_field: 'reasoning_content',
        schema: 'json_object',
      },
    ],
  ],
  'mistral-host': [['mistral/zai-glm-5', { thoughts_back: undefined, thoughts_field: undefined }]],
  mistral: [
    ['mistral/mistral-medium-3.5', { efforts: ['none', 'high'], thoughts_back: 'parts' }],
    ['mistral/magistral-small-2509', { efforts: ['none', 'high'] }],
  ],
  'mistral-large-4': [['mistral/mistral-large-4-0', { efforts: ['low', 'medium', 'high'], thoughts_back: 'parts' }]],
  'mistral-unthinking': [['mistral/codestral-2508', { efforts: [] }]],
  cohere: [['cohere/command-a-reasoning-08-2025', { thinking: 'budget' }]],
  'cohere-old': [['cohere/command-r-plus-08-2024', { thinking: 'none' }]],
  qwen: [
    ['qwen/qwen-plus-latest', { thinking: 'switch', budget: [0, 38_912], thinking_budget: true, efforts: undefined }],
  ],
  'qwen-thinking': [['qwen/qwen3.7-max', { thoughts_back: 'tool_turns', thoughts_field: 'reasoning_content' }]],
  'qwen-always-thinking': [['qwen/qwen3-235b-a22b-thinking-2507', { thinking_off: 'no' }]],
  'qwen-schemas': [['qwen/qwen3.8-flash', { schema: 'json_schema' }]],
  'qwen-unpreserved': [['qwen/qwen3.6-35b-a3b', { thoughts_back: 'none', thoughts_field: 'reasoning_content' }]],
  kimi: [
    ['moonshot/kimi-k2.7-code', { thinking: 'switch', thinking_off: 'no', thoughts_back: 'tool_turns' }],
    ['moonshot/kimi-k2-thinking', { thoughts_field: 'reasoning_content', refuses: undefined }],
  ],
  'kimi-k2.5': [['moonshot/kimi-k2.6', { thinking_off: 'yes' }]],
  'kimi-k3': [['moonshot/kimi-k3', { efforts: ['low', 'high', 'max'], effort_default: 'max', thinking: 'effort' }]],
  'kimi-unsampled': [['moonshot/kimi-k2.5', { refuses: ['temperature', 'top_p', 'n', ...PENALTIES, 'seed'] }]],
  minimax: [['minimax/minimax-m4', { thoughts_back: 'details' }]],
  'minimax-m2': [['minimax/minimax-m2.1', { thinking_off: 'no' }]],
  'minimax-m3': [['minimax/minimax-m3', { thinking: 'switch' }]],
  glm: [['zhipu/glm-5', { thoughts_back: 'none', thoughts_field: 'reasoning_content' }]],
  openrouter: [
    ['openrouter/openai/gpt-5.6', { thoughts_back: 'details', thoughts_field: 'reasoning', efforts: undefined }],
  ],
  groq: [['groq/llama-3.3-70b-versatile', { thoughts_back: 'refused', efforts: undefined }]],
  'groq-qwen': [['groq/qwen/qwen3-32b', { efforts: ['none'] }]],
  'groq-oss': [['groq/openai/gpt-oss-20b', { efforts: ['low', 'medium', 'high'], thoughts_back: 'refused' }]],
  cerebras: [['cerebras/llama-3.3-70b', { thoughts_back: 'none', thoughts_field: 'reasoning', efforts: undefined }]],
  'cerebras-efforts': [['cerebras/zai-glm-4.7', { efforts: ['none', 'low', 'medium', 'high'] }]],
  'cerebras-oss': [['cerebras/gpt-oss-120b', { efforts: ['low', 'medium', 'high'], thoughts_back: 'none' }]],
  'openai-image-1': [['openai/gpt-image-1.5', { image_sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'] }]],
  'openai-image-2': [
    ['azure-openai/gpt-image-2', { image_sizes: { multiple: 16, ratio: ['1:3', '3:1'], most: '3840x2160' } }],
  ],
};
