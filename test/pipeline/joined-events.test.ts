import { expect } from 'chai';
import { DIRECT, openMessagesStream } from '../../providers/_common/anthropic/index.ts';
import { VendorStream } from '../../builtins/wires/messages/same-wire-stream.ts';
import { Relay } from '../../host/answer/relay.ts';
import { RawEventReader } from '../../host/upstream/raw-events.ts';
import { callFor, cases, Dice } from '../kit/index.ts';
import { FACTS } from './plain-relay.ts';

/** Events of text that arrive together are read as one (`host/upstream/event-runs.ts`). Neither clients nor plugins may notice. */
describe('events of text that are joined', () => {
  it('leave as they came, and say what they say one by one', () => {
    for (let seed = 1; seed <= cases(3000, 30); seed += 1) {
      const dice = new Dice(seed);
      const stream = streamOf(dice);
      const reads = cutsOf(dice, stream);
      const joined = outcome(new VendorStream(), reads);
      expect(joined, `seed ${seed}: ${JSON.stringify(stream)}`).to.deep.equal(outcome(new Separate(), reads));
    }
  });

  it('are one event for the decoder, with the number of those that it holds', () => {
    const piece = (text: string): string =>
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`;
    const events = new RawEventReader(new VendorStream().piece).push(
      Buffer.from([piece('a "'), piece('b\n'), piece('é'), piece('c').replace('0', '1')].join('')),
    );
    expect(
      events.map(({ count, data }) => [count, (JSON.parse(data) as { delta: { text: string } }).delta.text]),
    ).to.deep.equal([
      [3, 'a "b\né'],
      [undefined, 'c'],
    ]);
  });

  it('are not joined where a piece is not a whole text', () => {
    const event = (piece: string): string =>
      `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${piece}"}}\n\n`;
    const events = new RawEventReader(new VendorStream().piece).push(
      Buffer.from(['a', 'b"c', 'd\\', '\\x', 'e', 'f'].map(event).join('')),
    );
    expect(events.map(({ count = 1 }) => count)).to.deep.equal([1, 1, 1, 1, 2]);
  });
});

/** The wire without the form by which its events are joined. */
class Separate extends VendorStream {
  override readonly piece = undefined;
}

function outcome(verbatim: VendorStream, reads: readonly Buffer[]): object {
  const relay = new Relay({
    ...FACTS,
    stripUsage: false,
    encoder: verbatim,
    source: {
      speaks: 'client',
      framing: 'sse',
      stream: verbatim,
      decode: openMessagesStream(callFor('m'), DIRECT),
      readsAsides: true,
    },
  });
  const out = [...reads.map((bytes) => relay.push(bytes)), relay.end(), relay.flush()];
  return {
    out,
    chunks: relay.chunks,
    failure: relay.failure?.message,
    usage: relay.usage,
    end: relay.failure ? '' : verbatim.end(),
    reply: relay.assembly.reply({ id: relay.id, created: 0, model: 'm', provider: 'p', usage: relay.usage }),
  };
}

const TEXTS = [
  '',
  ' ',
  'word',
  ' two words',
  '"',
  '\\',
  '"}}',
  'line\nbreak',
  '\t',
  '\u0001',
  'é',
  '😀',
  '\ud83d',
  '\ude00',
  '\n\ndata: x',
  '\u2028',
  'x'.repeat(60),
];

function streamOf(dice: Dice): string {
  const spaced = dice.below(3) === 0;
  const escapes = dice.below(2) === 0;
  const names = dice.below(4) > 0;
  const prefix = dice.pick(['data: ', 'data: ', 'data:']);
  const written = (value: object): string => {
    const json = spaced
      ? JSON.stringify(value, undefined, 1).replace(/\n\s*/g, ' ').replaceAll('{ ', '{').replaceAll(' }', '}')
      : JSON.stringify(value);
    return escapes
      ? json.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : json;
  };
  const event = (value: { readonly type: string }): string =>
    `${names ? `event: ${value.type}\n` : ''}${prefix}${written(value)}\n\n`;
  const delta = (index: number, value: object): string =>
    event({ type: 'content_block_delta', index, delta: value } as { type: string });
  const text = (index = 0): string => delta(index, { type: 'text_delta', text: dice.pick(TEXTS) });
  const others = [
    () => delta(0, { type: 'thinking_delta', thinking: dice.pick(TEXTS) }),
    () => delta(1, { type: 'input_json_delta', partial_json: dice.pick(TEXTS) }),
    () =>
      delta(0, {
        type: 'citations_delta',
        citation: { cited_text: 'c', url: 'u', type: 'web_search_result_location' },
      }),
    () => ': comment\n\n',
    () => event({ type: 'ping' }),
    () => text().replace('"text_delta"', '"foreign_delta"'),
    () => text().replace('"}', 'broken"}'),
    () => text().replace('\n\n', '\nid: 1\n\n'),
    () => text().replace(prefix, `${prefix}\n${prefix}`),
    () => text(1),
    () => event({ type: 'content_block_stop', index: 0 } as { type: string }),
    () => text().replace('"index"', '"member":1,"index"'),
  ];
  const body = Array.from({ length: dice.below(30) }, () => (dice.below(5) > 0 ? text() : dice.pick(others)()));
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  };
  const whole = [
    event({ type: 'message_start', message } as { type: string }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }),
    ...body,
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } } as {
      type: string;
    }),
    ...(dice.below(4) === 0 ? [text()] : []),
    event({ type: 'message_stop' }),
  ].join('');
  const lined = dice.below(6) === 0 ? whole.replaceAll('\n', '\r\n') : whole;
  return dice.below(6) === 0 ? lined.slice(0, dice.below(lined.length)) : lined; // an upstream that dies mid-answer
}

function cutsOf(dice: Dice, stream: string): Buffer[] {
  const bytes = Buffer.from(stream);
  const reads: Buffer[] = [];
  const longest = dice.pick([20, 200, 2000, bytes.length]);
  for (let at = 0; at < bytes.length;) {
    const length = 1 + dice.below(longest);
    reads.push(bytes.subarray(at, at + length));
    at += length;
  }
  return reads;
}
