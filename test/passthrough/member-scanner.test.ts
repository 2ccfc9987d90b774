import { expect } from 'chai';
import { MemberScanner } from '../../builtins/passthrough/models/member-scanner.ts';

function scanned(text: string, cut: number): MemberScanner {
  const scanner = new MemberScanner(['model', 'n']);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += cut) scanner.push(bytes.subarray(at, at + cut));
  return scanner;
}

const CASES: readonly (readonly [text: string, model: unknown])[] = [
  ['{"model":"m"}', 'm'],
  [' \r\n\t{ "a" : [ {"model":"x"}, "}" ], "model" : "m" } ', 'm'],
  ['{"mod\\u0065l":"\\ud83d\\ude00\\/ü"}', '😀/ü'],
  ['{"a":"\\\\","b":"\\"","c":"\\\\\\"","model":"m"}', 'm'],
  ['{"Model":"m"}', undefined],
  ['{"model":7}', 7],
  ['{"model":null}', null],
  ['{"model":{"model":"x"}}', undefined],
  ['{"a":{"model":"x"},"b":["model","y"]}', undefined],
  ['["model","m"]', undefined],
  ['model', undefined],
  ['{model:"m"}', undefined],
  ['{"a" "model":"m"}', undefined],
  [`{"a":${'[{"x":'.repeat(100_000)}1${'}]'.repeat(100_000)},"model":"m"}`, 'm'],
  [`{"model":"${'x'.repeat(20_000)}"}`, undefined],
];

describe('the scanner of members', () => {
  for (const cut of [1, 3, 7, 1_000_000]) {
    it(`finds the outermost model, and where it stands, in pieces of ${cut} bytes`, () => {
      for (const [text, model] of CASES) {
        const scanner = scanned(text, cut);
        const found = scanner.found.get('model');
        expect(found?.value, text.slice(0, 60)).to.equal(model);
        if (found && typeof model === 'string')
          expect(JSON.parse(Buffer.from(text).subarray(found.start, found.end).toString())).to.equal(model);
      }
    });

    it(`sees a name that stands there twice, in pieces of ${cut} bytes`, () => {
      expect(scanned('{"model":"a","x":{},"mo\\u0064el":[1]}', cut).repeated).to.deep.equal(new Set(['model']));
      expect(scanned('{"model":"a","x":{"model":1}}', cut).repeated).to.deep.equal(new Set());
      expect(scanned('{"MODEL":"a"}', cut).misspelt).to.equal('MODEL');
    });

    it(`counts members as JSON has them, in pieces of ${cut} bytes`, () => {
      expect(scanned('{"a":{"b":1,"b":[{"c":":"}]},"d":"{\\":"}', cut).members).to.equal(5);
    });
  }
});
