import type { ParamTreatments } from 'gw/contract';

/** Chat parameters that do not simply travel. See docs/providers.md#fields-of-chat. */
export const params: ParamTreatments = {
  n: 'unsupported',
  max_completion_tokens: 'unsupported',
  response_format: 'translate',
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  parallel_tool_calls: 'unsupported',
  user: 'unsupported',
  logit_bias: 'unsupported',
};
