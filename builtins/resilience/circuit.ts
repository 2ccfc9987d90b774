import type { CircuitState } from '../../host/pipeline/hooks.ts';

/** What operators configure; zero and absent mean the default. See docs/configuration.md#targets. */
export interface CircuitSettings {
  /** Consecutive failures that open it. */
  readonly failureThreshold: number;
  /** Successful probes that close it. */
  readonly successThreshold: number;
  /** Probes at a time. */
  readonly maxProbes: number;
  /** Milliseconds that it stays open. */
  readonly openMs: number;
}

/** One admitted call. Its outcome counts only while the circuit is in the period (the time between two changes of state) that admitted it. */
export interface Ticket {
  readonly period: number;
  readonly isProbe: boolean;
}

/**
 * A circuit breaker. Time is read when the state is read: an open circuit turns half-open by itself, and reading the
 * state admits nothing.
 */
export class Circuit {
  readonly #settings: CircuitSettings;
  readonly #now: () => number;
  #state: CircuitState = 'closed';
  /** The state when `takeMove` was last asked. */
  #reported: CircuitState = 'closed';
  /** Changes whenever the state does: outcomes of calls that an earlier period admitted come too late, and do not count. */
  #period = 0;
  #failures = 0;
  #successes = 0;
  #probes = 0;
  #openUntil = 0;
  /** Until then it is open elsewhere. */
  #heardUntil = 0;

  /** `now` gives milliseconds that never jump. */
  constructor(settings: CircuitSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  get state(): CircuitState {
    if (this.#state === 'open' && this.#now() > this.#openUntil) this.#move('half-open');
    if (this.#heardUntil > 0 && this.#state === 'closed' && this.#now() <= this.#heardUntil) return 'open';
    return this.#state;
  }

  /** Milliseconds until an open one lets a call try; 0 of any other. */
  get openForMs(): number {
    return this.#state === 'open' ? Math.max(0, this.#openUntil - this.#now()) : 0;
  }

  /** Another process of this gateway has opened it for so long, or closed it. What this one has opened itself stays. */
  hear(openForMs: number): void {
    this.#heardUntil = openForMs > 0 ? this.#now() + openForMs : 0;
  }

  /** Where it moved from since this was last asked, if it moved. */
  takeMove(): { readonly from: CircuitState; readonly to: CircuitState } | undefined {
    if (this.#state === this.#reported) return undefined;
    const from = this.#reported;
    this.#reported = this.#state;
    return { from, to: this.#state };
  }

  /** `undefined` is a refusal. Every ticket must be reported. */
  admit(): Ticket | undefined {
    const { state } = this;
    if (state === 'open') return undefined;
    const isProbe = state === 'half-open';
    if (isProbe) {
      if (this.#probes >= this.#settings.maxProbes) return undefined;
      this.#probes += 1;
    }
    return { period: this.#period, isProbe };
  }

  /** How an admitted call ended; `ignored` frees its probe and counts nothing. */
  report({ period, isProbe }: Ticket, outcome: 'success' | 'failure' | 'ignored'): void {
    if (period !== this.#period) return;
    if (isProbe) this.#probes -= 1;
    if (outcome === 'success') this.#succeed();
    else if (outcome === 'failure') this.#fail();
  }

  #succeed(): void {
    this.#failures = 0;
    if (this.#state !== 'half-open') return;
    this.#successes += 1;
    if (this.#successes >= this.#settings.successThreshold) this.#move('closed');
  }

  #fail(): void {
    this.#failures += 1;
    if (this.#state === 'half-open' || this.#failures >= this.#settings.failureThreshold) {
      this.#openUntil = this.#now() + this.#settings.openMs;
      this.#move('open');
    }
  }

  #move(state: CircuitState): void {
    this.#state = state;
    this.#period += 1;
    this.#failures = 0;
    this.#successes = 0;
    this.#probes = 0;
  }
}
