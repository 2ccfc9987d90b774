import type { Credential, ProviderInstance } from '../instance.ts';
import type { LocalCredentialStates, Probe } from './credential-states.ts';

/** One credential of a pool, with what is remembered of it. */
export interface PoolEntry {
  readonly credential: Credential;
  readonly states: LocalCredentialStates;
}

/** What is asked of a pool. */
export interface PoolQuestion {
  readonly upstreamModel: string;
  /** Only credentials of this vendor account. */
  readonly account?: string | undefined;
  /** Credentials that have failed in this visit. */
  readonly tried?: readonly Credential[] | undefined;
  /** The one that a further try keeps, while it is a candidate. */
  readonly preferred?: Credential | undefined;
  /** The order of the session, best first; without one, shares and load decide. */
  readonly order?: readonly Credential[] | undefined;
  /** A benched credential whose time has come is tried only where no other one is left: the client would read what that says. */
  readonly isProbedLast?: boolean;
  /** Those whose calls are as many as they may be over all replicas. */
  readonly full?: ReadonlySet<Credential> | undefined;
  readonly random: () => number;
}

export interface Chosen {
  readonly entry: PoolEntry;
  /** Set where it is benched, and this call tries whether it works again. */
  readonly probe: Probe | undefined;
}

/** A credential, or why there is none: each serves its most calls, or none may be used. */
export type Choice = Chosen | 'saturated' | 'unusable';

/** The credentials of one instance, as a configuration has them. */
export class CredentialPool {
  readonly instance: ProviderInstance;
  readonly entries: readonly PoolEntry[];

  constructor(instance: ProviderInstance, statesOf: (credential: Credential) => LocalCredentialStates) {
    this.instance = instance;
    this.entries = instance.credentials.map((credential) => ({ credential, states: statesOf(credential) }));
  }

  /** The credential of a call. See docs/reference/credentials.md#choice-of-a-credential. */
  choose(question: PoolQuestion): Choice {
    const { isProbedLast = false } = question;
    const kept = this.#kept(question);
    if (kept) return chosen(kept);
    const { ready, resting, due } = this.#sorted(question);
    const isProbed = due !== undefined && !(isProbedLast && ready.length > 0);
    const probe = isProbed ? due.states.takeProbe(due.credential) : undefined;
    if (due && probe) return { entry: due, probe };
    if (ready.length > 0) return chosen(pick(ready, question));
    return resting.length > 0 ? chosen(firstToEnd(resting, question)) : 'unusable';
  }

  /** The preferred one, while it is ready and has a slot. */
  #kept(question: PoolQuestion): PoolEntry | undefined {
    const { preferred, upstreamModel } = question;
    if (!preferred || !mayCall(preferred, question)) return undefined;
    const entry = this.entries.find(({ credential }) => credential === preferred);
    return entry && hasSlot(entry, question.full) && entry.states.read(preferred, upstreamModel).state === 'ready'
      ? entry
      : undefined;
  }

  /** Those that may be called and have not failed in this visit, by their states; the first one that is due for a try. */
  #sorted(question: PoolQuestion): { ready: PoolEntry[]; resting: PoolEntry[]; due: PoolEntry | undefined } {
    const { upstreamModel, tried } = question;
    const ready: PoolEntry[] = [];
    const resting: PoolEntry[] = [];
    let due: PoolEntry | undefined;
    for (const entry of this.entries) {
      const { credential, states } = entry;
      if (!mayCall(credential, question) || tried?.includes(credential) === true) continue;
      const { state, isDue } = states.read(credential, upstreamModel);
      if (state === 'ready') ready.push(entry);
      else if (state === 'resting') resting.push(entry);
      else if (isDue === true && hasSlot(entry, question.full)) due ??= entry;
    }
    return { ready, resting, due };
  }

  /** Whether a credential with a slot is left that has not failed in this visit; takes nothing. */
  hasNext({ upstreamModel, tried = [], account }: Omit<PoolQuestion, 'random'>): boolean {
    return this.entries.some((entry) => {
      const { credential, states } = entry;
      if (tried.includes(credential) || !mayCall(credential, { upstreamModel, account }) || !hasSlot(entry))
        return false;
      const { state, isDue } = states.read(credential, upstreamModel);
      return state === 'ready' || isDue === true;
    });
  }

  /** Whether another credential is ready for a model. */
  hasOtherReady(than: Credential, upstreamModel: string, account?: string): boolean {
    return this.entries.some(
      ({ credential, states }) =>
        credential !== than &&
        mayCall(credential, { upstreamModel, account }) &&
        states.read(credential, upstreamModel).state === 'ready',
    );
  }
}

function mayCall(
  credential: Credential,
  { upstreamModel, account }: Pick<PoolQuestion, 'upstreamModel' | 'account'>,
): boolean {
  const { weight, connected, vendorAccount } = credential;
  if (weight <= 0 || !connected || !credential.allows(upstreamModel)) return false;
  return account === undefined || vendorAccount === account;
}

const hasSlot = ({ credential, states: { inFlight } }: PoolEntry, full?: ReadonlySet<Credential>): boolean =>
  credential.maxConcurrency === undefined || (inFlight < credential.maxConcurrency && full?.has(credential) !== true);

const chosen = (entry: PoolEntry | undefined): Choice => (entry ? { entry, probe: undefined } : 'saturated');

function pick(candidates: readonly PoolEntry[], question: PoolQuestion): PoolEntry | undefined {
  const { order } = question;
  return (order && firstOf(order, candidates, question)) ?? byLoad(candidates, question);
}

/** The first of a session's order that has a slot; of a vendor account, the one with the least load. */
function firstOf(
  order: readonly Credential[],
  candidates: readonly PoolEntry[],
  question: PoolQuestion,
): PoolEntry | undefined {
  for (const credential of order) {
    const entry = candidates.find((each) => each.credential === credential);
    if (!entry) continue;
    const found = credential.isLabelled
      ? byLoad(
          candidates.filter((each) => each.credential.vendorAccount === credential.vendorAccount),
          question,
        )
      : entry;
    if (found && hasSlot(found, question.full)) return found;
  }
  return undefined;
}

/** Two draws by weight; the one with fewer calls for its weight, the first on a tie. Where that one has no slot, the least loaded that has one. */
function byLoad(candidates: readonly PoolEntry[], { random, full }: PoolQuestion): PoolEntry | undefined {
  const [only] = candidates;
  if (candidates.length === 1) return only && hasSlot(only, full) ? only : undefined;
  const first = draw(candidates, random);
  const second = draw(candidates, random);
  const found = isLighter(second, first) ? second : first;
  if (found && hasSlot(found, full)) return found;
  let least: PoolEntry | undefined;
  for (const entry of candidates) if (hasSlot(entry, full) && (!least || isLighter(entry, least))) least = entry;
  return least;
}

function isLighter(a: PoolEntry | undefined, b: PoolEntry | undefined): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    a.states.inFlight * b.credential.weight < b.states.inFlight * a.credential.weight
  );
}

function draw(candidates: readonly PoolEntry[], random: () => number): PoolEntry | undefined {
  let total = 0;
  for (const { credential } of candidates) total += credential.weight;
  let left = random() * total;
  for (const entry of candidates) {
    left -= entry.credential.weight;
    if (left < 0) return entry;
  }
  return candidates.at(-1);
}

/** The one with a slot whose rest ends first. */
function firstToEnd(resting: readonly PoolEntry[], { upstreamModel, full }: PoolQuestion): PoolEntry | undefined {
  let first: PoolEntry | undefined;
  let until = Infinity;
  for (const entry of resting) {
    const rest = entry.states.read(entry.credential, upstreamModel);
    if (!hasSlot(entry, full) || rest.until >= until) continue;
    first = entry;
    until = rest.until;
  }
  return first;
}
