import { expect } from 'chai';
import { bytesOfText, dataOf, EventReader, LineCutter, textOfBytes } from '../../host/upstream/sse.ts';

/** Lines that a cutter yields for these pieces. */
function linesOf(pieces: readonly Buffer[]): string[] {
  const cutter = new LineCutter();
  const text = pieces.map((piece) => cutter.push(piece)).join('') + cutter.end();
  return text.split(/\r\n|\n|\r/).slice(0, -1);
}

describe('line cutter', () => {
  it('yields the same lines wherever the bytes are cut', () => {
    const body = Buffer.from('\ufeffone\r\ntwo\n\nthree\rfour\r\n\r\n\u00e9\ud83d\ude00\nlast');
    const whole = linesOf([body]);
    expect(whole.map(textOfBytes).filter((line) => line !== '')).to.deep.equal(['one', 'two', 'three', 'four', '\u00e9\ud83d\ude00', 'last']);
    for (let first = 0; first <= body.length; first += 1) {
      for (let second = first; second <= body.length; second += 1) {
        expect(linesOf([body.subarray(0, first), body.subarray(first, second), body.subarray(second)]), `${first} ${second}`).to.deep.equal(whole);
      }
    }
  });

  it('says how many bytes it holds back', () => {
    const cutter = new LineCutter();
    cutter.push(Buffer.from('done\nhalf'));
    expect(cutter.heldBytes).to.equal(4);
    cutter.push(Buffer.from(' \u00e9'));
    expect(cutter.heldBytes).to.equal(7);
    cutter.push(Buffer.from('\n'));
    expect(cutter.heldBytes).to.equal(0);
  });

  it('drops only a byte order mark that comes first', () => {
    expect(linesOf([Buffer.from('a\n\ufeffb\n')]).map(textOfBytes)).to.deep.equal(['a', '\ufeffb']);
  });
});

describe('byte strings', () => {
  it('turn into text and back', () => {
    for (const text of ['', 'plain', '\u00e9\u00ff', '\ud83d\ude00', '\u0000\u007f\u0080']) expect(textOfBytes(bytesOfText(text))).to.equal(text);
    expect(bytesOfText('\u00e9')).to.have.length(2);
  });
});

describe('data lines', () => {
  for (const [line, data] of [
    ['data: x', 'x'], ['data:x', 'x'], ['data:  x', ' x'], ['data:', ''], ['data: ', ''], ['data', undefined], [' data: x', undefined], ['Data: x', undefined], ['event: x', undefined], [': data: x', undefined],
  ] as const) {
    it(`${JSON.stringify(line)} holds ${JSON.stringify(data)}`, () => { expect(dataOf(line)).to.equal(data); });
  }
});

describe('event reader', () => {
  const read = (text: string): object[] => {
    const reader = new EventReader();
    return [...reader.push(Buffer.from(text)), ...reader.end()];
  };

  it('joins the data lines of an event, and forgets its name after it', () => {
    expect(read('event: a\ndata: 1\ndata:2\n\ndata: 3\n\n')).to.deep.equal([{ type: 'a', data: '1\n2' }, { type: '', data: '3' }]);
  });

  it('reads the last event although its blank line is missing', () => {
    expect(read('event: a\ndata: 1')).to.deep.equal([{ type: 'a', data: '1' }]);
  });

  it('yields nothing for events without data', () => {
    expect(read('event: a\n\nid: 1\n\n: c\n\n\n')).to.deep.equal([]);
  });
});
