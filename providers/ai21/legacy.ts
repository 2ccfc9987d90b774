import {
  type ChatChoice,
  finishReason,
  GatewayError,
  type ParamTreatments,
  quoted,
  type Translator,
} from 'gw/contract';
import {
  fieldsBeside,
  type Fields,
  isFields,
  itemsOf,
  joinedConversation,
  objectOf,
  pathSegment,
} from 'gw/common-wire';

/** What the completion task cannot express. See docs/providers.md#what-differs. */
export const LEGACY_PARAMS: ParamTreatments = Object.fromEntries(
  [
    'n',
    'seed',
    'max_completion_tokens',
    'presence_penalty',
    'frequency_penalty',
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

/** Fields that are sent, handled by the host, or reported by their treatment. */
const KNOWN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'temperature',
  'top_p',
  'stop',
  ...Object.keys(LEGACY_PARAMS),
];

/** The completion task of models before Jamba. See docs/providers.md#what-differs. */
export const legacyChat: Translator<'chat'> = {
  toUpstream(request, call) {
    if (call.stream) throw new GatewayError('streaming_not_supported', `model ${quoted(call.model)} does not stream`);
    const { max_tokens: maxTokens, temperature, top_p: topP, stop } = request;
    const fields: Fields = { maxTokens, temperature, topP, stopSequences: typeof stop === 'string' ? [stop] : stop };
    return {
      path: `/${pathSegment(call.model)}/complete`,
      body: {
        prompt: joinedConversation(request),
        ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)),
      },
      ignored: fieldsBeside(request, KNOWN),
    };
  },
  fromUpstream(reply) {
    const { id, completions } = objectOf(reply);
    const choices = itemsOf(completions, 'completions').map(readCompletion);
    return { ...((typeof id === 'string' || typeof id === 'number') && { id: String(id) }), choices };
  },
};

function readCompletion({ data, finishReason: finish }: Fields, index: number): ChatChoice {
  const text = isFields(data) ? data['text'] : undefined;
  if (typeof text !== 'string') throw new Error('a completion holds no text');
  const reason = isFields(finish) ? finish['reason'] : undefined;
  return {
    index,
    message: { role: 'assistant', content: text },
    finish_reason: typeof reason === 'string' ? finishOf(reason) : null,
  };
}

/** `endoftext` is what these models call their own end. */
const finishOf = (reason: string): string => (reason === 'endoftext' ? 'stop' : finishReason(reason));
