import type { Credential } from '../instance.ts';

/** Which value of a credential is meant: calls keep the one that they began with. */
export type CredentialValue = Pick<Credential, 'digest' | 'takenAt'>;

/** Why a credential is kept from calls: for one upstream model, or for all. */
export type BenchClass = 'no_access' | 'invalid_key' | 'billing';

/** What is known of a credential, for an upstream model or for all. */
export interface CredentialReading {
  readonly state: 'ready' | 'resting' | 'benched';
  /** Monotonic milliseconds at which it ends; of a bench for all models, at which a request may try the credential. 0 of one that is ready. */
  readonly until: number;
  readonly class?: BenchClass;
  /** Set where a request may try a benched credential, one at a time. */
  readonly isDue?: boolean;
}

/** A bench that is new, with the milliseconds until the first request may try the credential. */
export interface Benched {
  readonly class: BenchClass;
  readonly retryMs: number;
}

/** Holds one try of a benched credential: how it ends decides what becomes of the bench. */
export interface Probe {
  readonly isProbe: true;
}

/**
 * What the ends of calls have said of one credential. Replicas may tell each other of it: nothing else reads or writes what stands
 * behind it. Every call names the credential as it is now: another value of it begins anew.
 */
export interface CredentialStates {
  read(credential: CredentialValue, model: string): CredentialReading;
  /** For all models: `resting` where it rests, or is benched, for some. */
  readAll(credential: CredentialValue): CredentialReading & { readonly models: number };
  /** Keeps it from calls for a model for so long; the milliseconds that it rests. */
  rest(credential: CredentialValue, model: string, hintMs: number | undefined): number;
  /** `undefined` where it is benched already. `model` is read of `no_access` alone. */
  bench(
    credential: CredentialValue,
    why: BenchClass,
    of: { model: string; hintMs: number | undefined },
  ): Benched | undefined;
  /** Forgets what keeps it from calls. */
  clear(): void;
}

/** Bounds of a rest, of the first wait for a try, and of those after it, in milliseconds. See docs/reference/credentials.md#states-of-a-credential. */
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const REST = { usual: 5 * SECOND, min: SECOND, max: 10 * MINUTE };
const FIRST_WAIT = { usual: 10 * MINUTE, min: SECOND, max: 60 * MINUTE };
const NEXT_WAIT = { min: 20 * MINUTE, max: 60 * MINUTE };
const NO_ACCESS_MS = 10 * MINUTE;
/** Refusals in a row, each answered by another credential, until a credential counts as without access to a model. */
const CONFIRMATIONS = 3;
/** Time for which a success speaks against a 401. */
const PROTECTED_MS = MINUTE;
/** Models of one credential that anything is remembered of. */
const MAX_MODELS = 256;

const READY: CredentialReading = Object.freeze({ state: 'ready', until: 0 });

interface ModelState {
  restUntil: number;
  benchUntil: number;
  refusals: number;
}

interface Bench {
  class: BenchClass;
  readonly since: number;
  waitMs: number;
  until: number;
  probe: Probe | undefined;
}

const within = (ms: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(Math.max(ms, min), max);

/** What one process of a gateway says to the others of the credential with this value. */
export type CredentialWord =
  | { readonly kind: 'rest'; readonly digest: string; readonly model: string; readonly ms: number }
  | {
      readonly kind: 'bench';
      readonly digest: string;
      readonly why: BenchClass;
      readonly model: string;
      readonly ms: number;
    }
  | { readonly kind: 'clear'; readonly digest: string };

/** The states of one credential in the memory of this process. They outlive the configuration; `now` gives milliseconds that never jump. */
export class LocalCredentialStates implements CredentialStates {
  /** Hears what others should know. */
  tell: ((word: CredentialWord) => void) | undefined;
  readonly #now: () => number;
  /** What is remembered, by model; what was written last stands last. */
  readonly #models = new Map<string, ModelState>();
  #digest: string | undefined;
  #takenAt = -Infinity;
  #bench: Bench | undefined;
  #succeededAt: number | undefined;
  /** Calls that were given it and have not ended. */
  inFlight = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  read(credential: CredentialValue, model: string): CredentialReading {
    if (!this.#isCurrent(credential)) return READY;
    if (this.#bench) return this.#readBench(this.#bench, this.#models.get(model));
    if (this.#models.size === 0) return READY;
    const known = this.#models.get(model);
    return known ? readModel(known, this.#now()) : READY;
  }

  readAll(credential: CredentialValue): CredentialReading & { readonly models: number } {
    if (!this.#isCurrent(credential)) return { ...READY, models: 0 };
    const now = this.#now();
    const kept = [...this.#models.values()].map((known) => readModel(known, now)).filter((one) => one !== READY);
    if (this.#bench) return { ...this.#readBench(this.#bench, undefined), models: kept.length };
    const [first = READY, ...others] = kept.toSorted((a, b) => a.until - b.until);
    if (first === READY) return { ...READY, models: 0 };
    const isDenied = [first, ...others].every(({ state }) => state === 'benched');
    return {
      state: 'resting',
      until: first.until,
      models: kept.length,
      ...(isDenied && { class: 'no_access' }),
    };
  }

  rest(credential: CredentialValue, model: string, hintMs: number | undefined): number {
    const restMs = within(hintMs ?? REST.usual, REST);
    if (this.#isCurrent(credential)) this.#stateOf(model).restUntil = this.#now() + restMs;
    this.tell?.({ kind: 'rest', digest: credential.digest, model, ms: restMs });
    return restMs;
  }

  /** Another process of this gateway says so. What is of another value is overlooked, the longer rest counts, and a bench stays as it is. */
  hear(word: CredentialWord): void {
    this.#digest ??= word.digest;
    if (word.digest !== this.#digest) return;
    const now = this.#now();
    if (word.kind === 'clear') {
      this.clear();
    } else if (word.kind === 'rest') {
      const state = this.#stateOf(word.model);
      state.restUntil = Math.max(state.restUntil, now + word.ms);
    } else if (word.why === 'no_access') {
      this.#stateOf(word.model).benchUntil = now + word.ms;
    } else {
      this.#bench ??= { class: word.why, since: now, waitMs: word.ms, until: now + word.ms, probe: undefined };
    }
  }

  bench(
    credential: CredentialValue,
    why: BenchClass,
    { model, hintMs }: { model: string; hintMs: number | undefined },
  ): Benched | undefined {
    if (!this.#isCurrent(credential)) return undefined;
    const now = this.#now();
    if (why === 'no_access') {
      const state = this.#stateOf(model);
      if (state.benchUntil > now) return undefined;
      state.benchUntil = now + NO_ACCESS_MS;
      state.refusals = 0;
      this.tell?.({ kind: 'bench', digest: credential.digest, why, model, ms: NO_ACCESS_MS });
      return { class: why, retryMs: NO_ACCESS_MS };
    }
    if (this.#bench) return undefined;
    const waitMs = within(hintMs ?? FIRST_WAIT.usual, FIRST_WAIT);
    this.#bench = { class: why, since: now, waitMs, until: now + waitMs, probe: undefined };
    this.tell?.({ kind: 'bench', digest: credential.digest, why, model, ms: waitMs });
    return { class: why, retryMs: waitMs };
  }

  clear(): void {
    this.#bench = undefined;
    this.#models.clear();
  }

  /** Takes the one try of a benched credential whose time has come. */
  takeProbe(credential: CredentialValue): Probe | undefined {
    const bench = this.#bench;
    if (!this.#isCurrent(credential) || !bench || bench.probe || bench.until > this.#now()) return undefined;
    bench.probe = { isProbe: true };
    return bench.probe;
  }

  /** A try ended neither well nor by what benches: the next request may take it. */
  freeProbe(probe: Probe): void {
    if (this.#bench?.probe === probe) this.#bench.probe = undefined;
  }

  /** A try ended by what benches: the next one waits longer. Whether it was the present bench's; its class is then that of this end. */
  failProbe(probe: Probe, why: BenchClass): boolean {
    const bench = this.#bench;
    if (bench?.probe !== probe) return false;
    bench.probe = undefined;
    bench.class = why;
    bench.waitMs = within(bench.waitMs * 2, NEXT_WAIT);
    bench.until = this.#now() + bench.waitMs;
    return true;
  }

  /** A call with it ended well. Where that was the try of a bench, the milliseconds that it had been benched. */
  succeed(credential: CredentialValue, model: string, probe: Probe | undefined): number | undefined {
    if (!this.#isCurrent(credential)) return undefined;
    const now = this.#now();
    this.#succeededAt = now;
    const bench = this.#bench;
    if (probe && bench?.probe === probe) {
      this.clear();
      this.tell?.({ kind: 'clear', digest: credential.digest });
      return now - bench.since;
    }
    const state = this.#models.get(model);
    if (!state) return undefined;
    state.restUntil = 0;
    state.refusals = 0;
    if (state.benchUntil <= now) this.#models.delete(model);
    return undefined;
  }

  /** It was refused a model that another credential then answered for. Whether that has happened often enough to bench it for the model. */
  confirmRefusal(credential: CredentialValue, model: string): boolean {
    if (!this.#isCurrent(credential)) return false;
    const state = this.#stateOf(model);
    state.refusals += 1;
    return state.refusals >= CONFIRMATIONS;
  }

  /** Whether its present value has served so lately that a 401 is not taken for the key's fault. */
  isProtected(credential: CredentialValue): boolean {
    return (
      this.#isCurrent(credential) && this.#succeededAt !== undefined && this.#now() - this.#succeededAt <= PROTECTED_MS
    );
  }

  /**
   * Whether a credential, as its caller knows it, has the value that is remembered. Another value begins anew, unless it is an
   * earlier one: a configuration that still ends its requests may hold that.
   */
  #isCurrent({ digest, takenAt }: CredentialValue): boolean {
    if (digest === this.#digest) return true;
    if (takenAt < this.#takenAt) return false;
    this.clear();
    this.#succeededAt = undefined;
    this.#digest = digest;
    this.#takenAt = takenAt;
    return true;
  }

  #readBench({ class: why, until, probe }: Bench, model: ModelState | undefined): CredentialReading {
    const now = this.#now();
    const isFree = model === undefined || readModel(model, now) === READY;
    return { state: 'benched', class: why, until, isDue: isFree && probe === undefined && until <= now };
  }

  /** What is remembered of a model, as what was written last. */
  #stateOf(model: string): ModelState {
    const known = this.#models.get(model) ?? { restUntil: 0, benchUntil: 0, refusals: 0 };
    this.#models.delete(model);
    this.#models.set(model, known);
    if (this.#models.size > MAX_MODELS) this.#models.delete(String(this.#models.keys().next().value));
    return known;
  }
}

function readModel({ restUntil, benchUntil }: ModelState, now: number): CredentialReading {
  if (benchUntil > now) return { state: 'benched', until: benchUntil, class: 'no_access', isDue: false };
  return restUntil > now ? { state: 'resting', until: restUntil } : READY;
}
