import { expect } from 'chai';
import { openEnvelope, sealEnvelope } from '../../builtins/wires/envelope.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the envelope of reasoning', () => {
  for (const items of [
    [],
    [{}],
    [{ type: 'reasoning.text', format: 'anthropic-claude-v1', signature: 's', text: 'Grüße 😀' }],
    [{ format: 'google-gemini-v1', data: 'd', id: 'c1' }, { a: [1, { b: null }] }],
  ]) {
    it(`opens as it was sealed: ${items.length} items`, () => {
      expect(openEnvelope(sealEnvelope(items))).to.deep.equal(items);
    });
  }

  it('is standard base64 of a mark and the items', () => {
    expect(Buffer.from(sealEnvelope([{ a: 1 }]), 'base64').toString('utf8')).to.equal('gw1:[{"a":1}]');
  });

  for (const [what, text] of [
    ['a signature of a vendor', 'ErUBCkYIBRgCIkD0bXk='],
    ['nothing', ''],
    ['no text', 7],
    ['another mark', base64('gw2:[]')],
    ['an object', base64('gw1:{}')],
    ['items that are not objects', base64('gw1:[1]')],
    ['what is cut off', base64('gw1:[{"a":1')],
    ['broken base64', `${sealEnvelope([])}!`],
    ['base64 without its padding', sealEnvelope([{}]).replace(/=+$/, '')],
    ['what is nested too deep', base64(`gw1:[${'{"a":'.repeat(300)}1${'}'.repeat(300)}]`)],
    ['more than a megabyte', sealEnvelope([{ a: 'x'.repeat(2 * 1024 * 1024) }])],
  ] as const)
    it(`is not found in ${what}`, () => {
      expect(openEnvelope(text)).to.equal(undefined);
    });
});
