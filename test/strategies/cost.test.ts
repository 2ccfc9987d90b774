import { expect } from 'chai';
import { decisionCosts, TARGETS } from '../bench/strategies.ts';

/** Twenty times the 5 µs that a decision may take: what a busy machine adds does not count, a wrong order of growth does. */
const BOUND_US = 100;

describe('a routing decision', () => {
  it(`over ${TARGETS} targets costs microseconds, whatever the strategy`, () => {
    for (const { name, routedUs } of decisionCosts(2000)) expect(routedUs, name).to.be.below(BOUND_US);
  });
});
