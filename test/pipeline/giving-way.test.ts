import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { givingWay } from '../../host/pipeline/guards/giving-way.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';

/** A clock that goes on by so many milliseconds between two looks. */
function clockOf(stepMs: number): { monotonic(): number } {
  let now = 0;
  return { monotonic: () => (now += stepMs) };
}

describe('a handler of a plugin', () => {
  const exchange = {} as LiveExchange;
  const refusal = new GatewayError('request_rejected', 'no');

  it('that was quick is followed by the next at once', () => {
    for (const result of [undefined, refusal]) expect(givingWay(() => result, clockOf(24))(exchange)).to.equal(result);
  });

  it('that took long is followed by others that wait, whatever it decided', async () => {
    for (const result of [undefined, refusal, Promise.resolve(undefined), Promise.resolve(refusal)]) {
      const order: string[] = [];
      setImmediate(() => order.push('others'));
      const decided = givingWay(() => result, clockOf(25))(exchange);
      expect(decided).to.be.an.instanceOf(Promise);
      expect(await decided).to.equal(await result);
      order.push('next');
      expect(order).to.deep.equal(['others', 'next']);
    }
  });
});
