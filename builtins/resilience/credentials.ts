import type { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import { type Attempt, AttemptNote } from '../../host/pipeline/attempts/attempt.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import type { TeamHints } from '../../host/state/team-hints.ts';
import type { Credential } from '../../host/upstream/instance.ts';
import { CredentialPool } from '../../host/upstream/credentials/credential-pool.ts';
import type { LocalCredentialStates } from '../../host/upstream/credentials/credential-states.ts';
import { NoCredential, NoFreeCredential } from '../../host/upstream/credentials/no-credential.ts';
import { explainCredentials } from './explained-credentials.ts';
import { chooseCredential, type PlacedChoice } from './credential-choice.ts';
import { setCredentialGauges } from './credential-gauges.ts';
import { createDesk } from './credential-views.ts';
import { CALLS, CredentialUses, type Used } from './credential-uses.ts';
import { SharedCredentialStates } from './shared-states.ts';

/**
 * Chooses the credential of each call to a declared instance, and keeps those from calls that their vendor refused. Where no instance
 * is declared, nothing is tapped. See docs/reference/credentials.md#choice-of-a-credential.
 */
export default defineBuiltin({
  name: 'credentials',
  apply: ({ hooks }) => {
    hooks.assemble.tapPromise('credentials', async (draft, host) => {
      const pools = poolsOf(draft, host?.hints);
      if (pools.size === 0) return;
      const { hooks: pipeline, services } = draft;
      const used = new AttemptNote<Used>();
      const uses = new CredentialUses(services);
      const places = host?.places.isShared === true ? host.places : undefined;
      pipeline.credentials.tap('credentials', createDesk(pools, services));
      pipeline.explainTarget.tap('credentials', (members, target, exchange) =>
        explainCredentials(members, target, { exchange, pipeline }),
      );
      tapEventual(pipeline.admit, { name: 'credentials', stage: ORDER.credentials }, (attempt) => {
        const { instance } = attempt.target;
        const pool = instance && pools.get(instance.name);
        if (!pool) return undefined;
        const decide = (choice: PlacedChoice): GatewayError | undefined => {
          if (typeof choice === 'string') return refusal(attempt, choice);
          used.put(attempt, take(attempt, pool, choice));
          return undefined;
        };
        const choice = chooseCredential(attempt, pool, { pipeline, random: services.random, places });
        return choice instanceof Promise ? choice.then(decide) : decide(choice);
      });
      pipeline.credentialUsed.tap('credentials', (attempt, outcome) => {
        const use = used.take(attempt);
        if (use?.place) places?.giveBack(use.place);
        return use && uses.end(attempt, use, outcome);
      });
    });
    hooks.gauges.tap('credentials', setCredentialGauges);
  },
});

/** The pools of all declared instances, by name. What is remembered of a credential outlives the configuration. */
function poolsOf(
  { providers: { instances }, carryover, services: { clock, counters } }: GenerationDraft,
  hints: TeamHints | undefined,
): ReadonlyMap<string, CredentialPool> {
  const statesOf = ({ instance: provider, name: credential }: Credential): LocalCredentialStates =>
    carryover.lease(
      `credential ${provider}/${credential}`,
      () => new SharedCredentialStates(clock.monotonic, `${provider}/${credential}`, hints),
      (states) => {
        states.close();
        counters.forget(CALLS, { provider, credential });
      },
    );
  return new Map(Array.from(instances, ([name, instance]) => [name, new CredentialPool(instance, statesOf)]));
}

/** Gives the credential to the attempt: from here on it is a call in flight. */
function take(attempt: Attempt, pool: CredentialPool, { entry, probe, place }: Exclude<PlacedChoice, string>): Used {
  const { credential, states } = entry;
  const { connected, digest, takenAt } = credential;
  if (connected) attempt.provider = connected;
  attempt.credential = credential;
  attempt.exchange.routing.credential = credential.name;
  states.inFlight += 1;
  attempt.visit?.calls(credential);
  return { pool, entry, probe, value: { digest, takenAt }, place };
}

function refusal({ target: { virtualKey }, visit }: Attempt, why: 'saturated' | 'unusable'): GatewayError {
  return why === 'saturated'
    ? new NoFreeCredential(virtualKey)
    : new NoCredential(visit?.unusable ?? `${virtualKey} has no usable credential`);
}
