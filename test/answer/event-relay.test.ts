import { expect } from 'chai';
import { EventRelay } from '../../host/answer/events/event-relay.ts';
import { MAX_PARSED, membersOf } from '../../host/answer/events/event-tail.ts';
import type { StreamedSurface } from '../../host/contract/index.ts';
import { COMMON_WIRE } from '../../host/wire/common-wire.ts';
import { cases, Dice, expectProportion, golden } from '../kit/index.ts';

const FIXTURES: readonly (readonly [surface: StreamedSurface, file: string])[] = [
  ['images', 'images/events'],
  ['images.edits', 'edits/events'],
  ['audio.transcriptions', 'transcriptions/events'],
  ['audio.transcriptions', 'transcriptions/diarized'],
  ['audio.speech', 'speech/events'],
];

const relayOf = (surface: StreamedSurface, isHeld = false): EventRelay =>
  new EventRelay({ surface, encoder: COMMON_WIRE.openEvents!(), isHeld, factsOf: () => ({}) });

function relayed(relay: EventRelay, pieces: readonly Buffer[]): string {
  return [...pieces.map((piece) => relay.push(piece)), relay.end()].join('');
}

describe('the relay of events', () => {
  for (const [surface, file] of FIXTURES) {
    it(`passes them on as they came, cut anywhere: ${file}`, () => {
      const text = Buffer.from(golden(`openai/${file}.sse`));
      const whole = relayOf(surface);
      expect(relayed(whole, [text])).to.equal(text.toString('latin1'));
      expect([whole.failure, whole.isFinished]).to.deep.equal([undefined, true]);
      const dice = new Dice(3);
      for (let round = 0; round < cases(300); round += 1) {
        const [one, two] = [dice.below(text.length), dice.below(text.length)].toSorted((a, b) => a - b) as [
          number,
          number,
        ];
        const relay = relayOf(surface);
        const pieces = [text.subarray(0, one), text.subarray(one, two), text.subarray(two)];
        expect(relayed(relay, pieces)).to.equal(text.toString('latin1'));
        expect(relay.reply()).to.deep.equal(whole.reply());
      }
    });

    it(`passes them on with other line ends, and holds them all back where it is asked to: ${file}`, () => {
      const text = golden(`openai/${file}.sse`);
      for (const end of ['\r\n', '\r']) {
        const bytes = Buffer.from(text.replaceAll('\n', end));
        expect(relayed(relayOf(surface), [bytes])).to.equal(bytes.toString('latin1'));
      }
      const held = relayOf(surface, true);
      expect(relayed(held, [Buffer.from(text)])).to.equal('');
      expect(held.isFinished).to.equal(true);
    });
  }

  it('reads what was said, and what it cost, from the last event', () => {
    const relay = relayOf('audio.transcriptions');
    relayed(relay, [Buffer.from(golden('openai/transcriptions/diarized.sse'))]);
    const { body, billed } = relay.reply() as unknown as { body: Buffer; billed: object };
    expect(JSON.parse(body.toString())).to.deep.equal({
      text: 'Six. Thanks.',
      usage: { type: 'duration', seconds: 2 },
    });
    expect(billed).to.deep.equal({ seconds: 2 });
  });

  it('reads use from the end of an event that is too long to be parsed, and from no text that looks like it', () => {
    const image = 'A'.repeat(5 * 1024 * 1024);
    const event = JSON.stringify({
      type: 'image_generation.completed',
      b64_json: image,
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7, note: '"} \\' },
      prompt: '"usage":{"input_tokens":999}',
    });
    const relay = relayOf('images');
    relayed(relay, [Buffer.from(`data: ${event}\n\n`)]);
    expect(relay.isFinished).to.equal(true);
    expect(relay.reply()).to.have.nested.property('usage.prompt_tokens', 3);
    const quoted = JSON.stringify({ type: 'x', b64_json: image, text: 'say "image_generation.completed"' });
    const other = relayOf('images');
    other.push(Buffer.from(`data: ${quoted}\n\n`));
    expect(other.isFinished).to.equal(false);
  });

  it('reads no more of a long event than its end', () => {
    const far = `{"usage":{"input_tokens":1},"b64_json":"${'A'.repeat(MAX_PARSED)}"}`;
    expect(membersOf(far)).to.equal(undefined);
    const near = `{"b64_json":"${'A'.repeat(MAX_PARSED)}","usage" : {"input_tokens":1}}`;
    expect(membersOf(near)).to.deep.equal({ usage: { input_tokens: 1 } });
    for (const broken of ['"usage":', '"usage":{', '"usage":{"a":"', '"usage":7', '\\"usage":{}', '"usage"'])
      expect(membersOf(`{"b64_json":"${'A'.repeat(MAX_PARSED)}",${broken}`), broken).to.equal(undefined);
  });

  it('takes work in proportion to what comes: a long event in small pieces, many events, ends full of what looks like use', async () => {
    const deltas = (size: number): string =>
      '{"type":"transcript.text.delta","delta":"x"}'.replace(/^.*$/, (event) => `data: ${event}\n\n`.repeat(size));
    for (const [surface, make, step] of [
      ['images', (size) => `data: {"b64_json":"${'A'.repeat(size * 1000)}"}\n\n`, 1024],
      ['audio.transcriptions', (size) => deltas(size * 10), 4096],
      ['images', (size) => `data: {"b64_json":"${'A'.repeat(MAX_PARSED)}",${'"usage":{'.repeat(size)}\n\n`, 65_536],
    ] as readonly (readonly [StreamedSurface, (size: number) => string, number])[])
      await expectProportion(400, (size) => {
        const text = Buffer.from(make(size));
        return () => {
          const relay = relayOf(surface);
          for (let at = 0; at < text.length; at += step) relay.push(text.subarray(at, at + step));
          relay.end();
        };
      });
  });

  it('fails for a stream that ends early, and for an error, before or after the first event', () => {
    const [first = ''] = golden('openai/images/events.sse').split(/(?<=\n\n)/);
    for (const [text, message] of [
      [first, 'the provider sent an unusable answer'],
      ['data: {"error":{"message":"no"}}\n\n', 'the provider failed while answering'],
      [`${first}event: error\ndata: {}\n\n`, 'the provider failed while answering'],
    ] as const) {
      const relay = relayOf('images');
      relayed(relay, [Buffer.from(text)]);
      expect(relay.failure?.message, text.slice(0, 40)).to.equal(message);
    }
  });
});
