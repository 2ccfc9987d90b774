import { expect } from 'chai';
import { CHECKOUT, GAPS } from './places.ts';

describe('the places of a shipped provider', () => {
  for (const name of new Set([...CHECKOUT.folders, ...GAPS.map(({ provider }) => provider)])) {
    it(`all hold ${name}`, () => {
      const found = GAPS.filter(({ provider }) => provider === name).map(({ message }) => message);
      expect(found, found.join('\n')).to.deep.equal([]);
    });
  }
});
