import { claude, errorInfo, google, openai, openrouter, type FaultVector } from './vector.ts';

export const BILLING: readonly FaultVector[] = [
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
