import type { CallInfo, ChatMessage, ChatReply, ChatRequest, ChatTranslator, ParamTreatments, UnaryReply, WireRequest } from 'gw/contract';
import { renameFields } from './body.ts';
import { isFields } from './fields.ts';
import { type Path, pathOf } from './paths.ts';

/** Which token-ceiling fields a provider reads. `reconciled` sends what the client sent, after unification. */
export type CeilingStyle = 'reconciled' | 'max_completion_tokens' | 'max_tokens';

export interface ChatOptions {
  readonly path?: Path;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly ceiling?: CeilingStyle;
  /** Fields that the vendor calls otherwise, beside those that `params` renames: ours to theirs. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Members of messages that the vendor refuses: they are left out. */
  readonly messageDrops?: readonly string[];
  /** `false` where the vendor refuses `stream_options` and sends usage unasked. */
  readonly streamOptions?: boolean;
  /** Last change to the body, for what the options cannot say. Returns a new body. */
  readonly adjust?: (body: ChatBody) => ChatBody;
  /** Last change to a whole reply. Returns a new one. */
  readonly adjustReply?: (reply: ChatReply) => ChatReply;
}

export type ChatBody = Readonly<Record<string, unknown>> & { readonly messages: readonly ChatMessage[] };

/** Chat on the common wire: fields nobody knows travel too. Source: providers reference 4.2 to 4.4. */
export function commonChat(params: ParamTreatments, options: ChatOptions = {}): ChatTranslator {
  const declared = Object.entries(params).flatMap(([name, treatment]) => (typeof treatment === 'object' ? [[name, treatment.rename] as const] : []));
  const renames = [...declared, ...Object.entries(options.renames ?? {})];
  const { adjustReply, headers } = options;
  return {
    toUpstream: (request, call) => ({
      path: pathOf(options.path, '/chat/completions', call), ...(headers && { headers }), body: toBody(request, call, renames, options),
    }) satisfies WireRequest,
    fromUpstream: adjustReply ? (reply) => adjustReply(readReply(reply)) : readReply,
    openStream: 'common',
  };
}

function toBody(request: ChatRequest, call: CallInfo, renames: readonly (readonly [string, string])[], options: ChatOptions): ChatBody {
  const { messageDrops = [], ceiling = 'reconciled' } = options;
  const body = fieldsOf(request, ceiling);
  body['model'] = call.model;
  if (request.messages.some((message) => needsShaping(message, messageDrops))) {
    body['messages'] = request.messages.map((message) => shapeMessage(message, messageDrops));
  }
  if (body['logprobs'] === false) delete body['logprobs'];
  renameFields(body, renames);
  if (call.stream) {
    body['stream'] = true;
    // Usage is always metered; the host strips it for clients that opted out.
    if (options.streamOptions !== false) body['stream_options'] = { include_usage: true };
  }
  return options.adjust ? options.adjust(body as ChatBody) : (body as ChatBody);
}

/** All fields but those that say how to stream, with the ceiling in its place. Nothing is deleted: that would make the object slow. */
function fieldsOf(request: ChatRequest, style: CeilingStyle): Record<string, unknown> {
  if (style === 'reconciled') {
    const { stream: _stream, stream_options: _options, ...fields } = request;
    return fields;
  }
  const { stream: _stream, stream_options: _options, max_tokens, max_completion_tokens, ...fields } = request;
  const value = max_completion_tokens ?? max_tokens;
  return value === undefined ? fields : { ...fields, [style]: value };
}

/** Members that only travel when they hold something. */
const OPTIONAL = ['name', 'tool_calls', 'tool_call_id', 'reasoning_content'] as const;

const isEmpty = (value: unknown): boolean => value === null || value === '' || (Array.isArray(value) && value.length === 0);

function needsShaping(message: ChatMessage, drops: readonly string[]): boolean {
  return message.content === undefined || message.content === null
    || OPTIONAL.some((name) => name in message && isEmpty(message[name])) || drops.some((name) => name in message);
}

/** `content` always travels; optional members only when they hold something. */
function shapeMessage(message: ChatMessage, drops: readonly string[]): ChatMessage {
  if (!needsShaping(message, drops)) return message;
  const shaped: Record<string, unknown> = { ...message, content: message.content ?? '' };
  for (const name of OPTIONAL) if (isEmpty(shaped[name])) delete shaped[name];
  for (const name of drops) delete shaped[name];
  return shaped as ChatMessage;
}

function readReply(reply: UnaryReply): ChatReply {
  const body = reply.json();
  const choices: unknown = isFields(body) ? body['choices'] : undefined;
  if (!Array.isArray(choices) || !choices.some((choice) => isFields(choice) && isFields(choice['message']))) throw new Error('the answer holds no message');
  return body as ChatReply;
}
