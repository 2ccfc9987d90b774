import type { ParamTreatments } from 'gw/contract';

/** Source: providers reference 3.2. */
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
