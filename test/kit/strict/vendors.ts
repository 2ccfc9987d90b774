import type { Dialect } from './common.ts';
import { listOf, oneOf, open, orNull, text, whole, within } from './schema.ts';

const OWN_THOUGHTS = ['reasoning_content', 'reasoning_details'];

/**
 * Every vendor of the common wire, with what it refuses that others take. Unknown fields pass where the vendor reads past
 * them, and where this gateway lets newer fields of the format through by design: what a client invents is the vendor's to judge.
 */
export const VENDORS: Readonly<Record<string, Dialect>> = {
  ai21: {},
  /** Source: Azure OpenAI REST API reference, data plane inference 2024-10-21, 2026-11-22. */
  'azure-foundry': { roles: ['developer'] },
  'azure-openai': { roles: ['developer'] },
  /** Source: @cerebras/cerebras_cloud_sdk 1.91.0, `ChatCompletionCreateParamsBase`; QwenLM/qwen-code issue 11045; 2026-11-22. */
  cerebras: { roles: ['developer'], refused: ['reasoning', 'enable_thinking'], refusedInMessages: OWN_THOUGHTS },
  cloudflare: {},
  databricks: {},
  deepinfra: {},
  /** Source: DeepSeek API docs, "Create chat completion" and "Thinking mode", 2026-11-22: no schema of answers, `user_id`, and no developer. */
  deepseek: {
    refused: ['user'],
    formats: ['text', 'json_object'],
    fields: {
      reasoning_effort: oneOf('minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'),
      thinking: open({ type: oneOf('enabled', 'disabled', 'adaptive') }),
    },
  },
  fireworks: {},
  /** Source: groq-sdk 1.6.0, `ChatCompletionCreateParamsBase`; Groq documentation, "OpenAI compatibility"; janhq/jan issue 8136; 2026-11-22. */
  groq: {
    roles: ['developer'],
    refused: ['logprobs', 'top_logprobs', 'logit_bias'],
    refusedInMessages: ['name', 'reasoning', ...OWN_THOUGHTS],
  },
  'hugging-face': {},
  /** Source: Moonshot AI platform documentation, "Chat", 2026-11-22. */
  moonshot: {},
  novita: {},
  'nvidia-nim': {},
  ollama: {},
  'ollama-cloud': {},
  /** Source: openai 7.55.0, `ChatCompletionCreateParamsBase`, 2026-11-22. */
  openai: { roles: ['developer', 'function'] },
  openrouter: { roles: ['developer'] },
  /** Source: @perplexity-ai/perplexity_ai 0.38.5, `ApiChatCompletionsRequestInput`, `ChatMessageInputInput`, 2026-11-22. */
  perplexity: {
    formats: ['text', 'json_schema', 'regex'],
    refusedParts: ['file'],
    fields: {
      tool_choice: oneOf('none', 'auto', 'required'),
      reasoning_effort: oneOf('minimal', 'low', 'medium', 'high'),
      response_format: orNull(
        open({ type: oneOf('text', 'json_schema', 'regex') }, { json_schema: open({ schema: { type: 'object' } }) }),
      ),
    },
  },
  qwen: {},
  sambanova: {},
  /** Source: together-ai 0.52.0, `CompletionCreateParamsBase`, 2026-11-22: a count of log probabilities. */
  together: { refused: ['top_logprobs'], fields: { logprobs: orNull(whole(0)) } },
  /** Source: Vertex AI documentation, "Chat completions API", 2026-11-22. */
  'vertex-ai': {},
  /** Source: xAI API reference, "Chat completions": reasoning models refuse penalties and stop sequences; 2026-11-22. */
  xai: {},
};

/** Sources: AI21, "Complete" of the J2 models; Replicate HTTP API reference, "Create a prediction", and the input schema of `meta/meta-llama-3.1-405b-instruct`; 2026-11-22. */
export const COMPLETION = open(
  { prompt: text },
  { maxTokens: whole(0), temperature: within(0, 1), topP: within(0, 1), stopSequences: listOf(text) },
);
export const PREDICTION = {
  type: 'object',
  required: ['input'],
  additionalProperties: false,
  properties: {
    version: text,
    stream: { type: 'boolean' },
    webhook: text,
    input: open(
      { prompt: text },
      {
        max_tokens: whole(1),
        temperature: within(0, 5),
        top_p: within(0, 1),
        top_k: whole(0),
        seed: whole(),
        stop_sequences: text,
        presence_penalty: { type: 'number' },
        frequency_penalty: { type: 'number' },
      },
    ),
  },
};
