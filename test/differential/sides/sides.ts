import { createAlibaba } from '@ai-sdk/alibaba';
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAmazonBedrockAnthropic } from '@ai-sdk/amazon-bedrock/anthropic';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createAzure } from '@ai-sdk/azure';
import { createCerebras } from '@ai-sdk/cerebras';
import { createCohere } from '@ai-sdk/cohere';
import { createDeepInfra } from '@ai-sdk/deepinfra';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createFireworks } from '@ai-sdk/fireworks';
import { createGoogle } from '@ai-sdk/google';
import { createGoogleVertexAnthropic } from '@ai-sdk/google-vertex/anthropic';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createMoonshotAI } from '@ai-sdk/moonshotai';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createPerplexity } from '@ai-sdk/perplexity';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createTogetherAI } from '@ai-sdk/togetherai';
import type { Body } from '../generate/request.ts';
import { readAnthropic } from '../meaning/anthropic.ts';
import { readCohere } from '../meaning/cohere.ts';
import { readCommon } from '../meaning/common.ts';
import { readConverse } from '../meaning/converse.ts';
import { readGemini } from '../meaning/gemini.ts';
import type { Fields, Meaning } from '../meaning/meaning.ts';

/** What every package takes to reach a vendor that is somewhere else. */
export interface Reach {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof globalThis.fetch;
}

/** One vendor that two toolkits speak to: this gateway by its provider, the other by its published package. */
export interface Side {
  /** The provider here, and a word for the model's wire where it has several. */
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  /** A version segment the package expects behind the host, as the vendor's own address has it. */
  readonly path: string;
  readonly read: (body: Fields) => Meaning;
  readonly open: (reach: Reach, model: string) => LanguageModelV4;
  /** Under which name the package reads its own options, and what they say. */
  readonly namespace: string;
  readonly options: (body: Body) => Fields;
}

const named = (members: Fields): Fields =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
const nothing = (): Fields => ({});

/** Fields that every package of the common wire hands on under its own name for it. */
const openaiOptions = (body: Body): Fields =>
  named({
    logitBias: body['logit_bias'],
    logprobs: body['top_logprobs'] ?? body['logprobs'],
    parallelToolCalls: body['parallel_tool_calls'],
    user: body['user'],
    store: body['store'],
    metadata: body['metadata'],
    serviceTier: body['service_tier'],
    textVerbosity: body['verbosity'],
    reasoningEffort: body['reasoning_effort'],
  });
/** What has no option of its own there travels by its wire name. */
const compatibleOptions = (body: Body): Fields =>
  named({
    user: body['user'],
    logit_bias: body['logit_bias'],
    logprobs: body['logprobs'] || undefined,
    top_logprobs: body['top_logprobs'],
    parallel_tool_calls: body['parallel_tool_calls'],
    store: body['store'],
    metadata: body['metadata'],
    service_tier: body['service_tier'],
    textVerbosity: body['verbosity'],
    n: body['n'],
    top_k: body['top_k'],
    thinking: body['thinking'],
    web_search_options: body['web_search_options'],
  });
const claudeOptions = (body: Body): Fields =>
  named({
    thinking: body['thinking'] && named({ type: body['thinking'].type, budgetTokens: body['thinking'].budget_tokens }),
    disableParallelToolUse: body['parallel_tool_calls'] === false || undefined,
    metadata: body['user'] && { userId: body['user'] },
  });

const common = { path: '/v1', read: readCommon } as const;
const compatible = (provider: string, model: string, path = '/v1'): Side => ({
  ...common,
  name: provider,
  provider,
  model,
  path,
  namespace: 'vendor',
  options: compatibleOptions,
  open: (reach, id) =>
    createOpenAICompatible({ ...reach, name: 'vendor', includeUsage: true, supportsStructuredOutputs: true })(id),
});

export const SIDES: readonly Side[] = [
  {
    name: 'anthropic',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1',
    read: readAnthropic,
    open: (reach, id) => createAnthropic(reach)(id),
    namespace: 'anthropic',
    options: claudeOptions,
  },
  {
    name: 'anthropic at vertex',
    provider: 'vertex-ai',
    model: 'claude-sonnet-4-5@20250929',
    path: '/v1/projects/p/locations/us-central1/publishers/anthropic/models',
    read: readAnthropic,
    namespace: 'anthropic',
    options: claudeOptions,
    open: (reach, id) =>
      createGoogleVertexAnthropic({
        ...reach,
        project: 'p',
        location: 'us-central1',
        generateAuthToken: async () => reach.apiKey,
      })(id),
  },
  {
    name: 'anthropic at foundry',
    provider: 'azure-foundry',
    model: 'claude-sonnet-4-5',
    path: '/anthropic/v1',
    read: readAnthropic,
    open: (reach, id) => createAnthropic(reach)(id),
    namespace: 'anthropic',
    options: claudeOptions,
  },
  {
    name: 'anthropic 3',
    provider: 'anthropic',
    model: 'claude-3-5-haiku-20241022',
    path: '/v1',
    read: readAnthropic,
    open: (reach, id) => createAnthropic(reach)(id),
    namespace: 'anthropic',
    options: claudeOptions,
  },
  {
    name: 'bedrock claude',
    provider: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    path: '',
    read: readAnthropic,
    namespace: 'anthropic',
    options: claudeOptions,
    open: (reach, id) => createAmazonBedrockAnthropic({ ...reach, region: 'us-east-1' })(id),
  },
  {
    name: 'bedrock nova',
    provider: 'bedrock',
    model: 'us.amazon.nova-pro-v1:0',
    path: '',
    read: readConverse,
    namespace: 'bedrock',
    options: nothing,
    open: (reach, id) => createAmazonBedrock({ ...reach, region: 'us-east-1' })(id),
  },
  {
    name: 'bedrock converse',
    provider: 'bedrock',
    model: 'mistral.mistral-large-2407-v1:0',
    path: '',
    read: readConverse,
    namespace: 'bedrock',
    options: nothing,
    open: (reach, id) => createAmazonBedrock({ ...reach, region: 'us-east-1' })(id),
  },
  {
    name: 'gemini 2.5',
    provider: 'gemini',
    model: 'gemini-2.5-flash',
    path: '/v1beta',
    read: readGemini,
    namespace: 'google',
    options: geminiOptions,
    open: (reach, id) => createGoogle(reach)(id),
  },
  {
    name: 'gemini 3',
    provider: 'gemini',
    model: 'gemini-3-pro-preview',
    path: '/v1beta',
    read: readGemini,
    namespace: 'google',
    options: geminiOptions,
    open: (reach, id) => createGoogle(reach)(id),
  },
  {
    ...common,
    name: 'mistral',
    provider: 'mistral',
    model: 'mistral-small-latest',
    namespace: 'mistral',
    open: (reach, id) => createMistral(reach).chat(id),
    options: (body) =>
      named({
        parallelToolCalls: body['parallel_tool_calls'],
        strictJsonSchema: body['response_format']?.json_schema?.strict,
      }),
  },
  {
    name: 'cohere',
    provider: 'cohere',
    model: 'command-a-reasoning-08-2025',
    path: '/v2',
    read: readCohere,
    namespace: 'cohere',
    open: (reach, id) => createCohere(reach)(id),
    options: (body) =>
      named({
        thinking:
          body['thinking'] && named({ type: body['thinking'].type, tokenBudget: body['thinking'].budget_tokens }),
      }),
  },
  {
    ...common,
    name: 'openai',
    provider: 'openai',
    model: 'gpt-4.1-mini',
    namespace: 'openai',
    options: openaiOptions,
    open: (reach, id) => createOpenAI(reach).chat(id),
  },
  {
    ...common,
    name: 'azure-openai',
    provider: 'azure-openai',
    model: 'gpt-4.1-mini',
    path: '/openai',
    namespace: 'azure',
    options: openaiOptions,
    open: (reach, id) => createAzure({ ...reach, apiVersion: '2024-10-21', useDeploymentBasedUrls: true }).chat(id),
  },
  {
    ...common,
    name: 'groq',
    provider: 'groq',
    model: 'llama-3.3-70b-versatile',
    namespace: 'groq',
    open: (reach, id) => createGroq(reach)(id),
    options: groqOptions,
  },
  {
    ...common,
    name: 'deepseek',
    provider: 'deepseek',
    model: 'deepseek-chat',
    namespace: 'deepseek',
    open: (reach, id) => createDeepSeek(reach).chat(id),
    options: (body) =>
      named({
        logprobs: body['logprobs'] || undefined,
        topLogprobs: body['top_logprobs'],
        userId: body['user'],
        thinking: body['thinking'] && { type: body['thinking'].type },
      }),
  },
  {
    ...common,
    name: 'perplexity',
    provider: 'perplexity',
    model: 'sonar-pro',
    path: '',
    namespace: 'perplexity',
    options: nothing,
    open: (reach, id) => createPerplexity(reach)(id),
  },
  {
    ...common,
    name: 'cerebras',
    provider: 'cerebras',
    model: 'gpt-oss-120b',
    namespace: 'cerebras',
    options: cerebrasOptions,
    open: (reach, id) => createCerebras(reach)(id),
  },
  {
    ...common,
    name: 'deepinfra',
    provider: 'deepinfra',
    model: 'deepseek-ai/DeepSeek-V3',
    namespace: 'deepinfra',
    options: compatibleOptions,
    open: (reach, id) => createDeepInfra(reach)(id),
  },
  {
    ...common,
    name: 'together',
    provider: 'together',
    model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    namespace: 'togetherai',
    options: compatibleOptions,
    open: (reach, id) => createTogetherAI(reach)(id),
  },
  {
    ...common,
    name: 'fireworks',
    provider: 'fireworks',
    model: 'accounts/fireworks/models/llama-v3p1-8b-instruct',
    namespace: 'fireworks',
    options: compatibleOptions,
    open: (reach, id) => createFireworks(reach)(id),
  },
  {
    ...common,
    name: 'moonshot',
    provider: 'moonshot',
    model: 'kimi-k2.5',
    namespace: 'moonshotai',
    options: compatibleOptions,
    open: (reach, id) => createMoonshotAI(reach)(id),
  },
  {
    ...common,
    name: 'qwen',
    provider: 'qwen',
    model: 'qwen-plus',
    namespace: 'alibaba',
    open: (reach, id) => createAlibaba(reach)(id),
    options: (body) => named({ parallelToolCalls: body['parallel_tool_calls'] }),
  },
  compatible('xai', 'grok-4'),
  compatible('ai21', 'jamba-mini-1.7'),
  compatible('azure-foundry', 'gpt-4.1-mini', '/openai/v1'),
  compatible('cloudflare', '@cf/meta/llama-3.1-8b-instruct'),
  compatible('databricks', 'databricks-claude-sonnet-4-5', '/serving-endpoints'),
  compatible('hugging-face', 'meta-llama/Llama-3.3-70B-Instruct'),
  compatible('novita', 'deepseek/deepseek-v3.2'),
  compatible('nvidia-nim', 'meta/llama-3.1-8b-instruct'),
  compatible('ollama', 'llama3.2'),
  compatible('ollama-cloud', 'gpt-oss:120b'),
  compatible('openrouter', 'openai/gpt-4.1-mini'),
  compatible('sambanova', 'Meta-Llama-3.3-70B-Instruct'),
  compatible('vertex-ai', 'gemini-2.5-flash', '/v1/projects/p/locations/us-central1/endpoints/openapi'),
];

function geminiOptions(body: Body): Fields {
  const { thinking } = body;
  const budget = thinking && {
    thinkingBudget: thinking.type === 'disabled' ? 0 : thinking.budget_tokens,
    includeThoughts: thinking.type !== 'disabled',
  };
  return named({ thinkingConfig: budget });
}

function groqOptions(body: Body): Fields {
  return named({
    parallelToolCalls: body['parallel_tool_calls'],
    user: body['user'],
    reasoningEffort: body['reasoning_effort'],
    serviceTier: body['service_tier'] === 'auto' ? 'auto' : undefined,
  });
}

function cerebrasOptions(body: Body): Fields {
  const effort = body['reasoning_effort'];
  return named({
    user: body['user'],
    parallelToolCalls: body['parallel_tool_calls'],
    logprobs: body['logprobs'] || undefined,
    topLogprobs: body['top_logprobs'],
    logitBias: body['logit_bias'],
    serviceTier: body['service_tier'],
    reasoningEffort: ['none', 'low', 'medium', 'high'].includes(effort) ? effort : undefined,
  });
}
