import type { ModelFacts } from '../contract/index.ts';

/** Most models that something was learned of; the one that was learned first leaves. */
const MAX_MODELS = 1_000;

/** Facts that a refusal stated, and how long they count. */
interface Learnt {
  readonly facts: ModelFacts;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** Which models a refusal spoke of, and how long that counts. */
export interface LearnedOf {
  /** An upstream model; `undefined` is all of the target. */
  readonly model: string | undefined;
  /** Milliseconds; until another configuration is applied unless said. */
  readonly keptMs?: number | undefined;
}

const NOTHING: readonly Learnt[] = Object.freeze([]);

/** What a provider's refusals said of the models of a target. Kept until another configuration is applied, or for a while. */
export class LearnedFacts {
  readonly #now: () => number;
  readonly #ofModels = new Map<string, readonly Learnt[]>();
  #ofAll = NOTHING;

  /** `now` is monotonic, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What is known of a model, with what was learned laid over it. */
  over(known: ModelFacts, model: string): ModelFacts {
    if (this.#ofModels.size === 0 && this.#ofAll === NOTHING) return known;
    const own = this.#ofModels.get(model) ?? NOTHING;
    if (own === NOTHING && this.#ofAll === NOTHING) return known;
    const now = this.#now();
    const fresh = [...this.#ofAll, ...own].filter(({ until }) => until > now);
    return fresh.reduce((facts, learnt) => ({ ...facts, ...learnt.facts }), known);
  }

  learn(facts: ModelFacts, { model, keptMs = Infinity }: LearnedOf): void {
    const learnt = { facts, until: this.#now() + keptMs };
    if (model === undefined) this.#ofAll = this.#with(this.#ofAll, learnt);
    else this.#ofModels.set(model, this.#with(this.#ofModels.get(model) ?? NOTHING, learnt));
    if (this.#ofModels.size > MAX_MODELS)
      for (const first of this.#ofModels.keys().take(1)) this.#ofModels.delete(first);
  }

  /** Without what is over, and what the new facts take the place of. */
  #with(before: readonly Learnt[], learnt: Learnt): readonly Learnt[] {
    const now = this.#now();
    const kept = before.filter(
      ({ facts, until }) => until > now && !Object.keys(facts).every((key) => key in learnt.facts),
    );
    return [...kept, learnt];
  }
}
