import { expect } from 'chai';
import { Slots } from '../../builtins/resilience/slots.ts';
import { GatewayError } from '../../host/contract/index.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';

const gone = new GatewayError('client_canceled', 'gone');
const limits = (maxConcurrency: number, queueSize = 10): { maxConcurrency: number; queueSize: number } => ({
  maxConcurrency,
  queueSize,
});

describe('slots', () => {
  it('are given in the order they were asked for', async () => {
    const slots = new Slots();
    const order: number[] = [];
    const takes = [0, 1, 2, 3].map((caller) =>
      Promise.resolve(slots.take(limits(1), new Cancellation())).then(() => {
        order.push(caller);
      }),
    );
    await takes[0];
    expect([slots.held, slots.waiting]).to.deep.equal([1, 3]);
    for (const next of takes.slice(1)) {
      slots.giveBack();
      await next;
    }
    slots.giveBack();
    expect([order, slots.held]).to.deep.equal([[0, 1, 2, 3], 0]);
  });

  it('refuse who finds the queue full, and hold nothing for them', async () => {
    const slots = new Slots();
    expect(await slots.take(limits(1, 1), new Cancellation())).to.equal(true);
    const waiting = slots.take(limits(1, 1), new Cancellation());
    expect(await slots.take(limits(1, 1), new Cancellation())).to.equal(false);
    slots.giveBack();
    expect(await waiting).to.equal(true);
    slots.giveBack();
    expect([slots.held, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('are not kept for who stops waiting', async () => {
    const slots = new Slots();
    await slots.take(limits(1), new Cancellation());
    const cancellation = new Cancellation();
    const left = slots.take(limits(1), cancellation);
    const stays = slots.take(limits(1), new Cancellation());
    cancellation.cancel(gone);
    expect(await left).to.equal(false);
    slots.giveBack();
    expect(await stays).to.equal(true);
    expect(await slots.take(limits(1), cancelled())).to.equal(false);
    slots.giveBack();
    expect([slots.held, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('follow a raised and a lowered limit without forgetting who holds one', async () => {
    const slots = new Slots();
    await slots.take(limits(1), new Cancellation());
    const waiting = slots.take(limits(1), new Cancellation());
    expect(await slots.take(limits(3), new Cancellation())).to.equal(true);
    expect(await waiting).to.equal(true);
    expect(slots.held).to.equal(3);
    const late = slots.take(limits(1), new Cancellation());
    slots.giveBack();
    slots.giveBack();
    expect(slots.waiting).to.equal(1);
    slots.giveBack();
    expect(await late).to.equal(true);
    expect(slots.held).to.equal(1);
  });
});

function cancelled(): Cancellation {
  const cancellation = new Cancellation();
  cancellation.cancel(gone);
  return cancellation;
}
