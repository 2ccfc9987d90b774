import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { canonicalJson } from '../../host/config/canonical.ts';
import type { TargetConfig } from '../../host/config/document.ts';
import { parseDuration } from '../../host/contract/duration.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import type { HintValue, TeamHints } from '../../host/state/team-hints.ts';
import { type Attempt, AttemptNote } from '../../host/pipeline/attempts/attempt.ts';
import { Circuit, type CircuitSettings, type Ticket } from './circuit.ts';

const DEFAULTS: CircuitSettings = { failureThreshold: 5, successThreshold: 1, maxProbes: 1, openMs: 30_000 };

/** Keeps calls away from a target that fails again and again. Targets without a `circuit_breaker` block have none. */
export default defineBuiltin({
  name: 'breaker',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('breaker', async (draft, host) => {
      const circuits = circuitsOf(draft, host?.hints);
      if (circuits.size === 0) return;
      const { hooks: pipeline } = draft;
      const tickets = new AttemptNote<Ticket>();
      const reportMove = (circuit: SharedCircuit, attempt: Attempt): void => {
        const move = circuit.takeMove();
        if (!move) return;
        pipeline.circuitMoved.call({ ...move, attempt });
        if (move.to !== 'half-open') circuit.tell?.({ forMs: circuit.openForMs });
      };

      pipeline.circuit.tap('breaker', (virtualKey) => circuits.get(virtualKey)?.state);
      tapEventual(pipeline.admit, { name: 'breaker', stage: ORDER.breaker }, (attempt) => {
        const circuit = circuits.get(attempt.target.virtualKey);
        if (!circuit) return undefined;
        const ticket = circuit.admit();
        reportMove(circuit, attempt);
        if (!ticket)
          return new GatewayError(
            'upstream_unavailable',
            `the circuit breaker of ${attempt.target.virtualKey} is open`,
          );
        tickets.put(attempt, ticket);
        return undefined;
      });
      pipeline.settled.tap('breaker', (attempt) => {
        const circuit = circuits.get(attempt.target.virtualKey);
        const ticket = tickets.take(attempt);
        if (!circuit || !ticket) return;
        circuit.report(ticket, attempt.outcome ?? 'ignored');
        reportMove(circuit, attempt);
      });
    }),
});

/** The circuits of targets that have one, by virtual key. */
function circuitsOf(
  { targets, carryover, services: { clock } }: GenerationDraft,
  hints: TeamHints | undefined,
): ReadonlyMap<string, SharedCircuit> {
  const circuits = new Map<string, SharedCircuit>();
  for (const {
    virtualKey,
    config: { circuit_breaker: block },
  } of targets) {
    if (!block) continue;
    const settings = circuitSettings(block);
    // With other settings it is another circuit; a stream reports to the one that admitted it.
    const id = `${virtualKey} ${canonicalJson(settings)}`;
    const create = (): SharedCircuit => new SharedCircuit(settings, clock.monotonic, { id, hints });
    circuits.set(
      virtualKey,
      carryover.lease(`breaker ${id}`, create, (circuit) => circuit.close()),
    );
  }
  return circuits;
}

/** A circuit that other processes of this gateway hear of, where there are some. */
class SharedCircuit extends Circuit {
  readonly tell: ((value: HintValue) => void) | undefined;
  readonly #stop: (() => void) | undefined;

  constructor(
    settings: CircuitSettings,
    now: () => number,
    { id, hints }: { readonly id: string; readonly hints: TeamHints | undefined },
  ) {
    super(settings, now);
    this.tell = hints && ((value) => hints.send('circuit', id, value));
    this.#stop = hints?.on('circuit', id, ({ forMs }) => this.hear(forMs));
  }

  close(): void {
    this.#stop?.();
  }
}

function circuitSettings({
  failure_threshold,
  success_threshold,
  max_half_threshold,
  timeout,
}: NonNullable<TargetConfig['circuit_breaker']>): CircuitSettings {
  return {
    failureThreshold: failure_threshold || DEFAULTS.failureThreshold,
    successThreshold: success_threshold || DEFAULTS.successThreshold,
    maxProbes: max_half_threshold || DEFAULTS.maxProbes,
    openMs: (timeout && parseDuration(timeout)) || DEFAULTS.openMs,
  };
}
