import { expect } from 'chai';
import { drainedSizes, laneSizes, type Role } from '../../builtins/stores/postgres/lanes.ts';
import { Slots } from '../../builtins/stores/postgres/slots.ts';
import { TookTooLong } from '../../host/common/clock.ts';
import { fakeClock } from '../kit/index.ts';

const ALL: readonly Role[] = ['keys', 'configuration', 'log'];

describe('the places of purposes in one database', () => {
  const sized = (connections: number, roles: readonly Role[] = ALL): Record<string, number> =>
    Object.fromEntries(laneSizes(connections, roles));

  it('are one each, and the rest is for reading; one connection listens', () => {
    expect(sized(10)).to.deep.equal({ state: 1, lookups: 1, changes: 1, ledger: 1, log: 1, reads: 4 });
    expect(sized(6)).to.deep.equal({ state: 1, lookups: 1, changes: 1, ledger: 1, log: 1, reads: 0 });
  });

  it('are more for credentials and changes where there are many: a fifth each', () => {
    expect(sized(100)).to.deep.equal({ state: 1, lookups: 19, changes: 19, ledger: 1, log: 1, reads: 58 });
  });

  it('are made for what stands there', () => {
    expect(sized(10, ['log'])).to.deep.equal({ state: 1, log: 1, reads: 7 });
    expect(sized(10, ['configuration'])).to.deep.equal({ state: 1, lookups: 1, changes: 1, reads: 6 });
    expect(sized(10, ['keys'])).to.deep.equal({ state: 1, lookups: 1, changes: 1, ledger: 1, reads: 5 });
  });

  it('are as many as there may be, with the one that listens', () => {
    for (const roles of [ALL, ...ALL.map((role) => [role])])
      for (let connections = 6; connections <= 100; connections += 1) {
        const sizes = [...laneSizes(connections, roles).values()];
        expect(Math.min(...sizes)).to.be.at.least(0);
        expect(sizes.reduce((sum, size) => sum + size, 1)).to.equal(connections);
      }
  });

  it('are five at most while the process drains', () => {
    const drained = (roles: readonly Role[]): unknown => Object.fromEntries(drainedSizes(laneSizes(100, roles)));
    expect(drained(ALL)).to.deep.equal({ state: 1, lookups: 1, changes: 1, ledger: 1, log: 0, reads: 0 });
    expect(drained(['keys'])).to.deep.equal({ state: 1, lookups: 1, changes: 1, ledger: 1, reads: 0 });
    expect(drained(['log'])).to.deep.equal({ state: 1, log: 1, reads: 1 });
  });
});

describe('who gets a place', () => {
  function slots(sizes = laneSizes(10, ALL)) {
    const clock = fakeClock();
    return { clock, taken: new Slots(() => sizes, clock) };
  }
  const settled = async (promise: Promise<unknown>): Promise<boolean> => {
    let isSettled = false;
    const done = (): void => {
      isSettled = true;
    };
    void promise.finally(done).catch(() => {});
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return isSettled;
  };

  it('is who has one of his own, then one that reading leaves', async () => {
    const { taken } = slots();
    const places = await Promise.all(Array.from({ length: 5 }, () => taken.take('lookups', undefined)));
    expect(places).to.deep.equal(['lookups', 'reads', 'reads', 'reads', 'reads']);
    expect(await taken.take('changes', undefined)).to.equal('changes');
    expect(await settled(taken.take('lookups', undefined))).to.equal(false);
  });

  it('is never a read in the place of another', async () => {
    const { taken } = slots();
    await Promise.all(Array.from({ length: 4 }, () => taken.take('reads', undefined)));
    const waiting = taken.take('reads', undefined);
    expect(await settled(waiting)).to.equal(false);
    for (const lane of ['lookups', 'changes', 'ledger', 'log', 'state'] as const)
      expect(await taken.take(lane, undefined)).to.equal(lane);
    taken.giveBack('lookups');
    expect(await settled(waiting)).to.equal(false);
    taken.giveBack('reads');
    expect(await waiting).to.equal('reads');
  });

  it('is a read before others, in a place of reading; else who waits longest', async () => {
    const { taken } = slots();
    await Promise.all(Array.from({ length: 4 }, () => taken.take('reads', undefined)));
    await taken.take('log', undefined);
    await taken.take('ledger', undefined);
    const [log, ledger, read] = (['log', 'ledger', 'reads'] as const).map((lane) => taken.take(lane, undefined));
    taken.giveBack('reads');
    expect(await read).to.equal('reads');
    taken.giveBack('reads');
    expect([await log, await settled(ledger!)]).to.deep.equal(['reads', false]);
    taken.giveBack('ledger');
    expect(await ledger).to.equal('ledger');
    expect(taken.waiting).to.equal(0);
  });

  it('is not who has waited for too long, or was stopped', async () => {
    const { taken, clock } = slots();
    await Promise.all(Array.from({ length: 5 }, () => taken.take('lookups', undefined)));
    const late = taken.take('lookups', undefined).catch((error: unknown) => error);
    const stop = new AbortController();
    const stopped = taken.take('lookups', stop.signal).catch((error: unknown) => error);
    stop.abort(new Error('the client left'));
    expect(await stopped).to.have.property('message', 'it was stopped before it was asked');
    clock.advance(2000);
    expect(await late).to.be.instanceOf(TookTooLong);
    taken.giveBack('lookups');
    expect(await taken.take('lookups', undefined)).to.equal('lookups');
    expect(clock.waiting).to.equal(0);
  });

  it('is a read in the place of changes where reading has none, and the log in that of the ledger', async () => {
    const { taken } = slots(drainedSizes(laneSizes(10, ALL)));
    expect(await taken.take('log', undefined)).to.equal('ledger');
    expect(await taken.take('reads', undefined)).to.equal('changes');
    const next = taken.take('changes', undefined);
    expect(await settled(next)).to.equal(false);
    taken.giveBack('changes');
    expect(await next).to.equal('changes');
  });
});
