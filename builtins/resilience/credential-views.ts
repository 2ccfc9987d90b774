import type {
  CredentialCounts,
  CredentialDesk,
  CredentialView,
  Usability,
} from '../../host/pipeline/credentials/credential-desk.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import type { CredentialPool, PoolEntry } from '../../host/upstream/credentials/credential-pool.ts';
import type { CredentialReading } from '../../host/upstream/credentials/credential-states.ts';
import type { Credential, ProviderInstance } from '../../host/upstream/instance.ts';

type Pools = ReadonlyMap<string, CredentialPool>;
type Services = Pick<PipelineServices, 'clock'>;

/** What others ask of the credentials of a configuration; gives the same desk each time. */
export function createDesk(pools: Pools, services: Services): () => CredentialDesk {
  const entriesOf = ({ name }: ProviderInstance): readonly PoolEntry[] => pools.get(name)?.entries ?? [];
  const desk: CredentialDesk = {
    views: (instance) => entriesOf(instance).map((entry) => viewOf(entry, services)),
    viewsFor: (instance, upstreamModel, order) =>
      viewsFor(inOrder(entriesOf(instance), order), upstreamModel, services),
    counts: (instance) => countsOf(entriesOf(instance)),
    usability: (instance, upstreamModel, account) =>
      usabilityOf(
        entriesOf(instance).filter(({ credential }) => account === undefined || credential.vendorAccount === account),
        upstreamModel,
      ),
    reset: (instance, credential) => {
      const entry = pools.get(instance)?.entries.find((each) => each.credential.name === credential);
      entry?.states.clear();
      entry?.states.tell?.({ kind: 'clear', digest: entry.credential.digest });
      return entry !== undefined;
    },
    firstReady: (instance) =>
      entriesOf(instance).find(
        ({ credential, states }) => credential.connected && states.readAll(credential).state === 'ready',
      )?.credential,
  };
  return () => desk;
}

function viewOf({ credential, states }: PoolEntry, services: Services): CredentialView {
  const { models, ...reading } = states.readAll(credential);
  return shown({ credential, states }, reading, models, services);
}

function shown(
  { credential, states }: PoolEntry,
  { state, class: why, until }: CredentialReading,
  modelsResting: number,
  { clock }: Services,
): CredentialView {
  const isUnresolved = !credential.connected;
  const isKept = !isUnresolved && state !== 'ready';
  return {
    name: credential.name,
    vendorAccount: credential.vendorAccount,
    state: isUnresolved ? 'unresolved' : state,
    class: isKept ? why : undefined,
    until: isKept ? Math.round(clock.now() + Math.max(0, until - clock.monotonic())) : undefined,
    modelsResting,
    inFlight: states.inFlight,
    weight: credential.weight,
    maxConcurrency: credential.maxConcurrency,
    refreshedAt: credential.refreshedAt,
  };
}

/** The order of a session, best first; without one, by weight and then by the list. */
function inOrder(entries: readonly PoolEntry[], order: readonly Credential[] | undefined): readonly PoolEntry[] {
  if (!order) return entries.toSorted((a, b) => b.credential.weight - a.credential.weight);
  const placeIn = ({ credential }: PoolEntry): number => {
    const at = order.indexOf(credential);
    return at < 0 ? order.length : at;
  };
  return entries.toSorted((a, b) => placeIn(a) - placeIn(b));
}

/** Ready ones first, then resting ones by their end, then those that are benched, do not resolve, or take no calls. */
function viewsFor(
  entries: readonly PoolEntry[],
  upstreamModel: string,
  services: Services,
): readonly (CredentialView & { readonly isFirst: boolean })[] {
  const known = entries
    .filter(({ credential }) => credential.allows(upstreamModel))
    .map((entry) => {
      const reading = entry.states.read(entry.credential, upstreamModel);
      return { view: shown(entry, reading, 0, services), reading };
    });
  const sorted = known.toSorted((a, b) => placeOf(a.view) - placeOf(b.view) || a.reading.until - b.reading.until);
  const mayCall = ({ view, reading }: (typeof known)[number]): boolean =>
    placeOf(view) < 2 || (placeOf(view) === 2 && reading.isDue === true);
  const first = sorted.find(mayCall);
  return sorted.map((each) => ({ ...each.view, isFirst: each === first }));
}

function placeOf({ state, weight }: CredentialView): number {
  if (weight === 0) return 4;
  return { ready: 0, resting: 1, benched: 2, unresolved: 3 }[state];
}

function countsOf(entries: readonly PoolEntry[]): CredentialCounts {
  const known = entries.map(({ credential, states }) => ({
    state: credential.connected ? states.readAll(credential).state : 'unresolved',
    isOpen: credential.weight > 0,
  }));
  const count = (which: CredentialView['state']): number => known.filter(({ state }) => state === which).length;
  return {
    ready: count('ready'),
    resting: count('resting'),
    benched: count('benched'),
    unresolved: count('unresolved'),
    isRoutable: known.some(({ state, isOpen }) => isOpen && (state === 'ready' || state === 'resting')),
  };
}

function usabilityOf(entries: readonly PoolEntry[], upstreamModel: string): Usability {
  let found: Usability = 'not_allowed';
  for (const { credential, states } of entries) {
    if (credential.weight <= 0 || !credential.allows(upstreamModel)) continue;
    if (found === 'not_allowed') found = 'unusable';
    if (!credential.connected) continue;
    const { state, isDue } = states.read(credential, upstreamModel);
    if (state === 'ready' || isDue === true) return 'usable';
    if (state === 'resting') found = 'resting';
  }
  return found;
}
