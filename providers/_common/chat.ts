import {
  type CallInfo,
  type ChatMessage,
  type ChatReply,
  type ChatRequest,
  type ChatTranslator,
  type ContentPart,
  type ModelFacts,
  NO_FACTS,
  type ParamTreatments,
  type UnaryReply,
  type ViaResponses,
  type WireRequest,
} from 'gw/contract';
import { withAllowedTools } from './allowed-tools.ts';
import { renameFields } from './body.ts';
import { isFields, isGiven } from './fields.ts';
import { limitToModel } from './model-limits.ts';
import type { Notes } from './notes.ts';
import { type Path, pathOf } from './paths.ts';
import { responsesChat, type ResponsesOptions } from './responses/index.ts';
import { thoughtsTo } from './thoughts.ts';

/** Which token-ceiling fields a provider reads. `reconciled` sends what the client sent, after unification. */
export type CeilingStyle = 'reconciled' | 'max_completion_tokens' | 'max_tokens';

export interface ChatOptions {
  readonly path?: Path;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly ceiling?: CeilingStyle;
  /** Fields that the vendor names differently, beside those that `params` renames: ours to theirs. */
  readonly renames?: Readonly<Record<string, string>>;
  /** Fields that the vendor refuses or does not read: left out, and reported as ignored. */
  readonly drops?: readonly string[];
  /** Members of messages that the vendor refuses: they are left out. */
  readonly messageDrops?: readonly string[];
  /** Members of tool calls that the vendor refuses: they are left out. */
  readonly callDrops?: readonly string[];
  /** `true` where the vendor knows parts of the type `refusal` in earlier answers; elsewhere they are sent as text. */
  readonly knowsRefusals?: boolean;
  /** `true` where the vendor knows turns of the role `developer`; elsewhere they are sent as the system's. */
  readonly knowsDeveloper?: boolean;
  /** `true` where the vendor knows a `tool_choice` of the type `allowed_tools`; elsewhere the other tools are left out. */
  readonly knowsAllowedTools?: boolean;
  /** `false` where the vendor refuses `stream_options` and sends usage unasked. */
  readonly streamOptions?: boolean;
  /** How the Responses API beside it is asked; `false` where there is none. */
  readonly responses?: ResponsesOptions | false;
  /** Last change to the body, for what the options cannot say. Returns a new body, and tells of fields that do not travel as they are. */
  readonly adjust?: (body: ChatBody, notes: Notes, call: CallInfo) => ChatBody;
  /** Last change to a whole reply. Returns a new one. */
  readonly adjustReply?: (reply: ChatReply) => ChatReply;
  /** Opens what changes the chunks of a stream. */
  readonly editStream?: ChatTranslator['editStream'];
}

export type ChatBody = Readonly<Record<string, unknown>> & { readonly messages: readonly ChatMessage[] };

/** Chat on the common wire, and by the Responses API beside it: unknown fields are sent too. See docs/reference/providers.md#token-ceilings. */
export function commonChat(params: ParamTreatments, options: ChatOptions = {}): ChatTranslator {
  const declared = Object.entries(params).flatMap(([name, treatment]) =>
    typeof treatment === 'object' ? [[name, treatment.rename] as const] : [],
  );
  const renames = [...declared, ...Object.entries(options.renames ?? {})];
  const { adjustReply, editStream, headers, responses } = options;
  const asSystem = { ...options, knowsDeveloper: false };
  return {
    toUpstream: (request, call) => {
      const notes: Notes = { ignored: [], bounded: [] };
      const own = options.knowsAllowedTools ? request : withAllowedTools(request);
      const body = toBody(own, call, renames, call.facts?.system_role === 'system' ? asSystem : options, notes);
      return {
        path: pathOf(options.path, '/chat/completions', call),
        ...(headers && { headers }),
        body,
        ...notes,
      } satisfies WireRequest;
    },
    fromUpstream: adjustReply ? (reply) => adjustReply(readReply(reply)) : readReply,
    openStream: 'common',
    ...(editStream && { editStream }),
    ...(responses !== false && { viaResponses: viaResponses(responses, options) }),
  };
}

const CEILINGS = {
  both: 'reconciled',
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_completion_tokens',
} as const satisfies Record<NonNullable<ModelFacts['ceiling']>, CeilingStyle>;

function viaResponses(responses: ResponsesOptions | undefined, { knowsAllowedTools }: ChatOptions): ViaResponses {
  const via = responsesChat(responses);
  if (knowsAllowedTools) return via;
  return { ...via, toUpstream: (request, call) => via.toUpstream(withAllowedTools(request), call) };
}

function toBody(
  request: ChatRequest,
  call: CallInfo,
  renames: readonly (readonly [string, string])[],
  options: ChatOptions,
  notes: Notes,
): ChatBody {
  const { drops = [], ceiling = 'reconciled' } = options;
  const { facts = NO_FACTS } = call;
  const body = fieldsOf(request, facts.ceiling ? CEILINGS[facts.ceiling] : ceiling);
  body['model'] = call.model;
  for (const name of drops) {
    if (!(name in body)) continue;
    if (isGiven(body[name])) notes.ignored.push(name);
    delete body[name];
  }
  if (facts !== NO_FACTS) limitToModel(body, facts, notes, call);
  const shaped = shapeMessages(request.messages, options);
  const withThoughts = thoughtsTo(facts, body);
  body['messages'] = withThoughts ? shaped.map(withThoughts) : shaped;
  if (body['logprobs'] === false) delete body['logprobs'];
  renameFields(body, renames);
  if (call.stream) {
    body['stream'] = true;
    // Usage is always metered; the host strips it for clients that opted out.
    if (options.streamOptions !== false) body['stream_options'] = { include_usage: true };
  }
  return options.adjust ? options.adjust(body as ChatBody, notes, call) : (body as ChatBody);
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

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

function needsShaping(
  message: ChatMessage,
  { messageDrops = [], callDrops = [], knowsDeveloper = false, knowsRefusals = false }: ChatOptions,
): boolean {
  return (
    message.content === undefined ||
    message.content === null ||
    (message.role === 'developer' && !knowsDeveloper) ||
    (!knowsRefusals && Array.isArray(message.content) && message.content.some(isRefusal)) ||
    OPTIONAL.some((name) => name in message && isEmpty(message[name])) ||
    messageDrops.some((name) => name in message) ||
    (callDrops.length > 0 &&
      Array.isArray(message.tool_calls) &&
      message.tool_calls.some((call) => callDrops.some((name) => isFields(call) && name in call)))
  );
}

const isRefusal = ({ type }: ContentPart): boolean => type === 'refusal';

function withoutRefusal(part: ContentPart): ContentPart {
  return part.type === 'refusal' ? { type: 'text', text: part.refusal } : part;
}

function without(fields: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

const shapeMessages = (messages: readonly ChatMessage[], options: ChatOptions): readonly ChatMessage[] =>
  messages.some((message) => needsShaping(message, options))
    ? messages.map((message) => shapeMessage(message, options))
    : messages;

/** `content` always travels; optional members only when they hold something. */
function shapeMessage(message: ChatMessage, options: ChatOptions): ChatMessage {
  if (!needsShaping(message, options)) return message;
  const { messageDrops = [], callDrops = [], knowsDeveloper = false, knowsRefusals = false } = options;
  const shaped: Record<string, unknown> = { ...message, content: message.content ?? '' };
  if (message.role === 'developer' && !knowsDeveloper) shaped['role'] = 'system';
  if (Array.isArray(message.content) && !knowsRefusals) shaped['content'] = message.content.map(withoutRefusal);
  for (const name of OPTIONAL) if (isEmpty(shaped[name])) delete shaped[name];
  for (const name of messageDrops) delete shaped[name];
  if (callDrops.length > 0 && Array.isArray(shaped['tool_calls']))
    shaped['tool_calls'] = shaped['tool_calls'].map((call: object) => without(call, callDrops));
  return shaped as ChatMessage;
}

function readReply(reply: UnaryReply): ChatReply {
  const body = reply.json();
  const choices: unknown = isFields(body) ? body['choices'] : undefined;
  if (!Array.isArray(choices) || !choices.some((choice) => isFields(choice) && isFields(choice['message'])))
    throw new Error('the answer holds no message');
  return body as ChatReply;
}
