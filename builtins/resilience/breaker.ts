import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { canonicalJson } from '../../host/config/canonical.ts';
import type { TargetConfig } from '../../host/config/document.ts';
import { parseDuration } from '../../host/contract/duration.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import { type Attempt, AttemptNote } from '../../host/pipeline/attempts/attempt.ts';
import { Circuit, type CircuitSettings, type Ticket } from './circuit.ts';

const DEFAULTS: CircuitSettings = { failureThreshold: 5, successThreshold: 1, maxProbes: 1, openMs: 30_000 };

/** Keeps calls away from a target that fails again and again. Targets without a `circuit_breaker` block have none. */
export default defineBuiltin({
  name: 'breaker',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('breaker', async (draft) => {
      const circuits = circuitsOf(draft);
      if (circuits.size === 0) return;
      const { hooks: pipeline } = draft;
      const tickets = new AttemptNote<Ticket>();
      const reportMove = (circuit: Circuit, attempt: Attempt): void => {
        const move = circuit.takeMove();
        if (move) pipeline.circuitMoved.call({ ...move, attempt });
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
function circuitsOf({ targets, carryover, services: { clock } }: GenerationDraft): ReadonlyMap<string, Circuit> {
  const circuits = new Map<string, Circuit>();
  for (const {
    virtualKey,
    config: { circuit_breaker: block },
  } of targets) {
    if (!block) continue;
    const settings = circuitSettings(block);
    // With other settings it is another circuit; a stream reports to the one that admitted it.
    const create = (): Circuit => new Circuit(settings, clock.monotonic);
    circuits.set(virtualKey, carryover.lease(`breaker ${virtualKey} ${canonicalJson(settings)}`, create));
  }
  return circuits;
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
