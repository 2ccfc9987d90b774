import { defineProvider, headerKey, type ParamTreatments } from 'gw/contract';
import { listedModels } from 'gw/common-wire';
import { DIRECT, messagesFault, openMessagesStream, readMessage, toMessagesBody } from '../_common/anthropic/index.ts';

/** Chat parameters that the Messages API says otherwise, or has no word for. Source: API reference, "Messages", 2026-11-21. */
const params = {
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

/** The Messages API. Prompt tokens arrive with a stream's first event, completion tokens with its last but one. Source: providers reference 5.1. */
export default defineProvider({
  name: 'anthropic',
  wire: 'native',
  connection: {
    env: ['ANTHROPIC_API_KEY'],
    baseUrl: 'https://api.anthropic.com/v1',
    authorize: headerKey('x-api-key', 'ANTHROPIC_API_KEY', { 'anthropic-version': '2023-06-01' }),
  },
  params,
  translators: {
    chat: {
      toUpstream: (request, call) => ({ path: '/messages', ...toMessagesBody(request, call, DIRECT) }),
      fromUpstream: (reply, call) => readMessage(reply, call, DIRECT),
      openStream: (call) => openMessagesStream(call, DIRECT),
    },
  },
  toFault: messagesFault,
  discovery: { path: '/models?limit=1000', read: (body) => listedModels.read(body) },
});
