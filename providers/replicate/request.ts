import type { CallInfo, ChatRequest, WireRequest } from 'gw/contract';
import { fieldsBeside, joinedConversation, withoutAbsent } from 'gw/common-wire';
import { destinationOf } from './models.ts';
import { params } from './params.ts';

/** Fields that are sent, handled by the host, or reported by their treatment. */
const KNOWN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  ...Object.keys(params),
];

/** Held open for up to 60 s by the service, so that most answers need no second call. Source: Replicate HTTP API reference, "Create a prediction", 2026-11-21. */
export const WAIT = { prefer: 'wait' };

export function toUpstream(request: ChatRequest, call: CallInfo): WireRequest {
  const { path, version } = destinationOf(call);
  const { max_tokens, temperature, top_p, top_k, seed, presence_penalty, frequency_penalty } = request;
  const { sent, isWhole } = stopSequences(request);
  const input = withoutAbsent({
    prompt: joinedConversation(request),
    max_tokens,
    temperature,
    top_p,
    top_k,
    seed,
    stop_sequences: sent,
    presence_penalty,
    frequency_penalty,
  });
  return {
    path,
    ...(!call.stream && { headers: WAIT }),
    body: withoutAbsent({ version, input, stream: call.stream || undefined }),
    ignored: [...(isWhole ? [] : ['stop']), ...fieldsBeside(request, KNOWN)],
  };
}

/** One text between commas, so a sequence with a comma in it cannot travel. Source: input schema of `meta/meta-llama-3.1-405b-instruct`, 2026-11-21. */
function stopSequences({ stop }: ChatRequest): { readonly sent: string | undefined; readonly isWhole: boolean } {
  const asked = [stop ?? []].flat();
  const sent = asked.filter((sequence) => !sequence.includes(','));
  return { sent: sent.length > 0 ? sent.join(',') : undefined, isWhole: sent.length === asked.length };
}
