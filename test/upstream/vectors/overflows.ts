import { claude, google, openai, openrouter, XAI_LENGTH_BODY, type FaultVector } from './vector.ts';

export const OVERFLOWS: readonly FaultVector[] = [
  {
    id: 'E1',
    vendor: 'openai',
    status: 400,
    body: openai(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens. Please reduce the length of the messages.",
      'context_length_exceeded',
      'invalid_request_error',
      'messages',
    ),
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 128_000 },
  },
  {
    id: 'E2',
    vendor: 'openai, responses',
    status: 400,
    body: openai(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'context_length_exceeded',
      'invalid_request_error',
      'input',
    ),
    reason: 'context_length',
  },
  {
    id: 'E2',
    vendor: 'groq',
    status: 400,
    body: openai(
      'Please reduce the length of the messages or completion.',
      'context_length_exceeded',
      'invalid_request_error',
      'messages',
    ),
    reason: 'context_length',
  },
  {
    id: 'E3',
    vendor: 'deepseek',
    status: 400,
    body: openai(
      "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (139000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      'invalid_request_error',
    ),
    reason: 'context_length',
    tokens: { asked: 140_000, limit: 131_072 },
  },
  {
    id: 'E3',
    vendor: 'nvidia-nim',
    status: 400,
    body: {
      object: 'error',
      message:
        "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (139000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    reason: 'context_length',
    tokens: { asked: 140_000, limit: 131_072 },
  },
  {
    id: 'E3',
    vendor: 'vllm',
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (139000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
        type: 'Bad Request',
        param: null,
        code: 400,
      },
    },
    reason: 'context_length',
    tokens: { asked: 140_000, limit: 131_072 },
  },
  {
    id: 'E4',
    vendor: 'vllm',
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=262145)",
        type: 'BadRequestError',
        param: 'input_tokens',
        code: 400,
      },
    },
    reason: 'context_length',
    tokens: { asked: 262_145, limit: 262_144 },
  },
  {
    id: 'E5',
    vendor: 'mistral',
    status: 400,
    body: {
      object: 'error',
      message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_invalid_args',
      param: null,
      code: '3051',
    },
    reason: 'context_length',
    tokens: { asked: 40_000, limit: 32_768 },
  },
  {
    id: 'E5',
    vendor: 'openrouter',
    status: 400,
    body: openrouter(
      400,
      'This endpoint\'s maximum context length is 65536 tokens. However, you requested about 70000 tokens (69000 of text input, 1000 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
      { provider_name: null },
    ),
    reason: 'context_length',
    tokens: { asked: 70_000, limit: 65_536 },
  },
  {
    id: 'E6',
    vendor: 'xai',
    status: 400,
    body: XAI_LENGTH_BODY,
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 131_072 },
  },
  {
    id: 'E6',
    vendor: 'moonshot',
    status: 400,
    body: {
      error: {
        message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)',
        type: 'invalid_request_error',
      },
    },
    reason: 'context_length',
    tokens: { asked: 269_030, limit: 262_144 },
  },
  {
    id: 'E7',
    vendor: 'groq',
    status: 413,
    body: openai(
      'Request too large for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
      'rate_limit_exceeded',
      'tokens',
    ),
    reason: 'context_length',
    tokens: { asked: 9000, limit: 6000 },
  },
  {
    id: 'E9',
    vendor: 'together',
    status: 422,
    body: {
      id: 'nz4-1',
      error: {
        message:
          'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
    reason: 'context_length',
    tokens: { asked: 9512, limit: 8193 },
  },
  {
    id: 'E9',
    vendor: 'fireworks',
    status: 400,
    body: {
      error: {
        object: 'error',
        type: 'invalid_request_error',
        code: 'invalid_request_error',
        message: 'The prompt is too long: 150000, model maximum context length: 131071',
      },
    },
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 131_071 },
  },
  {
    id: 'E10',
    vendor: 'sglang, ollama',
    status: 400,
    body: {
      object: 'error',
      message: "The input (150000 tokens) is longer than the model's context length (131072 tokens).",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 131_072 },
  },
  {
    id: 'E10',
    vendor: 'llama.cpp',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 66_202,
        n_ctx: 65_536,
      },
    },
    reason: 'context_length',
    tokens: { asked: 66_202, limit: 65_536 },
  },
  {
    id: 'E11',
    vendor: 'poolside, tgi',
    status: 400,
    body: { error: { message: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.' } },
    reason: 'context_length',
    tokens: { asked: 131_393, limit: 131_040 },
  },
  {
    id: 'E11',
    vendor: 'cohere',
    module: 'cohere',
    status: 400,
    body: {
      id: '2a1',
      message:
        'too many tokens: total number of tokens in the prompt cannot exceed 256000 - received 300000. Try using a shorter prompt, or enabling prompt truncating.',
    },
    reason: 'context_length',
    tokens: { asked: 300_000, limit: 256_000 },
  },
  ...['gemini', 'vertex-ai'].map((module): FaultVector => ({
    id: 'E12',
    vendor: module,
    module,
    status: 400,
    body: google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    reason: 'context_length',
    tokens: { asked: 1_200_000, limit: 1_048_576 },
  })),
  {
    id: 'E13',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 400,
    body: claude('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    reason: 'context_length',
    tokens: { asked: 210_000, limit: 200_000 },
  },
  {
    id: 'E13',
    vendor: 'bedrock, claude',
    module: 'bedrock',
    status: 400,
    headers: { 'x-amzn-errortype': 'ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/' },
    body: {
      message:
        'input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000, decrease input length or `max_tokens` and try again',
    },
    reason: 'context_length',
    tokens: { asked: 204_684, limit: 200_000 },
  },
  {
    id: 'E14',
    vendor: 'qwen',
    status: 400,
    body: openai(
      '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
      'invalid_parameter_error',
    ),
    reason: 'context_length',
    tokens: { limit: 129_024 },
  },
  {
    id: 'E14',
    vendor: 'novita',
    status: 400,
    body: {
      code: 400,
      reason: 'INVALID_REQUEST_BODY',
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens. Please reduce the length of the messages.",
      metadata: {},
    },
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 128_000 },
  },
  {
    id: 'E14',
    vendor: 'sambanova',
    status: 400,
    body: {
      error: {
        code: null,
        message:
          'The maximum context length of DeepSeek-V3-0324 is 32768. However, answering your request will take 39732 tokens. Please reduce the length of the messages or the specified max_completion_tokens value.',
        param: null,
        type: 'Error',
      },
      request_id: '1f',
    },
    reason: 'context_length',
    tokens: { asked: 39_732, limit: 32_768 },
  },
  {
    id: 'E14',
    vendor: 'zhipu',
    status: 400,
    body: { error: { code: '1261', message: 'Prompt 超长' } },
    reason: 'context_length',
  },
];
