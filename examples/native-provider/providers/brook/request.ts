import { type ChatRequest, contentTexts, GatewayError, type ParamTreatments, type WireRequest } from 'gw/contract';

/** What Brook has a word for is translated; for the rest it has none. */
export const params = {
  temperature: 'translate',
  max_tokens: 'translate',
  max_completion_tokens: 'translate',
  stop: 'translate',
  top_p: 'unsupported',
  n: 'unsupported',
  seed: 'unsupported',
  presence_penalty: 'unsupported',
  frequency_penalty: 'unsupported',
  user: 'unsupported',
  tools: 'unsupported',
  tool_choice: 'unsupported',
  parallel_tool_calls: 'unsupported',
  response_format: 'unsupported',
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  logit_bias: 'unsupported',
} as const satisfies ParamTreatments;

/** `{"model", "lines": [{"who", "says"}], "flow", "heat", "most", "until"}` */
export function toUpstream(request: ChatRequest): WireRequest {
  const most = request.max_completion_tokens ?? request.max_tokens;
  return {
    path: '/flow',
    body: {
      model: request.model,
      flow: request.stream === true,
      lines: request.messages.map((message) => ({
        who: whoOf(message.role),
        says: [...contentTexts(message)].join('\n'),
      })),
      ...(request.temperature !== undefined && { heat: request.temperature }),
      ...(most !== undefined && { most }),
      ...(request.stop && { until: [request.stop].flat() }),
    },
  };
}

function whoOf(role: string): 'guide' | 'guest' | 'brook' {
  if (role === 'system' || role === 'developer') return 'guide';
  if (role === 'user') return 'guest';
  if (role === 'assistant') return 'brook';
  throw new GatewayError('invalid_request', 'brook takes no results of tools');
}
