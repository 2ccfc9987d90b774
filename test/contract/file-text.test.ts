import { expect } from 'chai';
import { textOfFile } from '../../host/contract/text/file-text.ts';
import { cases, Dice } from '../kit/index.ts';

/** Bytes that begin, continue and end characters of every length, and some that do neither. */
const BYTES = [
  0x41, 0xbb, 0xbd, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf1, 0xf4,
  0xf5, 0xff,
];

function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

describe('a file that does not say what it is', () => {
  it('is a text where its bytes are UTF-8, cut off within the last character or not', () => {
    const dice = new Dice(11);
    for (let at = 0; at < cases(50_000); at += 1) {
      const bytes = Buffer.from([0x41, ...Array.from({ length: dice.below(6) }, () => dice.pick(BYTES))]);
      expect(textOfFile(`data:application/x;base64,${bytes.toString('base64')}`), bytes.toString('hex')).to.equal(
        decoded(bytes),
      );
    }
  });
});
