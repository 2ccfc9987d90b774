import { expect } from 'chai';
import { GatewayError, type Log } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { Slot } from '../../host/generation/slot.ts';

interface Tracked {
  readonly generation: Generation;
  disposals: number;
}

/** A generation that counts its disposals; `fails` makes them fail. */
function tracked(number: number, { fails = false, until }: { fails?: boolean; until?: Promise<void> } = {}): Tracked {
  const one: Tracked = {
    disposals: 0,
    generation: {
      number,
      dispose: async () => {
        one.disposals += 1;
        await until;
        if (fails) throw new Error('cannot close');
      },
    } as unknown as Generation,
  };
  return one;
}

function silentLog(): { log: Log; errors: [string, unknown][] } {
  const errors: [string, unknown][] = [];
  return {
    errors,
    log: {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (message, attributes) => {
        errors.push([message, attributes]);
      },
    },
  };
}

const cause = new GatewayError('upstream_unavailable', 'the gateway is shutting down');

describe('the slot', () => {
  it('has no lease to give while it is empty', () => {
    const slot = new Slot(silentLog().log);
    expect(slot.current).to.equal(undefined);
    expect(slot.lease()).to.equal(undefined);
    expect([slot.live, slot.leases]).to.deep.equal([0, 0]);
  });

  it('disposes a generation without leases as soon as another serves', () => {
    const slot = new Slot(silentLog().log);
    const [a, b] = [tracked(1), tracked(2)];
    slot.swap(a.generation);
    expect(a.disposals).to.equal(0);
    slot.swap(b.generation);
    expect(slot.current).to.equal(b.generation);
    expect([a.disposals, b.disposals, slot.live]).to.deep.equal([1, 0, 1]);
  });

  it('keeps a generation until its last lease ends, in whatever order they end', () => {
    const slot = new Slot(silentLog().log);
    const [a, b] = [tracked(1), tracked(2)];
    slot.swap(a.generation);
    const held = Array.from({ length: 5 }, () => slot.lease()!);
    slot.swap(b.generation);
    const next = slot.lease()!;
    expect(held.every(({ generation }) => generation === a.generation)).to.equal(true);
    expect(next.generation).to.equal(b.generation);
    expect([slot.live, slot.leases]).to.deep.equal([2, 6]);
    for (const at of [2, 0, 4, 1]) held[at]?.release();
    expect([a.disposals, slot.live, slot.leases]).to.deep.equal([0, 2, 2]);
    held[3]?.release();
    expect([a.disposals, slot.live, slot.leases]).to.deep.equal([1, 1, 1]);
    next.release();
    expect([b.disposals, slot.live, slot.leases]).to.deep.equal([0, 1, 0]);
  });

  it('counts a lease that is released twice once', () => {
    const slot = new Slot(silentLog().log);
    const a = tracked(1);
    slot.swap(a.generation);
    const [first, second] = [slot.lease()!, slot.lease()!];
    first.release();
    first.release();
    expect(slot.leases).to.equal(1);
    slot.swap(tracked(2).generation);
    first.release();
    expect(a.disposals).to.equal(0);
    second.release();
    second.release();
    expect(a.disposals).to.equal(1);
  });

  it('counts right over any order of taking and releasing', () => {
    const slot = new Slot(silentLog().log);
    slot.swap(tracked(1).generation);
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const open: { release(): void }[] = [];
    for (let step = 0; step < 5000; step += 1) {
      if (open.length === 0 || random(2) === 0) open.push(slot.lease()!);
      else open.splice(random(open.length), 1)[0]?.release();
      expect(slot.leases).to.equal(open.length);
    }
    for (const lease of open) lease.release();
    expect(slot.leases).to.equal(0);
  });

  it('tells every holder of every generation to stop, once for each call', () => {
    const slot = new Slot(silentLog().log);
    const ends: string[] = [];
    slot.swap(tracked(1).generation);
    const old = slot.lease()!;
    old.onEnd = (why) => {
      ends.push(`old ${why.code}`);
    };
    slot.swap(tracked(2).generation);
    const current = slot.lease()!;
    current.onEnd = (why) => {
      ends.push(`current ${why.code}`);
      current.release(); // as a holder does that ends at once
    };
    slot.lease();
    slot.endAll(cause);
    expect(ends).to.have.members(['old upstream_unavailable', 'current upstream_unavailable']);
    expect(slot.leases).to.equal(2);
  });

  it('retires the current generation when it closes, and waits for disposals under way', async () => {
    const slot = new Slot(silentLog().log);
    const gate = Promise.withResolvers<void>();
    const [a, b] = [tracked(1, { until: gate.promise }), tracked(2)];
    slot.swap(a.generation);
    slot.swap(b.generation);
    let isClosed = false;
    const closing = slot.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => {
      setImmediate(resolve);
    }); // past every promise that has nothing to wait for
    expect([isClosed, a.disposals, b.disposals, slot.live]).to.deep.equal([false, 1, 1, 0]);
    expect(slot.lease()).to.equal(undefined);
    gate.resolve();
    await closing;
    await slot.close();
  });

  it('disposes after the last lease although it has closed before', async () => {
    const slot = new Slot(silentLog().log);
    const a = tracked(1);
    slot.swap(a.generation);
    const lease = slot.lease()!;
    await slot.close();
    expect(a.disposals).to.equal(0);
    lease.release();
    expect(a.disposals).to.equal(1);
  });

  it('logs a generation that cannot be closed, and goes on', async () => {
    const { log, errors } = silentLog();
    const slot = new Slot(log);
    slot.swap(tracked(7, { fails: true }).generation);
    slot.swap(tracked(8).generation);
    await slot.close();
    expect(errors).to.have.length(1);
    expect(errors[0]?.[1]).to.deep.include({ generation: 7 });
  });
});
