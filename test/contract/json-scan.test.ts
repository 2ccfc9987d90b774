import { expect } from 'chai';
import { readings } from '../../host/contract/text/client-body.ts';
import { tryParseJson } from '../../host/contract/json/json.ts';
import { mayBeJson } from '../../host/contract/json/json-scan.ts';
import { cases, Dice } from '../kit/index.ts';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const TEXTS = [
  '{"a":[1,-0.5e+7,true,false,null,"x\\u00e9\\n",{}]}',
  '[]',
  ' [ 1 , 2 ] ',
  '"a"',
  '""',
  '"\\""',
  '"\u2028"',
  '[1E5]',
  '{"":""}',
  '\n\t\r {}',
  '',
  '[',
  '{',
  '"',
  '[x]',
  '[1,]',
  '[,1]',
  '[1 1]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  '{}x',
  '[]]',
  '""x"',
  '"\\x"',
  '"\\u12"',
  '"\\"',
  '"a\nb"',
  '[01]',
  '[+1]',
  '[1.]',
  '[.5]',
  '[1e]',
  '[-]',
  '[tru]',
  '[truex]',
  '[NaN]',
  "['a']",
  '[1]\u00a0',
  '\ufeff[]',
  '[1]//',
  '{"a":1 "b":2}',
  '[1e400]',
  '--',
  '[1-1]',
  '[1,\u000b2]',
];
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  'u00e9',
  '\\u00',
  'a',
  '1',
  '-',
  '.',
  'e',
  '+',
  '0',
  'true',
  'null',
  'false',
  ' ',
  '\n',
  '\u0001',
  'é',
  '\ud800',
  '"a"',
  '"a":1',
];

describe('a short text', () => {
  it('is taken for JSON where it is, and for nothing else', () => {
    for (const text of TEXTS) expect(mayBeJson(text), JSON.stringify(text)).to.equal(isJson(text));
  });

  it('is taken for what JSON.parse takes it for, whatever it is made of', () => {
    const dice = new Dice(7);
    for (let at = 0; at < cases(20_000); at += 1) {
      const made = Array.from({ length: dice.below(12) }, () => dice.pick(PIECES)).join('');
      const base = dice.pick(TEXTS);
      const cut = dice.below(base.length + 1);
      for (const text of [
        made,
        `[${made}]`,
        base.slice(0, cut) + dice.pick(PIECES) + base.slice(cut),
        base.slice(0, cut) + base.slice(cut + 1),
      ])
        expect(mayBeJson(text), JSON.stringify(text)).to.equal(isJson(text));
    }
  });

  it('that begins like JSON is not parsed to be read where it is none, or holds no string', () => {
    const { parse } = JSON;
    const parsed: string[] = [];
    JSON.parse = (text: string) => {
      parsed.push(text);
      return parse(text) as unknown;
    };
    try {
      expect(tryParseJson('')).to.equal(undefined);
      for (const text of ['[', '[x]', '[1,]', '{}x', '"', '"a" b', '[]', '[1]', '{"a":}', '["a"]', '{"a":"b"}'])
        expect([...readings(text)][0]).to.equal(text);
    } finally {
      JSON.parse = parse;
    }
    expect(parsed).to.deep.equal(['["a"]', '{"a":"b"}']);
  });

  it('may be JSON where it is long, or nested deep', () => {
    for (const text of ['['.repeat(1001), '['.repeat(490) + ']'.repeat(490)]) expect(mayBeJson(text)).to.equal(true);
  });
});
