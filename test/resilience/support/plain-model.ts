import type { CircuitSettings } from '../../../builtins/resilience/circuit.ts';

/** The table of docs/resilience.md#circuit-breaker, written as it reads: every call is remembered with the era it belongs to. */
export class PlainModel {
  state: 'closed' | 'open' | 'half-open' = 'closed';
  era = 0;
  failures = 0;
  successes = 0;
  probes = 0;
  deadline = 0;
  readonly settings: CircuitSettings;

  constructor(settings: CircuitSettings) {
    this.settings = settings;
  }

  look(now: number): string {
    if (this.state === 'open' && now > this.deadline) this.enter('half-open');
    return this.state;
  }

  admit(now: number): number | undefined {
    this.look(now);
    if (this.state === 'open') return undefined;
    if (this.state === 'half-open' && this.probes === this.settings.maxProbes) return undefined;
    if (this.state === 'half-open') this.probes += 1;
    return this.era;
  }

  report(era: number, outcome: string, now: number): void {
    if (era !== this.era) return;
    if (this.state === 'half-open') {
      this.probes -= 1;
      if (outcome === 'failure') this.open(now);
      else if (outcome === 'success' && (this.successes += 1) === this.settings.successThreshold) this.enter('closed');
    } else if (this.state === 'closed') {
      if (outcome === 'success') this.failures = 0;
      else if (outcome === 'failure' && (this.failures += 1) === this.settings.failureThreshold) this.open(now);
    }
  }

  private open(now: number): void {
    this.enter('open');
    this.deadline = now + this.settings.openMs;
  }

  private enter(state: PlainModel['state']): void {
    this.state = state;
    this.era += 1;
    this.failures = 0;
    this.successes = 0;
    this.probes = 0;
  }
}
