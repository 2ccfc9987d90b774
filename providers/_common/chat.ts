import type { CallInfo, ChatMessage, ChatReply, ChatRequest, ChatTranslator, ParamTreatments, UnaryReply, WireRequest } from 'gw/contract';

/** Which token-ceiling fields a provider reads. `reconciled` sends what the client sent, after unification. */
export type CeilingStyle = 'reconciled' | 'max_completion_tokens' | 'max_tokens';

export interface ChatOptions {
  readonly path?: string;
  readonly ceiling?: CeilingStyle;
  /** Last change to the body, for what the options cannot say. Returns a new body. */
  readonly adjust?: (body: ChatBody) => ChatBody;
}

export type ChatBody = Readonly<Record<string, unknown>> & { readonly messages: readonly ChatMessage[] };

/** Chat on the common wire: fields nobody knows travel too. Source: providers reference 4.2 to 4.4. */
export function commonChat(params: ParamTreatments, options: ChatOptions = {}): ChatTranslator {
  const renames = Object.entries(params).flatMap(([name, treatment]) => (typeof treatment === 'object' ? [[name, treatment.rename] as const] : []));
  return {
    toUpstream: (request, call) => ({ path: options.path ?? '/chat/completions', body: toBody(request, call, renames, options) }) satisfies WireRequest,
    fromUpstream: readReply,
    openStream: 'common',
  };
}

function toBody(request: ChatRequest, call: CallInfo, renames: readonly (readonly [string, string])[], options: ChatOptions): ChatBody {
  const { stream: _stream, stream_options: _options, ...fields } = request;
  const body: Record<string, unknown> = { ...fields, model: call.model };
  if (request.messages.some(needsShaping)) body['messages'] = request.messages.map(shapeMessage);
  if (body['logprobs'] === false) delete body['logprobs'];
  applyCeiling(body, options.ceiling ?? 'reconciled');
  for (const [name, wireName] of renames) {
    if (body[name] === undefined) continue;
    body[wireName] = body[name];
    delete body[name];
  }
  if (call.stream) {
    body['stream'] = true;
    body['stream_options'] = { include_usage: true }; // usage is always metered; the host strips it for clients that opted out
  }
  return options.adjust ? options.adjust(body as ChatBody) : (body as ChatBody);
}

function applyCeiling(body: Record<string, unknown>, style: CeilingStyle): void {
  if (style === 'reconciled') return;
  const value = body['max_completion_tokens'] ?? body['max_tokens'];
  delete body['max_tokens'];
  delete body['max_completion_tokens'];
  if (value !== undefined) body[style] = value;
}

/** Members that only travel when they hold something. */
const OPTIONAL = ['name', 'tool_calls', 'tool_call_id', 'reasoning_content'] as const;

const isEmpty = (value: unknown): boolean => value === null || value === '' || (Array.isArray(value) && value.length === 0);

function needsShaping(message: ChatMessage): boolean {
  return message.content === undefined || message.content === null || OPTIONAL.some((name) => name in message && isEmpty(message[name]));
}

/** `content` always travels; optional members only when they hold something. */
function shapeMessage(message: ChatMessage): ChatMessage {
  if (!needsShaping(message)) return message;
  const shaped: Record<string, unknown> = { ...message, content: message.content ?? '' };
  for (const name of OPTIONAL) if (isEmpty(shaped[name])) delete shaped[name];
  return shaped as ChatMessage;
}

function readReply(reply: UnaryReply): ChatReply {
  const body = reply.json();
  if (typeof body !== 'object' || body === null || !Array.isArray((body as { choices?: unknown }).choices)) {
    throw new Error('the answer holds no choices');
  }
  return body as ChatReply;
}
