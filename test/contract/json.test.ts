import { expect } from 'chai';
import { isRawNumber, parseExactJson, parseJson } from 'gw/contract';
import { ANSWER_BOUNDS, isNestedTooDeep, MAX_DEPTH } from '../../host/contract/json/json-shape.ts';
import { Dice } from '../kit/index.ts';

/** Parses by the language's own means, for each value at the price of all. */
function reference(text: string): unknown {
  const keep = (_name: string, value: unknown, { source }: { readonly source?: string }): unknown => {
    const isLossy =
      typeof value === 'number' &&
      (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)));
    return isLossy && source !== undefined
      ? (JSON as unknown as { rawJSON(text: string): object }).rawJSON(source)
      : value;
  };
  return JSON.parse(text, keep as never);
}

const INTEGERS = [
  '9007199254740993',
  '-9007199254740993',
  '123456789012345678901234567890',
  '9007199254740991',
  '-9007199254740991',
  '1234567890123456',
  '1e400',
  '-1E+400',
  '1e-400',
  '1e3',
  '0.12345678901234567890',
  '1.7976931348623157e308',
  '5',
  '-0',
  '0',
];
/** None begins with a backslash: the parser of Node 26 takes a later name that begins with an escape for such a one. */
const NAMES = ['a', 'b', '__proto__', 'constructor', 'rawJSON', '0', '7', 'a\\"b', '\\u0061', 'a\\\\', ''];
const STRINGS = ['""', '"9007199254740993"', '"1e400"', '"{\\"a\\":[1e400"', '"\\\\"', '"\\\\\\""', '"]}"'];

/** A JSON text with every trap: names twice, escapes, marks and numbers inside strings, blanks. */
function textOf(dice: Dice, depth: number): string {
  const blank = (): string => dice.pick(['', '', '', ' ', '\n', '\t']);
  const kind = depth === 0 ? 0 : dice.below(3);
  if (kind === 0) return dice.pick([...INTEGERS, ...INTEGERS, ...STRINGS, 'null', 'true', 'false']);
  const size = dice.below(4);
  if (kind === 1)
    return `[${blank()}${Array.from({ length: size }, () => textOf(dice, depth - 1)).join(`${blank()},${blank()}`)}${blank()}]`;
  return `{${blank()}${Array.from({ length: size }, () => `"${dice.pick(NAMES)}"${blank()}:${blank()}${textOf(dice, depth - 1)}`).join(`${blank()},`)}${blank()}}`;
}

describe('JSON whose numbers are kept as they were written', () => {
  it('is what the language makes of it number by number, of any text', () => {
    for (let seed = 0; seed < 5000; seed += 1) {
      const text = textOf(new Dice(seed), 5);
      const [expected, found] = [reference(text), parseExactJson(text)];
      if (typeof expected === 'object' && !isRawNumber(expected))
        expect(JSON.stringify(found), `seed ${seed}: ${JSON.stringify(text)}`).to.equal(JSON.stringify(expected));
    }
  });

  it('means the last of equal names, whatever stood in its place before', () => {
    for (const text of [
      '{"a":1e400,"a":1}',
      '{"a":1,"a":1e400}',
      '{"a":9007199254740993,"a":9007199254740995}',
      '{"a":{"x":1e400},"a":{"x":1e401}}',
      '{"a":{"x":1e400},"a":{"x":2}}',
      '{"a":[1e400],"a":{"0":1e401}}',
      '{"a":{"0":1e400},"a":[1e401]}',
      '{"a":1e400,"a":{"rawJSON":1e400},"a":1e401}',
      '{"a":[[1e400]],"a":[1e401]}',
      '{"\\u0061":1e400,"a":1e401}',
    ])
      expect(JSON.stringify(parseExactJson(text)), text).to.equal(JSON.stringify(reference(text)));
  });

  it('costs a little more where such a number stands among a million others', () => {
    const ones = Array.from({ length: 1_000_000 }, () => '1').join(',');
    const cpuMs = (text: string): number =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const start = process.cpuUsage();
          parseExactJson(text);
          const { user, system } = process.cpuUsage(start);
          return (user + system) / 1000;
        }),
      );
    expect(cpuMs(`[${ones},9007199254740993,1e400]`) / cpuMs(`[${ones},1,1]`), 'times the CPU').to.be.below(12); // a value at a time it was above 40
  });
});

describe('numbers that no double holds', () => {
  const list = (count: number): string => `[${'1e400,'.repeat(count - 1)}12345678901234567890]`;

  it('are kept up to a quarter of a million of them, each being an object of its own', () => {
    expect((parseExactJson(list(250_000)) as unknown[]).every(isRawNumber)).to.equal(true);
    expect(() => parseExactJson(list(250_001))).to.throw(RangeError, 'larger than 250000 numbers that no double holds');
    expect(parseJson(list(250_001))).to.have.length(250_001);
  });
});

describe('JSON from outside', () => {
  const nested = (levels: number, left: string, right: string): string =>
    `${left.repeat(levels)}1${right.repeat(levels)}`;
  for (const [what, left, right, levelsEach] of [
    ['lists', '[', ']', 1],
    ['objects', '{"a":', '}', 1],
    ['both', '[{"a":', '}]', 2],
  ] as const) {
    it(`may be ${MAX_DEPTH} levels deep and no deeper: ${what}`, () => {
      for (const parse of [parseJson, parseExactJson]) {
        expect(() => parse(nested(MAX_DEPTH / levelsEach, left, right))).not.to.throw();
        for (const levels of [MAX_DEPTH / levelsEach + 1, 5000, 30_000, 3_000_000]) {
          expect(() => parse(nested(levels, left, right)), String(levels)).to.throw(
            RangeError,
            `nested deeper than ${MAX_DEPTH} levels`,
          );
          expect(() => parse(`{"a":${nested(levels, left, right)},"a":1`), `${levels}, cut`).to.throw();
        }
      }
    });
  }

  it('is not parsed where its shape alone would take gigabytes', () => {
    const list = (item: string, count: number): string => `[${Array.from({ length: count }, () => item).join(',')}]`;
    const object = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"${at}x":1`).join(',')}}`;
    for (const [bounds, fields, members, containers] of [
      [undefined, 25_000, 250_000, 1_000_000],
      [ANSWER_BOUNDS, 100_000, 1_000_000, 4_000_000],
    ] as const) {
      expect(() => parseJson(object(fields), bounds)).not.to.throw();
      expect(() => parseJson(list(object(fields), 2), bounds), 'each object by itself').not.to.throw();
      expect(
        () => parseJson(`{"a":${object(10)},${object(fields - 1).slice(1)}`, bounds),
        'an object inside counts as one',
      ).not.to.throw();
      expect(() => parseJson(object(fields + 1), bounds)).to.throw(
        RangeError,
        `larger than ${fields} members of one object`,
      );
      expect(() => parseJson(list('{"a":1}', members + 1), bounds)).to.throw(
        RangeError,
        `larger than ${members} members of objects`,
      );
      expect(() => parseJson(list('[]', containers), bounds)).to.throw(
        RangeError,
        `larger than ${containers} lists and objects`,
      );
    }
    const small = { fields: 10, members: 10, containers: 1000 };
    expect(() => parseJson(list('[]', 1001), small), 'a small one is harmless').not.to.throw();
    expect(() => parseJson(list('[]', 20_001), small)).to.throw(RangeError);
    expect(() => parseJson(list('{}', 20_001), small)).to.throw(RangeError);
    expect(() => parseJson(list('"[{:"', 20_001), small), 'texts are not looked into').not.to.throw();
    expect(() => parseJson(list('"\\"[{:\\\\"', 20_001), small), 'nor behind escapes').not.to.throw();
  });

  it('that is not JSON is a syntax error', () => {
    for (const text of [
      '',
      '{',
      '[1,]',
      '"',
      `{"a":"${'x'.repeat(30_000)}`,
      `${'['.repeat(100)}${'":'.repeat(30_000)}`,
    ])
      expect(() => parseJson(text), text.slice(0, 20)).to.throw(SyntaxError);
  });

  it('is known to be too deep without being parsed', () => {
    for (const [text, isDeep] of [
      ['', false],
      ['x', false],
      [nested(MAX_DEPTH, '[', ']'), false],
      [nested(MAX_DEPTH + 1, '[', ']'), true],
      [nested(2_000_000, '{"a":', ''), true],
      [JSON.stringify({ a: '['.repeat(1000) }), false],
      [JSON.stringify({ a: '\\"['.repeat(1000) }), false],
      [`[${'[],'.repeat(1000)}[]]`, false],
      [`"${'['.repeat(1000)}`, false],
    ] as const)
      expect(isNestedTooDeep(text), text.slice(0, 20)).to.equal(isDeep);
  });
});
