import type { ParamTreatments } from 'gw/contract';

/** Models complete a text: what chat adds to that cannot travel. See docs/providers.md#fields-of-chat. */
export const params: ParamTreatments = Object.fromEntries(
  [
    'n',
    'max_completion_tokens',
    'tools',
    'tool_choice',
    'response_format',
    'logprobs',
    'top_logprobs',
    'parallel_tool_calls',
    'user',
    'logit_bias',
  ].map((name) => [name, 'unsupported']),
);
