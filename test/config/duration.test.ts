import { expect } from 'chai';
import { parseDuration } from '../../host/contract/duration.ts';
import { expectProportion } from '../kit/index.ts';

/** Text and milliseconds. See docs/configuration.md#the-document. */
const VALID: Readonly<Record<string, number>> = {
  '30s': 30_000,
  '500ms': 500,
  '1h30m': 5_400_000,
  '1.5s': 1500,
  '720h': 2_592_000_000,
  '0': 0,
  '0s': 0,
  '1m': 60_000,
  '1us': 0.001,
  '1µs': 0.001,
  '1μs': 0.001,
  '1000000ns': 1,
  '1h1m1s1ms': 3_661_001,
  '.5s': 500,
  '2.s': 2000,
  '-5m': -300_000,
  '+1s': 1000,
  '1s1s': 2000,
};

const INVALID = [
  '',
  '30',
  '5 minutes',
  '1d',
  'soon',
  '1 s',
  ' 1s',
  '1s ',
  '1S',
  '1H',
  '-',
  '+',
  '--1s',
  '.s',
  '1..5s',
  '1,5s',
  '1e3s',
  's',
  '1s30',
  '30s1',
  '00',
  '1m-1s',
  'Infinity',
  'NaN',
  '0x1s',
  '٣s',
  '1s\n',
];

describe('a duration', () => {
  for (const [text, ms] of Object.entries(VALID)) {
    it(`"${text}" is ${ms} ms`, () => {
      expect(parseDuration(text)).to.be.closeTo(ms, 1e-9);
    });
  }

  for (const text of INVALID) {
    it(`${JSON.stringify(text)} is refused`, () => {
      expect(parseDuration(text)).to.equal(undefined);
    });
  }

  for (const [unit, end] of [
    ['1s', 'x'],
    ['9', ''],
  ] as const) {
    it(`may be long, and takes work in proportion: ${unit}`, async () => {
      expect(parseDuration(`${unit.repeat(100_000)}${end}`)).to.equal(undefined);
      await expectProportion(50_000, (count) => {
        const text = `${unit.repeat(count)}${end}`;
        return () => parseDuration(text);
      });
    });
  }
});
