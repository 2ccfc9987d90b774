import type { FaultReason, FaultTokens } from '../../host/contract/index.ts';

/**
 * What vendors answer, whole. Sources: developers.openai.com "Error codes"; platform.claude.com "Errors"; api-docs.deepseek.com
 * "Error Codes"; openrouter.ai "Errors and Debugging"; ai.google.dev "Troubleshooting"; docs.aws.amazon.com, Bedrock "Troubleshooting API
 * error codes"; answers that callers print on GitHub (named where the shape is rare), 2026-11-26.
 */
export interface FaultVector {
  readonly id: string;
  readonly vendor: string;
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A shipped provider that reads the row with its own `toFault`; the host's reading alone unless said. */
  readonly module?: string;
  readonly reason: FaultReason | undefined;
  readonly tokens?: FaultTokens;
  /** Another request may still be paid for. */
  readonly ofRequest?: boolean;
  /** The message that is found, where it does not stand in the body as it is. */
  readonly message?: string;
  /** What the body alone tells inside an answer, where that is not the same: the status or a header says the rest. */
  readonly inside?: FaultReason | 'none';
}

const openai = (
  message: string,
  code: string | null,
  type = 'invalid_request_error',
  param: string | null = null,
): object => ({
  error: { message, type, param, code },
});
const claude = (type: string, message: string, more: object = {}): object => ({
  type: 'error',
  error: { type, message, ...more },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
const google = (code: number, status: string, message: string, details: readonly object[] = []): object => ({
  error: { code, message, status, ...(details.length > 0 && { details }) },
});
const errorInfo = (reason: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
});
const openrouter = (code: number, message: string, metadata?: object): object => ({
  error: { message, code, ...(metadata && { metadata }) },
  user_id: 'user_2aB',
});

const XAI_LENGTH = "This model's maximum prompt length is 131072 but the request contains 150000 tokens.";
const XAI_LENGTH_BODY = { code: 'Client specified an invalid argument', error: XAI_LENGTH };
const MOONSHOT_RATE = {
  error: {
    message: 'Your account org-1<ak-1> request reached organization max RPM: 20, please try again after 1 seconds',
    type: 'rate_limit_reached_error',
  },
};

const OVERFLOWS: readonly FaultVector[] = [
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

const RATES: readonly FaultVector[] = [
  {
    id: 'E8',
    vendor: 'openai',
    status: 429,
    body: openai(
      'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 35000. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
      'rate_limit_exceeded',
      'tokens',
    ),
    reason: 'over_rate',
  },
  ...[400, 429].map((status): FaultVector => ({
    id: 'E15',
    vendor: 'bedrock',
    module: 'bedrock',
    status,
    headers: { 'x-amzn-errortype': 'ThrottlingException' },
    body: { message: 'Too many tokens, please wait before trying again.' },
    reason: undefined,
  })),
  ...[400, 429].map((status): FaultVector => ({
    id: 'E15',
    vendor: 'any',
    status,
    body: { error: { message: 'This request exceeds the limit of 30000 tokens per minute' } },
    reason: undefined,
  })),
  {
    id: 'E15',
    vendor: 'any, in the words of an overflow',
    status: 400,
    body: {
      error: { message: 'Rate limit: this request exceeds the context window of 30000 tokens per minute, please wait' },
    },
    reason: undefined,
  },
];

const CONTENT: readonly FaultVector[] = [
  ...[
    'content_policy_violation',
    'moderation_blocked',
    'content_filter',
    'cyber_policy',
    'bio_policy',
    'misalignment_policy_violation',
    'image_content_policy_violation',
  ].map((code): FaultVector => ({
    id: 'P1',
    vendor: 'openai',
    status: 400,
    body: openai('Your request was rejected by the safety system.', code, 'image_generation_user_error'),
    reason: 'content_policy',
  })),
  {
    id: 'P2',
    vendor: 'openai',
    status: 400,
    body: openai(
      "Invalid prompt: we've limited access to this content for safety reasons. This type of information may be used to benefit or to harm people.",
      'invalid_prompt',
    ),
    reason: 'content_policy',
  },
  {
    id: 'P2',
    vendor: 'openai',
    status: 400,
    body: openai(
      'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.',
      'invalid_prompt',
    ),
    reason: 'content_policy',
  },
  {
    id: 'P2',
    vendor: 'openai, of the request',
    status: 400,
    body: openai(
      "Invalid schema for function 'f': None is not of type 'object'.",
      'invalid_prompt',
      'invalid_request_error',
      'tools[0]',
    ),
    reason: undefined,
  },
  {
    id: 'P3',
    vendor: 'azure-openai',
    module: 'azure-openai',
    status: 400,
    body: {
      error: {
        message: 'The prompt was flagged. Please modify it and retry.',
        type: null,
        param: 'prompt',
        code: 'BadRequest',
        status: 400,
        innererror: {
          code: 'ResponsibleAIPolicyViolation',
          content_filter_result: { hate: { filtered: true, severity: 'high' } },
        },
      },
    },
    reason: 'content_policy',
  },
  {
    id: 'P3',
    vendor: 'deepseek',
    status: 400,
    body: openai('Content Exists Risk', 'invalid_request_error'),
    reason: 'content_policy',
  },
  {
    id: 'P3',
    vendor: 'qwen',
    status: 400,
    body: {
      error: {
        code: 'data_inspection_failed',
        param: null,
        message: 'Input data may contain inappropriate content.',
        type: 'data_inspection_failed',
      },
      id: 'chatcmpl-1',
    },
    reason: 'content_policy',
  },
  {
    id: 'P4',
    vendor: 'moonshot',
    status: 400,
    body: {
      error: { message: 'The request was rejected because it was considered high risk', type: 'content_filter' },
    },
    reason: 'content_policy',
  },
  {
    id: 'P4',
    vendor: 'mimo',
    status: 400,
    body: {
      error: { code: '421', message: 'Moderation Block', param: 'considered high risk', type: 'content_filter' },
    },
    reason: 'content_policy',
  },
  {
    id: 'P5',
    vendor: 'xai',
    status: 403,
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error:
        'Content violates usage guidelines. Team: t-1, API key ID: k-1, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO',
    },
    reason: 'content_policy',
  },
  {
    id: 'P5',
    vendor: 'openrouter',
    status: 403,
    body: openrouter(
      403,
      'OpenAI/gpt-4o requires moderation and your input was flagged for "violence". No credits were charged.',
      { reasons: ['violence'], flagged_input: 'how to…', provider_name: 'OpenAI', model_slug: 'openai/gpt-4o' },
    ),
    reason: 'content_policy',
  },
  {
    id: 'P5',
    vendor: 'openrouter, by its list alone',
    status: 403,
    body: openrouter(403, 'Forbidden', { reasons: ['violence'] }),
    reason: 'content_policy',
  },
  {
    id: 'P6',
    vendor: 'pollinations',
    status: 422,
    body: {
      status: 422,
      success: false,
      error: { code: 'content_policy_violation', message: 'The prompt was declined.', timestamp: '2026-11-01' },
    },
    reason: 'content_policy',
  },
  {
    id: 'P6',
    vendor: 'any',
    status: 451,
    body: { error: { message: 'Unavailable here.' } },
    reason: 'content_policy',
    inside: 'none',
  },
];

const BILLING: readonly FaultVector[] = [
  {
    id: 'B1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 400,
    body: claude(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    reason: 'billing',
  },
  {
    id: 'B1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 402,
    body: claude('billing_error', 'There is an issue with your billing or payment information.'),
    reason: 'billing',
  },
  {
    id: 'B1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 429,
    body: claude('rate_limit_error', 'This workspace has reached its spend limit.', {
      details: { error_code: 'enforced_spend_limit_reached' },
    }),
    reason: 'billing',
  },
  ...(
    [
      [429, 'insufficient_quota', 'You exceeded your current quota, please check your plan and billing details.'],
      [400, 'billing_hard_limit_reached', 'Billing hard limit has been reached'],
      [429, 'credit_balance_exhausted', 'Your prepaid credits are used up.'],
      [403, 'billing_not_active', 'Your account is not active, please check your billing details on our website.'],
    ] as const
  ).map(([status, code, message]): FaultVector => ({
    id: 'B2',
    vendor: 'openai',
    status,
    body: openai(message, code, code),
    reason: 'billing',
  })),
  {
    id: 'B2',
    vendor: 'deepseek',
    status: 402,
    body: openai('Insufficient Balance', 'invalid_request_error', 'unknown_error'),
    reason: 'billing',
  },
  {
    id: 'B2',
    vendor: 'qwen',
    status: 400,
    body: {
      error: {
        message:
          'Access denied, please make sure your account is in good standing. For details, see: https://help.example',
        type: 'Arrearage',
        param: null,
        code: 'Arrearage',
      },
      request_id: '4f',
    },
    reason: 'billing',
  },
  ...[400, 403].map((status): FaultVector => ({
    id: 'B2',
    vendor: 'google',
    module: 'vertex-ai',
    status,
    body: google(
      status,
      status === 400 ? 'FAILED_PRECONDITION' : 'PERMISSION_DENIED',
      'This API method requires billing to be enabled. Please enable billing on project #1.',
      [errorInfo('BILLING_DISABLED')],
    ),
    reason: 'billing',
  })),
  ...[429, 403].map((status): FaultVector => ({
    id: 'B3',
    vendor: 'moonshot',
    status,
    body: {
      error: {
        message:
          'Your account org-1<ak-1> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
        type: 'exceeded_current_quota_error',
      },
    },
    reason: 'billing',
  })),
  {
    id: 'B3',
    vendor: 'openrouter',
    status: 403,
    body: openrouter(403, 'Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys'),
    reason: 'billing',
  },
  {
    id: 'B3',
    vendor: 'openrouter',
    status: 402,
    body: openrouter(
      402,
      'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3199.',
    ),
    reason: 'billing',
    ofRequest: true,
  },
  {
    id: 'B3',
    vendor: 'openrouter',
    status: 402,
    body: openrouter(
      402,
      'Prompt tokens limit exceeded: 230799 > 91442. To increase, visit https://openrouter.ai/settings/credits',
    ),
    reason: 'billing',
    ofRequest: true,
  },
  ...[429, 403].map((status): FaultVector => ({
    id: 'B4',
    vendor: 'xai',
    status,
    body: {
      code: 'Some resource has been exhausted',
      error:
        'Your team t-1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits.',
    },
    reason: 'billing',
  })),
  {
    id: 'B4',
    vendor: 'gemini',
    module: 'gemini',
    status: 429,
    body: google(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-3-pro',
    ),
    reason: 'billing',
  },
  {
    id: 'B4',
    vendor: 'gemini, a rate',
    module: 'gemini',
    status: 429,
    body: google(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20',
      [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12.5s' }],
    ),
    reason: undefined,
  },
];

const LOADS: readonly FaultVector[] = [
  {
    id: 'O1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 529,
    body: claude('overloaded_error', 'Overloaded'),
    reason: 'overload',
  },
  {
    id: 'O1',
    vendor: 'gemini',
    module: 'gemini',
    status: 503,
    body: google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    reason: 'overload',
  },
  {
    id: 'O1',
    vendor: 'gemini',
    module: 'gemini',
    status: 429,
    body: google(429, 'RESOURCE_EXHAUSTED', 'No capacity available for model gemini-3-pro on the server', [
      errorInfo('MODEL_CAPACITY_EXHAUSTED'),
    ]),
    reason: 'overload',
  },
  {
    id: 'O1',
    vendor: 'mistral',
    status: 429,
    body: {
      object: 'error',
      message: 'Service tier capacity exceeded for this model.',
      type: 'service_tier_capacity_exceeded',
      param: null,
      code: '3505',
    },
    reason: 'overload',
  },
  ...['server_is_overloaded', 'slow_down'].map((code): FaultVector => ({
    id: 'O1',
    vendor: 'openai',
    status: 503,
    body: openai('Our servers are currently overloaded. Please try again later.', code, 'service_unavailable_error'),
    reason: 'overload',
  })),
  {
    id: 'O1',
    vendor: 'xai',
    status: 503,
    body: { code: 'The service is currently unavailable', error: 'The service is currently unavailable' },
    reason: 'overload',
  },
];

const ACCESS: readonly FaultVector[] = [
  ...[401, 403].map((status): FaultVector => ({
    id: 'M1',
    vendor: 'openai',
    status,
    body: openai('You have insufficient permissions for this operation. Missing scopes: model.request.', null),
    reason: 'model_access',
  })),
  {
    id: 'M1',
    vendor: 'openai',
    status: 403,
    body: openai('Project `proj_1` does not have access to model `gpt-6-sol`', 'model_not_found'),
    reason: 'model_access',
  },
  {
    id: 'M1',
    vendor: 'openai',
    status: 404,
    body: openai('The model `gpt-6-sol` does not exist or you do not have access to it.', 'model_not_found'),
    reason: 'model_access',
  },
  {
    id: 'M1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 404,
    body: claude('not_found_error', 'model: claude-fable-5'),
    reason: 'model_access',
    inside: 'none',
  },
  {
    id: 'M1',
    vendor: 'bedrock',
    module: 'bedrock',
    status: 403,
    headers: { 'x-amzn-errortype': 'AccessDeniedException' },
    body: { message: "You don't have access to the model with the specified model ID." },
    reason: 'model_access',
  },
  {
    id: 'M1',
    vendor: 'openai, of a country',
    status: 403,
    body: openai(
      'Country, region, or territory not supported',
      'unsupported_country_region_territory',
      'request_forbidden',
    ),
    reason: 'key',
  },
  ...(
    [
      ['UnrecognizedClientException', 'The security token included in the request is invalid.'],
      ['InvalidSignatureException', 'The request signature we calculated does not match the signature you provided.'],
      ['ExpiredTokenException', 'The security token included in the request is expired'],
      ['IncompleteSignature', 'The request signature does not conform to AWS standards.'],
    ] as const
  ).map(([name, message]): FaultVector => ({
    id: 'K1',
    vendor: 'bedrock',
    module: 'bedrock',
    status: 403,
    headers: { 'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/` },
    body: { message },
    reason: 'key',
    inside: 'none',
  })),
  {
    id: 'K1',
    vendor: 'gemini',
    module: 'gemini',
    status: 400,
    body: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      errorInfo('API_KEY_INVALID'),
    ]),
    reason: 'key',
  },
  {
    id: 'L1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 413,
    body: claude('request_too_large', 'Request exceeds the maximum size'),
    reason: 'too_large',
  },
  {
    id: 'L1',
    vendor: 'anthropic, its edge',
    module: 'anthropic',
    status: 413,
    body: '<html><head><title>413 Payload Too Large</title></head><body>cloudflare</body></html>',
    reason: 'too_large',
    message: 'Payload Too Large',
    inside: 'none',
  },
];

const WRAPPED: readonly FaultVector[] = [
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 400,
    body: openrouter(400, 'Provider returned error', { raw: JSON.stringify(XAI_LENGTH_BODY), provider_name: 'xAI' }),
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 131_072 },
    message: XAI_LENGTH,
  },
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 502,
    body: openrouter(502, 'Provider returned error', { raw: JSON.stringify(XAI_LENGTH_BODY), provider_name: 'xAI' }),
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 131_072 },
    message: XAI_LENGTH,
  },
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 429,
    body: openrouter(429, 'Provider returned error', {
      raw: JSON.stringify(MOONSHOT_RATE),
      provider_name: 'Moonshot AI',
    }),
    reason: undefined,
    message: MOONSHOT_RATE.error.message,
  },
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 502,
    body: openrouter(502, 'Provider returned error', { raw: 'upstream connect error', provider_name: 'Parasail' }),
    reason: undefined,
    message: 'upstream connect error',
  },
  {
    id: 'N2',
    vendor: 'a list of one',
    status: 400,
    body: [google(400, 'INVALID_ARGUMENT', 'found in a list')],
    reason: undefined,
    message: 'found in a list',
  },
  {
    id: 'N2',
    vendor: 'errors',
    status: 400,
    body: { errors: [{ message: 'found in errors' }] },
    reason: undefined,
    message: 'found in errors',
  },
  {
    id: 'N2',
    vendor: 'texts',
    status: 400,
    body: { error: ['found in texts'] },
    reason: undefined,
    message: 'found in texts',
  },
  { id: 'N2', vendor: 'msg', status: 400, body: { msg: 'found in msg' }, reason: undefined, message: 'found in msg' },
  {
    id: 'N2',
    vendor: 'an error in an error',
    status: 402,
    body: { error: { error: { code: 402, message: 'found inside' } } },
    reason: 'billing',
    message: 'found inside',
  },
];

/** Every row of the table. */
export const FAULT_VECTORS: readonly FaultVector[] = [
  ...OVERFLOWS,
  ...RATES,
  ...CONTENT,
  ...BILLING,
  ...LOADS,
  ...ACCESS,
  ...WRAPPED,
];

export const titleOf = ({ id, vendor, status, reason }: FaultVector): string =>
  `${id}, ${vendor}, ${status}: ${reason ?? 'of no kind'}`;

export const bodyText = ({ body }: FaultVector): string => (typeof body === 'string' ? body : JSON.stringify(body));
