import { expect } from 'chai';
import { bytesOfText, dataOf, EventReader, LineCutter, textOfBytes } from '../../host/upstream/sse.ts';
import { type RawEvent, RawEventReader } from '../../host/upstream/raw-events.ts';

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
    expect(whole.map(textOfBytes).filter((line) => line !== '')).to.deep.equal([
      'one',
      'two',
      'three',
      'four',
      '\u00e9\ud83d\ude00',
      'last',
    ]);
    for (let first = 0; first <= body.length; first += 1) {
      for (let second = first; second <= body.length; second += 1) {
        expect(
          linesOf([body.subarray(0, first), body.subarray(first, second), body.subarray(second)]),
          `${first} ${second}`,
        ).to.deep.equal(whole);
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
    for (const text of ['', 'plain', '\u00e9\u00ff', '\ud83d\ude00', '\u0000\u007f\u0080'])
      expect(textOfBytes(bytesOfText(text))).to.equal(text);
    expect(bytesOfText('\u00e9')).to.have.length(2);
  });
});

describe('data lines', () => {
  for (const [line, data] of [
    ['data: x', 'x'],
    ['data:x', 'x'],
    ['data:  x', ' x'],
    ['data:', ''],
    ['data: ', ''],
    ['data', undefined],
    [' data: x', undefined],
    ['Data: x', undefined],
    ['event: x', undefined],
    [': data: x', undefined],
  ] as const) {
    it(`${JSON.stringify(line)} holds ${JSON.stringify(data)}`, () => {
      expect(dataOf(line)).to.equal(data);
    });
  }
});

describe('event reader', () => {
  const read = (text: string): object[] => {
    const reader = new EventReader();
    return [...reader.push(Buffer.from(text)), ...reader.end()];
  };

  it('joins the data lines of an event, and forgets its name after it', () => {
    expect(read('event: a\ndata: 1\ndata:2\n\ndata: 3\n\n')).to.deep.equal([
      { type: 'a', data: '1\n2' },
      { type: '', data: '3' },
    ]);
  });

  it('reads the last event although its blank line is missing', () => {
    expect(read('event: a\ndata: 1')).to.deep.equal([{ type: 'a', data: '1' }]);
  });

  it('yields nothing for events without data', () => {
    expect(read('event: a\n\nid: 1\n\n: c\n\n\n')).to.deep.equal([]);
  });
});

describe('reader of whole events with their bytes', () => {
  const STREAMS = [
    'event: a\ndata: 1\n\nevent: b\ndata:2\n\n',
    'data: 1\n\ndata: 2\ndata: 3\n\n',
    '\n\ndata: 1\n\n\n\ndata: 2\n\n\n',
    ': c\n\nevent: a\n\nid: 1\ndata: 1\nevent: a\n\n',
    'event: a\ndata: \u00e9\n\ndata: "last"',
    'event:a\ndata: {"a":1}\n\n: b',
    'event: a\nretry: 1\ndata: 1\n\n',
    'data:\n\ndata: \n\ndata\n\n',
    'event: a\n\ndata: 1\n\n',
    'data: 1\n \n\ndata: 2\n\n',
  ];

  it('cuts every stream as one whose lines end with CRLF, wherever its bytes are cut, and loses none of them', () => {
    for (const stream of STREAMS) {
      const whole = Buffer.from(stream);
      const expected = readRaw([Buffer.from(stream.replaceAll('\n', '\r\n'))]).map(({ type, data }) => ({
        type,
        data,
      }));
      for (let cut = 0; cut <= whole.length; cut += 1) {
        const events = readRaw([whole.subarray(0, cut), whole.subarray(cut)]);
        expect(
          events.map(({ type, data }) => ({ type, data })),
          `${JSON.stringify(stream)} at ${cut}`,
        ).to.deep.equal(expected);
        expect(
          events
            .map(({ raw }) => raw)
            .join('')
            .replace(/\n+$/, ''),
        ).to.equal(whole.toString('latin1').replace(/\n+$/, ''));
      }
    }
  });

  it('ends what is left with a blank line, wherever the stream ends: what follows is an event of its own', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const stream = Buffer.from(`event: a${end}data: {"a":1}${end}${end}: c${end}${end}data: {"b":2}${end}${end}`);
      for (let cut = 0; cut <= stream.length; cut += 1) {
        const passed = readRaw([stream.subarray(0, cut)])
          .map(({ raw }) => raw)
          .join('');
        const after = readRaw([Buffer.from(`${passed}data: "more"\n\n`, 'latin1')])
          .map(({ data }) => data)
          .filter((data) => data !== '');
        expect(['"more"', '{"a":1} "more"', '{"a":1} {"b":2} "more"'], `${JSON.stringify(end)} at ${cut}`).to.include(
          after.join(' '),
        );
      }
    }
  });

  it('drops the half of an event with which the stream ends', () => {
    for (const half of ['event: b', 'event: b\ndata', 'data: {"b":', 'data: {"b":1}\ndata: 2', 'id: 1']) {
      expect(
        readRaw([Buffer.from(`data: {"a":1}\n\n${half}`)]).map(({ raw }) => raw),
        half,
      ).to.deep.equal(['data: {"a":1}\n\n']);
    }
  });

  function readRaw(reads: readonly Buffer[]): RawEvent[] {
    const reader = new RawEventReader();
    return [...reads.flatMap((bytes) => reader.push(bytes)), ...reader.end()];
  }
});
