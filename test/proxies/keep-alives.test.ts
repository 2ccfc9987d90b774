import { expect } from 'chai';
import { eventually, some } from '../kit/index.ts';
import { FORWARDED, GUARDS, silence, silentGateway, type StreamedWire, WIRES } from './kit.ts';

/** Models of a wire: one whose target speaks another, and one of the wire's own vendor. */
const modelsOf = ({ vendor }: StreamedWire): readonly string[] =>
  vendor === 'openai-like' ? ['plain'] : ['plain', `${vendor}-own`];

const CASES = WIRES.flatMap((wire) =>
  modelsOf(wire).flatMap((model) =>
    (Object.keys(GUARDS) as (keyof typeof GUARDS)[]).map((guards) => ({ wire, model, guards })),
  ),
);
const [CHAT] = WIRES as [StreamedWire];

describe('a silent stream', () => {
  for (const { wire, model, guards } of some(CASES))
    it(`says that it goes on between two events: ${wire.name}, model ${model}, guards ${guards}`, async () => {
      const { clock, call, stream: open, untilStarted } = await silentGateway({ guards });
      const stream = open(wire, model);
      const upstream = await call(0);
      upstream.begin();
      await untilStarted();
      // A window holds the text back, and Gemini's events have nothing else in them.
      const isHeld = guards === 'verdict' || (guards === 'window' && wire.vendor === 'gemini');
      if (!isHeld) await stream.until((text) => text !== '');
      const { text: before } = stream;
      for (let quarter = 1; quarter <= 5; quarter += 1) {
        clock.advance(14_999);
        clock.advance(1);
        await stream.until((text) => text === silence(wire, before, quarter));
      }
      upstream.finish();
      await stream.over;
      expect(stream.text.startsWith(silence(wire, before, 5))).to.equal(true);
      expect(stream.text, 'the whole answer').to.match(/second|zur(ü|\\u00fc)ck/);
      const numbers = [...stream.text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
      expect(numbers).to.deep.equal(numbers.map((_, at) => at));
      expect(clock.waiting, 'timers').to.equal(0);
    });

  for (const [keepalive, ms] of [
    ['2s', 2000],
    ['60s', 60_000],
    ['off', undefined],
    ['0', undefined],
  ] as const)
    it(`takes its time from streaming.keepalive: ${keepalive}`, async () => {
      const { clock, call, stream: open, host } = await silentGateway({ streaming: { keepalive } });
      const stream = open(CHAT, 'plain');
      const upstream = await call(0);
      upstream.begin();
      await stream.until((text) => text.includes('first'));
      const { text: before } = stream;
      clock.advance((ms ?? 119_999) - 1);
      clock.advance(1);
      if (ms !== undefined) await stream.until((text) => text === before + CHAT.late);
      upstream.finish();
      await stream.over;
      expect(stream.text.split(CHAT.late)).to.have.length(ms === undefined ? 1 : 2);
      expect(host.lines.filter(({ rule }) => rule === 'WN61')).to.deep.equal([]);
    });

  it('counts its silence from the last write', async () => {
    const { clock, call, stream: open, untilStarted } = await silentGateway();
    const stream = open(CHAT, 'plain');
    const upstream = await call(0);
    clock.advance(14_000);
    upstream.begin();
    await untilStarted();
    clock.advance(14_999);
    upstream.finish();
    await stream.over;
    expect(stream.text).not.to.include(CHAT.late);
  });

  for (const wire of WIRES)
    it(`ends all the same where its upstream is silent for two minutes: ${wire.name}`, async () => {
      const { clock, call, stream: open, host } = await silentGateway();
      const stream = open(wire, 'plain');
      (await call(0)).begin();
      await stream.until((text) => text.includes('first'));
      const { text: before } = stream;
      for (let quarter = 1; quarter < 8; quarter += 1) clock.advance(15_000);
      await stream.until((text) => text === silence(wire, before, 7));
      expect(stream.isOver).to.equal(false);
      clock.advance(15_000);
      await stream.over;
      expect(host.lines.some(({ msg }) => msg === 'stream response timed out waiting for next chunk')).to.equal(true);
      expect(clock.waiting).to.equal(0);
    });

  for (const wire of WIRES)
    it(`ends with an error that is whole by itself where nothing else had left: ${wire.name}`, async () => {
      const { clock, call, stream: open, untilStarted } = await silentGateway({ guards: 'verdict' });
      const stream = open(wire, 'plain');
      const upstream = await call(0);
      upstream.begin();
      await untilStarted();
      clock.advance(15_000);
      await stream.until((text) => text === wire.early);
      upstream.response.destroy();
      await stream.over;
      const { message } = wire.failure(stream.text);
      expect(message).to.be.a('string');
      if (wire.minute) expect(stream.text).to.include('"type":"response.created","sequence_number":0,');
    });

  it('lives for ten minutes under a guardrail that lets nothing through, as long as its upstream writes', async () => {
    const { clock, call, stream: open, judged, untilStarted } = await silentGateway({ guards: 'verdict' });
    const stream = open(CHAT, 'plain');
    const upstream = await call(0);
    upstream.begin();
    await untilStarted();
    for (let minute = 1; minute <= 10; minute += 1) {
      const before = judged();
      upstream.response.write('data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n');
      await eventually(() => judged() > before);
      for (let quarter = 0; quarter < 4; quarter += 1) clock.advance(15_000);
      await stream.until((text) => text === CHAT.early.repeat(4 * minute));
    }
    upstream.finish();
    await stream.over;
    expect(stream.text).to.match(/data: \[DONE\]\n\n$/);
  });

  it('is left as it is where the bytes are those of the vendor', async () => {
    const { clock, call, stream: open } = await silentGateway();
    const stream = open(FORWARDED, 'plain');
    const upstream = await call(0);
    upstream.begin();
    await stream.until((text) => text === upstream.halves[0]);
    clock.advance(100_000);
    upstream.finish();
    await stream.over;
    expect(stream.text).to.equal(upstream.halves.join(''));
  });
});
