import {
  type CallInfo,
  type ChatChunk,
  type ChatReply,
  parseJson,
  type ProviderModule,
  type UnaryReply,
} from '../contract/index.ts';
import { normalizeReply } from '../answer/normalize-reply.ts';
import { Relay } from '../answer/relay.ts';
import { CommonStream } from '../wire/common-wire.ts';

/** A call as translators see it. */
export function callFor(model: string, more: Partial<CallInfo> = {}): CallInfo {
  return {
    model,
    stream: false,
    root: 'https://api.example/v1',
    credentials: {},
    exchangeId: '0123456789abcdef0123456789abcdef',
    signal: new AbortController().signal,
    wait: async () => {},
    ...more,
  };
}

/** A whole reply with this body: JSON unless it is text or bytes. */
export function unaryReply(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
): UnaryReply {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { status, headers, body: bytes, json: () => parseJson(Buffer.from(bytes).toString('utf8')) };
}

export interface RelayedStream {
  /** Chunks as a client gets them, without the end marker. */
  readonly chunks: readonly ChatChunk[];
  /** What they add up to. */
  readonly reply: ChatReply;
  readonly failure: Error | undefined;
}

/** Stands for a request that answers do not depend on. */
const ASKED_NOTHING = { model: '', messages: [] };

const FACTS = { model: 'routed', provider: 'p', created: 1_700_000_000 };

/** Runs the bytes of a service's stream through a provider's decoder and the gateway's relay, in the given pieces. */
export function relayStream(
  module: ProviderModule,
  call: CallInfo,
  pieces: readonly Uint8Array[],
  request: object = ASKED_NOTHING,
): RelayedStream {
  const { openStream: open, editStream: edit } = module.translators.chat ?? {};
  const { framing = 'sse' } = module;
  const decode = typeof open === 'function' ? open(call, request as never) : undefined;
  const relay = new Relay({
    encoder: new CommonStream(),
    model: FACTS.model,
    created: FACTS.created,
    stripUsage: false,
    source: decode
      ? { speaks: 'native', framing, decode }
      : { speaks: 'common', framing, edit: edit?.(call, request as never) },
  });
  let out = pieces.map((piece) => relay.push(Buffer.from(piece))).join('');
  if (!relay.isDone && !relay.failure) out += relay.end();
  return {
    chunks: eventsOf(Buffer.from(out, 'latin1').toString('utf8')),
    reply: relay.assembly.reply({
      id: relay.id,
      created: FACTS.created,
      model: FACTS.model,
      provider: FACTS.provider,
      usage: relay.usage,
    }),
    failure: relay.failure,
  };
}

/** The whole answer as a client gets it. */
export function translateReply(
  module: ProviderModule,
  call: CallInfo,
  body: unknown,
  request: object = ASKED_NOTHING,
): ChatReply {
  const reply = module.translators.chat?.fromUpstream(unaryReply(body), call, request as never);
  if (!reply) throw new Error(`${module.name} has no chat`);
  normalizeReply(reply, FACTS);
  return reply;
}

function eventsOf(text: string): ChatChunk[] {
  const events = text.split('\n\n').map((event) => event.replace(/^data: /, ''));
  return events.filter((data) => data !== '' && data !== '[DONE]').map((data) => parseJson(data) as ChatChunk);
}
