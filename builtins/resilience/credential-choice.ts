import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import type { Eventual } from '../../host/pipeline/eventual.ts';
import type { GenerationHooks } from '../../host/pipeline/hooks.ts';
import type { PlacesHeld } from '../../host/state/shared-places.ts';
import type { BoundedPlaces } from '../../host/stores/bounded-places.ts';
import type { Choice, Chosen, CredentialPool } from '../../host/upstream/credentials/credential-pool.ts';
import type { Credential } from '../../host/upstream/instance.ts';

/** What has the places, as the store of what replicas share names it. */
const CREDENTIALS = 'calls of credentials';

export interface CredentialChoiceDeps {
  readonly pipeline: Pick<GenerationHooks, 'credentialOrder'>;
  readonly random: () => number;
  /** Where replicas hold the calls of credentials together. */
  readonly places: Pick<BoundedPlaces, 'take' | 'giveBack'> | undefined;
}

/** A credential, and its place among the calls of all replicas; or why there is none. */
export type PlacedChoice = (Chosen & { readonly place: PlacesHeld | undefined }) | Exclude<Choice, Chosen>;

/** Chooses the credential of an attempt: a promise only where replicas hold its calls together. */
export function chooseCredential(
  attempt: Attempt,
  pool: CredentialPool,
  deps: CredentialChoiceDeps,
): Eventual<PlacedChoice> {
  const choice = choose(attempt, pool, deps);
  if (typeof choice === 'string') return choice;
  const { places } = deps;
  if (!places || choice.entry.credential.maxConcurrency === undefined) return { ...choice, place: undefined };
  return choosePlaced(attempt, pool, { ...deps, places, first: choice });
}

/** The first choice that has a place. A credential without one counts as full, and another is chosen. */
async function choosePlaced(
  attempt: Attempt,
  pool: CredentialPool,
  {
    places,
    first,
    ...deps
  }: CredentialChoiceDeps & {
    readonly places: NonNullable<CredentialChoiceDeps['places']>;
    readonly first: Chosen;
  },
): Promise<PlacedChoice> {
  const full = new Set<Credential>();
  let choice: Choice = first;
  while (typeof choice !== 'string') {
    const { credential, states } = choice.entry;
    if (credential.maxConcurrency === undefined) return { ...choice, place: undefined };
    const key = `${credential.instance}/${credential.name}`;
    const of = [{ group: CREDENTIALS, key, most: credential.maxConcurrency }];
    const [place] = (await places.take({ of, wanted: 1, isQueued: false })).held;
    if (place) return { ...choice, place };
    if (choice.probe) states.freeProbe(choice.probe);
    full.add(credential);
    choice = choose(attempt, pool, { ...deps, places }, full);
  }
  return choice;
}

function choose(
  { exchange, target: { instance }, upstreamModel, visit }: Attempt,
  pool: CredentialPool,
  { pipeline: { credentialOrder }, random }: CredentialChoiceDeps,
  full?: ReadonlySet<Credential>,
): Choice {
  return pool.choose({
    upstreamModel,
    account: visit?.account,
    tried: visit?.tried,
    preferred: visit?.preferred,
    order: instance && credentialOrder.call(exchange, instance, upstreamModel),
    isProbedLast: visit?.tells !== 'all',
    full,
    random,
  });
}
