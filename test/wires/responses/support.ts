import { expect } from 'chai';
import { readResponses } from '../../../builtins/wires/responses/request.ts';
import { ResponsesStream } from '../../../builtins/wires/responses/stream.ts';
import { ResponsesWire } from '../../../builtins/wires/responses/wire.ts';
import type { ChatReply, Exchange, StreamDecoder } from '../../../host/contract/index.ts';
import { normalizeReply } from '../../../host/answer/normalize-reply.ts';
import { Relay } from '../../../host/answer/relay.ts';
import { sseBytes } from '../../kit/index.ts';

export const ID = '0123456789abcdef0123456789abcdef';

export type Json = Record<string, any>;

const exchangeOf = (reply?: ChatReply): Exchange =>
  ({
    id: ID,
    model: 'm',
    startedAt: 1_700_000_000_500,
    measurements: { durationMs: 2000 },
    reply,
  }) as unknown as Exchange;

/** What writes one streamed answer. */
export const openStream = (asked: object = {}): ResponsesStream =>
  new ResponsesStream(exchangeOf(), readResponses({ model: 'm', input: 'hi', ...asked }).asked);

export interface Streamed {
  readonly events: readonly Json[];
  /** The response of the last event. */
  readonly response: Json;
  readonly failure: Error | undefined;
}

/** The bytes of an upstream's stream, in these pieces, as a client of the Responses API gets them. Each event is checked for its form. */
export function streamedBytes(pieces: readonly Uint8Array[], asked: object = {}, decode?: StreamDecoder): Streamed {
  const encoder = openStream(asked);
  const relay = new Relay({
    encoder,
    model: 'm',
    created: 1,
    stripUsage: false,
    source: decode ? { speaks: 'native', framing: 'sse', decode } : { speaks: 'common', framing: 'sse' },
  });
  let out = pieces.map((piece) => relay.push(Buffer.from(piece))).join('');
  if (!relay.isDone && !relay.failure) out += relay.end();
  out += relay.failure
    ? encoder.error({
        code: relay.failure.code,
        status: 502,
        message: 'it broke',
        requestId: ID,
        retryAfterS: undefined,
      })
    : encoder.end();
  const events = eventsOf(Buffer.from(out, 'latin1').toString('utf8'));
  return { events, response: events.at(-1)?.['response'], failure: relay.failure };
}

/** Chunks of the common wire the same way. */
export function streamed(chunks: readonly object[], asked: object = {}): Streamed {
  return streamedBytes([sseBytes([...chunks, { data: '[DONE]' }])], asked);
}

/** A chunk with one delta. */
export const delta = (members: object, finish: string | null = null): object => ({
  id: 'x',
  choices: [{ index: 0, delta: members, finish_reason: finish }],
});

export const usage = (members: object): object => ({
  choices: [],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...members },
});

/** The answer when it is sent whole. */
export function whole(message: object, finish: string | null, asked: object = {}, more: object = {}): Json {
  const reply = {
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
    ...more,
  } as unknown as ChatReply;
  normalizeReply(reply, { model: 'm', provider: 'p', created: 1 });
  const wire = new ResponsesWire(readResponses({ model: 'm', input: 'hi', ...asked }).asked);
  return JSON.parse(JSON.stringify(wire.reply(exchangeOf(reply)))) as Json;
}

/** Events, whose lines and numbers are as the wire has them. */
export function eventsOf(text: string): readonly Json[] {
  expect(text.endsWith('\n\n')).to.equal(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((event, at) => {
      const [first = '', second = '', ...more] = event.split('\n');
      const data = JSON.parse(second.replace(/^data: /, '')) as Json;
      expect(more).to.deep.equal([]);
      expect(first).to.equal(`event: ${String(data['type'])}`);
      expect(Object.keys(data).slice(0, 2)).to.deep.equal(['type', 'sequence_number']);
      expect(data['sequence_number']).to.equal(at);
      return data;
    });
}

/** What each event says beside its number and what all of its item say. */
export const shown = ({ events }: Streamed): readonly string[] =>
  events.map(
    ({ type, output_index: index, delta: piece }) =>
      `${String(type).replace('response.', '')}${index === undefined ? '' : ` ${index}`}${piece === undefined ? '' : ` ${JSON.stringify(piece)}`}`,
  );
