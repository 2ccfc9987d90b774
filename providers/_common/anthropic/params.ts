import type { ParamTreatments } from 'gw/contract';

/** Chat parameters that the Messages API names differently, or does not have. Source: API reference, "Messages", 2026-11-21. */
export const MESSAGES_PARAMS = {
  n: 'unsupported',
  seed: 'unsupported',
  max_completion_tokens: 'unsupported',
  presence_penalty: 'unsupported',
  frequency_penalty: 'unsupported',
  response_format: 'translate',
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  parallel_tool_calls: 'translate',
  logit_bias: 'unsupported',
} as const satisfies ParamTreatments;
