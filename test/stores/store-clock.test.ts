import { expect } from 'chai';
import { StoreClock } from '../../host/stores/replicas/store-clock.ts';
import { fakeClock } from '../kit/index.ts';

const START = 1_700_000_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;

describe('the clock of a store', () => {
  /** `answer` in milliseconds after the start, by the database, for a round trip that begins now. */
  function scene() {
    const machine = fakeClock(START);
    const clock = new StoreClock(machine);
    const read = (roundTripMs: number, time: number): void => {
      const askedAt = machine.monotonic();
      machine.advance(roundTripMs);
      clock.read({ askedAt, answeredAt: machine.monotonic(), time });
    };
    return { machine, clock, read };
  }

  it("is the machine's where no database is asked, and does not go back with it", () => {
    let now = START;
    const clock = new StoreClock({ ...fakeClock(START), now: () => now });
    expect([clock.now(), clock.machineAheadMs, clock.shiftMs]).to.deep.equal([START, undefined, 0]);
    now -= 5000;
    expect(clock.now()).to.equal(START);
  });

  it("is the database's from the first reading on, whatever the machine's says", () => {
    const { machine, clock, read } = scene();
    read(10, START - 400 * DAY_MS + 5);
    expect(clock.now()).to.equal(START - 400 * DAY_MS + 10);
    machine.advance(1234);
    expect(clock.now()).to.equal(START - 400 * DAY_MS + 1244);
    expect(clock.machineAheadMs).to.equal(400 * DAY_MS);
    expect(machine.now() + clock.shiftMs).to.equal(clock.now());
  });

  it('goes by the fastest of the last five readings', () => {
    const { machine, clock, read } = scene();
    read(2, START + 1); // exact
    for (let at = 0; at < 4; at += 1) read(100, machine.now() + 90); // 40 ms off, by a way that is slow back
    expect(clock.now()).to.equal(machine.now());
    read(100, machine.now() + 90);
    expect(clock.now(), 'the fast one is the sixth').to.equal(machine.now() - 10 + 50);
  });

  it('follows another server, and a machine that slept, at once', () => {
    const { machine, clock, read } = scene();
    read(2, START + 1);
    read(50, START - DAY_MS); // slower, and a day behind
    expect(clock.now()).to.be.closeTo(START - DAY_MS + 25, 1);
    read(50, machine.now() + DAY_MS);
    expect(clock.now()).to.be.closeTo(machine.now() + DAY_MS - 25, 1);
  });

  it('never takes a small step back', () => {
    const { machine, clock, read } = scene();
    read(20, START + 20); // 10 ms ahead of the middle
    const before = clock.now();
    read(2, machine.now() + 1);
    expect(clock.now()).to.equal(before);
    machine.advance(100);
    expect(clock.now()).to.equal(machine.now());
  });

  it('shifts moments of the machine by the same for as long as the clocks keep their distance', () => {
    const { machine, clock, read } = scene();
    read(10, START + 5 + 3000);
    const shift = clock.shiftMs;
    expect(shift).to.equal(3000);
    read(6, machine.now() + 3 + 3002);
    expect(clock.shiftMs).to.equal(shift);
    for (let at = 0; at < 5; at += 1) read(6, machine.now() + 3 + 3050);
    expect(clock.shiftMs).to.equal(3050);
  });
});
