import { type CallInfo, type ChatRequest, type ChatTool, NO_FACTS, type WireRequest } from 'gw/contract';
import { fieldsBeside, type Fields, isFields, withoutAbsent } from 'gw/common-wire';
import { withAllowedTools } from '../_common/allowed-tools.ts';
import { outOfBounds } from '../_common/bounds.ts';
import { hasCacheMark } from '../_common/cache-marks.ts';
import { documentsOf, toMessages } from './messages.ts';
import { params } from './params.ts';
import { planThinking } from './thinking.ts';

/** Fields of the vendor's own that a caller may send. Source: Cohere API reference, "Chat" v2, 2026-11-21. */
const OWN = ['k', 'documents', 'citation_options', 'safety_mode', 'strict_tools', 'priority'] as const;

/** Fields that are sent, handled by the host, or reported by their treatment. */
const KNOWN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'tools',
  'tool_choice',
  'reasoning_effort',
  'thinking',
  ...OWN,
  ...Object.keys(params),
];

/** Source: cohere-ai 8.1.0, what `V2ChatRequest` says of its members, 2026-11-22. */
const BOUNDS = {
  top_p: [0.01, 0.99],
  frequency_penalty: [0, 1],
  presence_penalty: [0, 1],
  seed: [0, Number.MAX_SAFE_INTEGER],
} as const;

/** A chat request as the second version of the API has it. See docs/providers.md#cohere-models. */
export function toUpstream(request: ChatRequest, call: CallInfo): WireRequest {
  const { fields: nearest, names: bounded } = outOfBounds(request, BOUNDS);
  const {
    temperature,
    max_tokens,
    seed,
    presence_penalty,
    frequency_penalty,
    top_p: p,
    top_k: k,
    stop,
  } = { ...request, ...nearest };
  const { thinking, ignored } = planThinking(request, call.facts ?? NO_FACTS);
  const documents = [
    ...(Array.isArray(request['documents']) ? request['documents'] : []),
    ...documentsOf(request.messages),
  ];
  const fields = {
    ...Object.fromEntries(OWN.map((name) => [name, request[name]])),
    ...(documents.length > 0 && { documents }),
    model: call.model,
    messages: toMessages(request.messages),
    stream: call.stream,
    temperature,
    max_tokens,
    seed,
    presence_penalty,
    frequency_penalty,
    p,
    k: k ?? request['k'],
    stop_sequences: stopSequences(stop),
    response_format: responseFormat(request),
    thinking,
    ...toolFields(request),
  };
  return {
    path: '/v2/chat',
    body: withoutAbsent(fields),
    ignored: [...ignored, ...unread(request), ...fieldsBeside(request, KNOWN)],
    ...(bounded.length > 0 && { bounded }),
  };
}

/** Values inside the fields that are sent which the vendor does not know. */
function unread(request: ChatRequest): string[] {
  const isOtherFormat = request.response_format ? !FORMATS.has(request.response_format.type) : false;
  return [...(isOtherFormat ? ['response_format'] : []), ...(hasCacheMark(request) ? ['cache_control'] : [])];
}

const FORMATS = new Set(['text', 'json_object', 'json_schema']);

function stopSequences(stop: ChatRequest['stop']): readonly string[] | undefined {
  const sequences = [stop ?? []].flat();
  return sequences.length > 0 ? sequences : undefined;
}

/** The vendor has one kind for both; a schema stands beside it. Plain text is what it answers anyway. */
function responseFormat({ response_format: format }: ChatRequest): Fields | undefined {
  if (format?.type === 'json_object') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return undefined;
  const { json_schema: given } = format;
  return withoutAbsent({
    type: 'json_object',
    json_schema: isFields(given) && isFields(given['schema']) ? given['schema'] : undefined,
  });
}

/** A function can only be forced by leaving the others out. */
function toolFields(request: ChatRequest): Fields {
  const { tools, tool_choice: choice } = withAllowedTools(request);
  if (!tools || tools.length === 0) return {};
  const forced = functionName(choice);
  const named = forced === undefined ? [] : tools.filter((tool) => tool.function?.name === forced);
  return {
    tools: (named.length > 0 ? named : tools).map(withoutMarker),
    tool_choice: forced === undefined ? CHOICES.get(choice) : 'REQUIRED',
  };
}

/** `auto` is what happens without a choice. */
const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ['required', 'REQUIRED'],
  ['any', 'REQUIRED'],
  ['none', 'NONE'],
]);

function functionName(choice: unknown): string | undefined {
  const target = isFields(choice) && choice['type'] === 'function' ? choice['function'] : undefined;
  return isFields(target) && typeof target['name'] === 'string' && target['name'] !== '' ? target['name'] : undefined;
}

function withoutMarker({ cache_control: _marker, function: declared, ...tool }: ChatTool): Fields {
  if (declared === undefined) return tool;
  const { cache_control: _inner, ...own } = declared;
  return { ...tool, function: { ...own, parameters: own.parameters ?? { type: 'object', properties: {} } } };
}
