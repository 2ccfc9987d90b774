import { expect } from 'chai';
import { isFields, parseExactJson, setMember } from '../../host/contract/index.ts';
import { changedJson, repeats } from '../../host/wire/json-changes.ts';

const TEXT =
  '{ "model" : "a",\n "mod\\u0065l2":1.0, "n": 12345678901234567890, "x": {"k":1,"k":2, "s":"\\u00e9 \\/ \\ud83d\\ude00"} , "list":[ 1.50 , {"a":"b"},[ ] ,"c" ],"__proto__":{"y":1}, "e": {} }';

/** The text with one change, made in a copy that shares the rest. */
function changed(change: (value: Record<string, unknown>) => Record<string, unknown>, text = TEXT): string {
  const before = parseExactJson(text) as Record<string, unknown>;
  return changedJson(text, before, change(before));
}

describe('a JSON text with a change', () => {
  it('is the same text where nothing differs', () => {
    expect(changed((value) => value)).to.equal(TEXT);
    expect(changed((value) => ({ ...value }))).to.equal(TEXT);
  });

  it('differs in the bytes of the value alone', () => {
    expect(changed((value) => ({ ...value, model: 'b"\n' }))).to.equal(TEXT.replace('"a",', '"b\\"\\n",'));
    expect(
      changed((value) => ({
        ...value,
        list: (value['list'] as unknown[]).map((item) => (isFields(item) ? { ...item, a: 'z' } : item)),
      })),
    ).to.equal(TEXT.replace('"a":"b"', '"a":"z"'));
    expect(changed((value) => ({ ...value, x: { ...(value['x'] as object), s: 'plain' } }))).to.match(
      /"x": \{"k":2, "s":"plain"\}|"s":"plain"/,
    );
  });

  it('finds a name however it is written', () => {
    expect(changed((value) => ({ ...value, model2: 2 }))).to.equal(TEXT.replace('1.0', '2'));
  });

  it('loses what is gone, and ends with what is new', () => {
    const text = '{"a":1, "b":2 ,"c":[1, 2,3]}';
    expect(changed(({ b: _b, ...rest }) => rest, text)).to.equal('{"a":1,"c":[1, 2,3]}');
    expect(changed((value) => ({ ...value, d: 'new' }), text)).to.equal('{"a":1,"b":2,"c":[1, 2,3],"d":"new"}');
    expect(changed((value) => ({ ...value, c: (value['c'] as unknown[]).slice(1) }), text)).to.equal(
      '{"a":1, "b":2 ,"c":[2,3]}',
    );
    expect(changed(() => ({}), '{}')).to.equal('{}');
    expect(changed((value) => ({ ...value, a: [] }), '{"a":[{"b":1}]}')).to.equal('{"a":[]}');
  });

  it('keeps the bytes inside items that change while others of their list go', () => {
    const text = '{"list":[ {"a":1.0, "b":"\\u0067"} , {"gone":1}, {"kept" : 1}, {"c":2.50,"d":3} ]}';
    const listOf = (value: Record<string, unknown>): any[] => value['list'] as any[];
    expect(
      changed((value) => {
        const [first, , kept, last] = listOf(value);
        return { ...value, list: [{ ...first, e: 1 }, kept, { ...last, d: 4 }] };
      }, text),
    ).to.equal('{"list":[{"a":1.0,"b":"\\u0067","e":1},{"kept" : 1},{"c":2.50,"d":4}]}');
    expect(changed((value) => ({ ...value, list: ['new', ...listOf(value).slice(1), { f: 1 }] }), text)).to.equal(
      '{"list":["new",{"gone":1},{"kept" : 1},{"c":2.50,"d":3},{"f":1}]}',
    );
  });

  it('means what it should, wherever the change is', () => {
    const before = parseExactJson(TEXT) as Record<string, unknown>;
    for (const name of Object.keys(before)) {
      const after = { ...before };
      setMember(after, name, ['!', { deep: before[name] }]);
      expect(JSON.stringify(parseExactJson(changedJson(TEXT, before, after))), name).to.equal(JSON.stringify(after));
      delete after[name];
      expect(JSON.stringify(parseExactJson(changedJson(TEXT, before, after))), name).to.equal(JSON.stringify(after));
    }
  });

  it('says whether a name stands there twice', () => {
    expect(repeats(TEXT, 'model')).to.equal(false);
    expect(repeats(TEXT, 'k')).to.equal(false);
    expect(repeats('{"model":"a","mod\\u0065l":"b"}', 'model')).to.equal(true);
    expect(repeats(' { "a" : "model" , "b" : {"model":1}, "model":"x"}', 'model')).to.equal(false);
  });
});
