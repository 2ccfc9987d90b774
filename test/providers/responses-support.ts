import type {
  CallInfo,
  ChatChunk,
  ChatReply,
  ChatRequest,
  ModelFacts,
  ProviderModule,
  StreamDecoder,
  WireRequest,
} from '../../host/contract/index.ts';
import { Relay } from '../../host/answer/relay.ts';
import { callFor, translateReply } from '../../host/testing/testing.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import openai from '../../providers/openai/index.ts';
import { sse } from '../differential/answers/answer.ts';
import { ask, eventsOf } from '../kit/index.ts';

type Fields = Record<string, any>;

/** What the rules say of a model that thinks, seals its thoughts and marks its texts. */
export const SEALING: ModelFacts = {
  efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
  sampling: 'effort_none',
  system_role: 'developer',
  summaries: true,
  phases: true,
  thoughts_back: 'sealed',
};

/** A provider whose chats go by its Responses API, as the host asks it then. */
export function byResponses(module: ProviderModule): ProviderModule {
  const { viaResponses } = module.translators.chat ?? {};
  if (!viaResponses) throw new Error(`${module.name} has no Responses API`);
  return { ...module, translators: { ...module.translators, chat: viaResponses } };
}

const OPENAI = byResponses(openai);

export const callOf = (more: Partial<CallInfo> = {}): CallInfo => callFor('gpt-x', { provider: 'openai', ...more });

export type SentBody = WireRequest & { readonly body: Fields };

/** What is sent for a request; the request is frozen, so that nothing is changed in it. */
export function sentFor(request: object, more: Partial<CallInfo> = {}): SentBody {
  const wire = OPENAI.translators.chat!.toUpstream(frozen(ask('hi', request)) as ChatRequest, callOf(more));
  return { ...wire, body: JSON.parse(JSON.stringify(wire.body)) };
}

/** The items of a conversation. */
export const inputFor = (messages: readonly object[], more: Partial<CallInfo> = {}): Fields[] =>
  sentFor({ messages }, more).body['input'];

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}

/** A whole response, as the client gets it. */
export function readWhole(response: object, request: object = {}, more: Partial<CallInfo> = {}): ChatReply & Fields {
  return translateReply(OPENAI, callOf(more), response, ask('hi', request));
}

/** A stream of these events, in the given pieces of its bytes, as the client gets it. */
export function readStream(
  events: readonly object[],
  { request = {}, more = {}, cut = (bytes) => [bytes], tail = '' }: StreamOptions = {},
): ReadStream {
  const relay = new Relay({
    encoder: new CommonStream(),
    model: FACTS.model,
    created: FACTS.created,
    stripUsage: false,
    source: { speaks: 'native', framing: 'sse', decode: decoderFor(request, more), tellsAll: true },
  });
  const bytes = Buffer.concat([sse(events, { isNamed: true }), Buffer.from(tail)]);
  let out = cut(bytes)
    .map((piece) => relay.push(piece))
    .join('');
  if (!relay.isDone && !relay.failure) out += relay.end();
  return {
    chunks: eventsOf(Buffer.from(out, 'latin1').toString('utf8')).filter((chunk) => chunk !== '[DONE]'),
    reply: relay.assembly.reply({ id: relay.id, ...FACTS, usage: relay.usage }),
    failure: relay.failure,
  };
}

/** A decoder of one stream. */
export function decoderFor(request: object = {}, more: Partial<CallInfo> = {}): StreamDecoder {
  const { openStream: open } = OPENAI.translators.chat!;
  if (typeof open !== 'function') throw new Error('it opens no streams');
  return open(callOf({ stream: true, ...more }), ask('hi', request) as ChatRequest)!;
}

const FACTS = { model: 'routed', provider: 'p', created: 1_700_000_000 };

interface ReadStream {
  readonly chunks: readonly ChatChunk[];
  /** What they add up to. */
  readonly reply: ChatReply;
  readonly failure: Error | undefined;
}

interface StreamOptions {
  readonly request?: object;
  readonly more?: Partial<CallInfo>;
  readonly cut?: (bytes: Buffer) => readonly Buffer[];
  /** Behind the events. */
  readonly tail?: string;
}

/** What of an answer clients work with, the same whole and streamed. */
export function saidIn({ choices: [choice], usage, id }: ChatReply): Fields {
  const { message, finish_reason: finish, logprobs } = choice!;
  const { role: _role, content, tool_calls: calls, ...others } = message;
  return {
    id,
    content: content ?? '',
    calls: (calls ?? []).map(({ id: callId, type, function: called, custom }: Fields) =>
      type === 'custom' ? { callId, type, custom } : { callId, type, called },
    ),
    ...others,
    finish,
    usage,
    ...(logprobs !== undefined && { logprobs }),
  };
}
