import type { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import { type Attempt, AttemptNote } from '../../host/pipeline/attempts/attempt.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import type { SharedPlaces } from '../../host/state/shared-places.ts';
import type { TeamHints } from '../../host/state/team-hints.ts';
import type { GenerationHooks } from '../../host/pipeline/hooks.ts';
import type { Credential } from '../../host/upstream/instance.ts';
import { type Choice, CredentialPool } from '../../host/upstream/credentials/credential-pool.ts';
import type { LocalCredentialStates } from '../../host/upstream/credentials/credential-states.ts';
import { NoCredential, NoFreeCredential } from '../../host/upstream/credentials/no-credential.ts';
import { explainCredentials } from './explained-credentials.ts';
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
      const places = host?.places;
      const pools = poolsOf(draft, host?.hints);
      if (pools.size === 0) return;
      const { hooks: pipeline, services } = draft;
      const used = new AttemptNote<Used>();
      const uses = new CredentialUses(services);
      pipeline.credentials.tap('credentials', createDesk(pools, services));
      pipeline.explainTarget.tap('credentials', (members, target, exchange) =>
        explainCredentials(members, target, { exchange, pipeline }),
      );
      tapEventual(pipeline.admit, { name: 'credentials', stage: ORDER.credentials }, (attempt) => {
        const { instance } = attempt.target;
        const pool = instance && pools.get(instance.name);
        if (!pool) return undefined;
        const desk = { pool, pipeline, random: services.random };
        const begin = (choice: Choice): GatewayError | undefined => {
          if (typeof choice === 'string') return refusal(attempt, choice);
          used.put(attempt, take(attempt, pool, choice));
          return undefined;
        };
        return places ? chooseShared(attempt, desk, places).then(begin) : begin(choose(attempt, desk));
      });
      pipeline.credentialUsed.tap('credentials', (attempt, outcome) => {
        const use = used.take(attempt);
        if (use && use.entry.credential.maxConcurrency !== undefined)
          places?.giveBack([placeName(use.entry.credential)]);
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

interface Desk {
  readonly pool: CredentialPool;
  readonly pipeline: GenerationHooks;
  readonly random: () => number;
}

const placeName = ({ instance, name }: Credential): string => `credential ${instance}/${name}`;

/** Where processes hold the limits of credentials together: the first of the order that has a place left. */
async function chooseShared(attempt: Attempt, desk: Desk, places: SharedPlaces): Promise<Choice> {
  const full: Credential[] = [];
  for (;;) {
    const choice = choose(attempt, desk, full);
    if (typeof choice === 'string') return full.length > 0 ? 'saturated' : choice;
    const { credential, states } = choice.entry;
    const { maxConcurrency: limit } = credential;
    if (limit === undefined || (await places.tryAll([{ key: placeName(credential), limit }])) === undefined)
      return choice;
    if (choice.probe) states.freeProbe(choice.probe);
    full.push(credential);
  }
}

/** `full` are known to have no place left. */
function choose(
  { exchange, target: { instance }, upstreamModel, visit }: Attempt,
  { pool, pipeline: { credentialOrder }, random }: Desk,
  full: readonly Credential[] = [],
): Choice {
  return pool.choose({
    upstreamModel,
    account: visit?.account,
    tried: full.length === 0 ? visit?.tried : [...(visit?.tried ?? []), ...full],
    preferred: visit?.preferred && full.includes(visit.preferred) ? undefined : visit?.preferred,
    order: instance && credentialOrder.call(exchange, instance, upstreamModel),
    isProbedLast: visit?.tells !== 'all',
    random,
  });
}

/** Gives the credential to the attempt: from here on it is a call in flight. */
function take(attempt: Attempt, pool: CredentialPool, { entry, probe }: Exclude<Choice, string>): Used {
  const { credential, states } = entry;
  const { connected, digest, takenAt } = credential;
  if (connected) attempt.provider = connected;
  attempt.credential = credential;
  attempt.exchange.routing.credential = credential.name;
  states.inFlight += 1;
  attempt.visit?.calls(credential);
  return { pool, entry, probe, value: { digest, takenAt } };
}

function refusal({ target: { virtualKey }, visit }: Attempt, why: 'saturated' | 'unusable'): GatewayError {
  return why === 'saturated'
    ? new NoFreeCredential(virtualKey)
    : new NoCredential(visit?.unusable ?? `${virtualKey} has no usable credential`);
}
