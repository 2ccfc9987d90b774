import { expect } from 'chai';
import { Circuit, type CircuitSettings, type Ticket } from '../../builtins/resilience/circuit.ts';
import { seeded } from '../kit/index.ts';
import { PlainModel } from './support/plain-model.ts';

const SETTINGS: CircuitSettings = { failureThreshold: 3, successThreshold: 2, maxProbes: 1, openMs: 1000 };

function circuitAt(settings: Partial<CircuitSettings> = {}): {
  circuit: Circuit;
  advance: (ms: number) => void;
  call: (outcome: 'success' | 'failure' | 'ignored') => boolean;
} {
  let now = 0;
  const circuit = new Circuit({ ...SETTINGS, ...settings }, () => now);
  const call = (outcome: 'success' | 'failure' | 'ignored'): boolean => {
    const ticket = circuit.admit();
    if (ticket) circuit.report(ticket, outcome);
    return ticket !== undefined;
  };
  return {
    circuit,
    advance: (ms) => {
      now += ms;
    },
    call,
  };
}

describe('a circuit', () => {
  it('opens after failures in a row, and only in a row', () => {
    const { circuit, call } = circuitAt();
    for (const outcome of ['failure', 'failure', 'success', 'failure', 'failure', 'ignored'] as const)
      expect(call(outcome)).to.equal(true);
    expect(circuit.state).to.equal('closed');
    call('failure');
    expect(circuit.state).to.equal('open');
    expect(call('success')).to.equal(false);
  });

  it('lets a probe through strictly after its deadline, one at a time', () => {
    const { circuit, advance, call } = circuitAt({ failureThreshold: 1 });
    call('failure');
    advance(1000);
    expect(circuit.state).to.equal('open');
    advance(1);
    expect(circuit.state).to.equal('half-open');
    const probe = circuit.admit();
    expect(probe?.isProbe).to.equal(true);
    expect(circuit.admit()).to.equal(undefined);
    circuit.report(probe as Ticket, 'success');
    expect(circuit.state).to.equal('half-open');
    expect(call('success')).to.equal(true);
    expect(circuit.state).to.equal('closed');
  });

  it('opens again on a failed probe, with a new deadline, and frees the probe of an ignored one', () => {
    const { circuit, advance, call } = circuitAt({ failureThreshold: 1 });
    call('failure');
    advance(1001);
    expect(call('ignored')).to.equal(true);
    expect(circuit.state).to.equal('half-open');
    expect(call('failure')).to.equal(true);
    expect(circuit.state).to.equal('open');
    advance(1000);
    expect(circuit.state).to.equal('open');
  });

  it('does not count what an earlier period admitted', () => {
    const { circuit, advance, call } = circuitAt({ failureThreshold: 1, successThreshold: 1 });
    const late = circuit.admit() as Ticket;
    call('failure');
    circuit.report(late, 'success');
    expect(circuit.state).to.equal('open');
    advance(1001);
    expect(circuit.state).to.equal('half-open');
    circuit.report(late, 'failure');
    expect(circuit.state).to.equal('half-open');
    expect(call('success')).to.equal(true);
    expect(circuit.state).to.equal('closed');
  });

  it('agrees with a plain model over 100,000 random steps', () => {
    const random = seeded(7);
    for (let round = 0; round < 20; round += 1) {
      const settings = {
        failureThreshold: 1 + Math.floor(random() * 4),
        successThreshold: 1 + Math.floor(random() * 3),
        maxProbes: 1 + Math.floor(random() * 3),
        openMs: 100,
      };
      walk(settings, random, 5000);
    }
  });
});

function walk(settings: CircuitSettings, random: () => number, steps: number): void {
  let now = 0;
  const circuit = new Circuit(settings, () => now);
  const model = new PlainModel(settings);
  const pending: { readonly ticket: Ticket; readonly era: number }[] = [];
  for (let step = 0; step < steps; step += 1) {
    now += Math.floor(random() * 30);
    const choice = random();
    if (choice < 0.5) {
      const ticket = circuit.admit();
      const era = model.admit(now);
      expect(ticket === undefined, `step ${step}`).to.equal(era === undefined);
      if (ticket && era !== undefined) pending.push({ ticket, era });
    } else if (pending.length > 0) {
      const [{ ticket, era } = { ticket: { period: -1, isProbe: false }, era: -1 }] = pending.splice(
        Math.floor(random() * pending.length),
        1,
      );
      const outcome = (['success', 'failure', 'failure', 'ignored'] as const)[Math.floor(random() * 4)] ?? 'ignored';
      circuit.report(ticket, outcome);
      model.report(era, outcome, now);
    }
    expect(circuit.state, `step ${step}`).to.equal(model.look(now));
  }
}
