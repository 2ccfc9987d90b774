import { openai, openrouter, type FaultVector } from './vector.ts';

export const CONTENT: readonly FaultVector[] = [
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
