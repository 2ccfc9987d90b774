import { expect } from 'chai';
import { canonicalJson } from '../../host/config/canonical.ts';

describe('canonical JSON', () => {
  it('is one text for maps that differ in the order of their keys, at any depth', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: { z: 1, y: 2 } })).to.equal(
      '{"a":{"y":2,"z":1},"b":[{"c":2,"d":1}]}',
    );
    expect(canonicalJson({ a: 1, b: 2 })).to.equal(canonicalJson({ b: 2, a: 1 }));
  });

  it('is another text for lists in another order', () => {
    expect(canonicalJson([1, 2])).to.not.equal(canonicalJson([2, 1]));
  });

  it('tells null, an empty map, an empty list and empty text apart', () => {
    const texts = [null, {}, [], '', 0, false].map(canonicalJson);
    expect(new Set(texts).size).to.equal(texts.length);
  });

  it('tells a number from its text', () => {
    expect(canonicalJson({ a: 1 })).to.not.equal(canonicalJson({ a: '1' }));
  });

  it('writes 1 and 1.0 alike', () => {
    expect(canonicalJson(JSON.parse('[1.0, 1e1]'))).to.equal(canonicalJson(JSON.parse('[1, 10]')));
  });

  it('leaves out what is undefined, and writes nothing at all as null', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).to.equal('{"b":1}');
    expect(canonicalJson(undefined)).to.equal('null');
  });

  it('sorts keys that look like numbers or hold any character', () => {
    expect(canonicalJson({ é: 1, 10: 2, 9: 3, '"': 4 })).to.equal(canonicalJson({ '"': 4, 9: 3, 10: 2, é: 1 }));
  });
});
