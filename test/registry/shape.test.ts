import { expect } from 'chai';
import {
  callable,
  distinct,
  either,
  fields,
  filled,
  type Finding,
  flag,
  listOf,
  matching,
  oneOf,
  recordOf,
  text,
} from '../../host/registry/shape.ts';

/** What is wrong, without what to write. */
const told = (findings: readonly Finding[]): string[] => findings.map(({ message }) => message);

describe('shapes', () => {
  it('say what is expected, and where', () => {
    expect(told(text('', 'a'))).to.deep.equal(['a must be text that is not empty']);
    expect(told(flag(1, 'a'))).to.deep.equal(['a must be true or false']);
    expect(told(callable({}, 'a'))).to.deep.equal(['a must be a function']);
    expect(told(oneOf('x', 'y')('z', 'a'))).to.deep.equal(['a must be one of x, y']);
    expect(told(matching(/^b+$/, 'some b')('c', 'a'))).to.deep.equal(['a must be some b']);
    expect(told(either('text or a function', text, callable)(7, 'a'))).to.deep.equal(['a must be text or a function']);
  });

  it('find nothing in what is as it should be', () => {
    const whole = fields({
      required: { name: text, items: distinct(filled(listOf(oneOf(1, 2)))) },
      optional: { more: recordOf(flag), run: either('text or a function', text, callable) },
    });
    expect(told(whole({ name: 'n', items: [1, 2], more: { a: true }, run: () => {} }, ''))).to.deep.equal([]);
    expect(told(whole({ name: 'n', items: [2], more: undefined }, ''))).to.deep.equal([]);
  });

  it('name every finding in an object, each with its whole path', () => {
    const inner = fields({ required: { env: listOf(text) } });
    const whole = fields({ required: { name: text, inner }, optional: { run: callable } });
    expect(told(whole({ inner: { env: ['a', 7, ''], odd: 1 }, run: 'x', other: 1 }, ''))).to.deep.equal([
      'name is required',
      'inner.env[1] must be text that is not empty',
      'inner.env[2] must be text that is not empty',
      'inner.odd is not a field that a module of this kind has',
      'run must be a function',
      'other is not a field that a module of this kind has',
    ]);
  });

  it('take no list, no null and no text for an object', () => {
    for (const value of [[], null, 'x', 7, () => {}]) {
      expect(told(fields({})(value, 'a')), String(value)).to.deep.equal(['a must be an object']);
      expect(told(recordOf(text)(value, 'a')), String(value)).to.deep.equal(['a must be an object']);
    }
  });

  it('find gaps, repetition and emptiness in lists', () => {
    expect(told(listOf(text)('abc', 'a'))).to.deep.equal(['a must be a list']);
    expect(told(listOf(text)(Object.assign(Array.from({ length: 2 }), { 1: 'x' }), 'a'))).to.deep.equal([
      'a[0] must be text that is not empty',
    ]);
    expect(told(filled(listOf(text))([], 'a'))).to.deep.equal(['a must hold something']);
    expect(told(distinct(listOf(text))(['x', 'x'], 'a'))).to.deep.equal(['a must not name anything twice']);
    expect(told(distinct(filled(listOf(text)))(7, 'a'))).to.deep.equal(['a must be a list']);
  });
});
