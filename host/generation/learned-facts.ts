import { changedSources, type FactOrigin, type FactSources } from '../common/fact-sources.ts';
import type { ModelFacts } from '../contract/index.ts';
import { MAX_NAME } from './known-facts.ts';

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

const ORIGIN: FactOrigin = Object.freeze({ rule: 'a refusal of the provider', source: [], checked: '' });
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
    return this.#fresh(model).reduce((facts, learnt) => ({ ...facts, ...learnt.facts }), known);
  }

  /** What `over` gives, with what set each fact. */
  sourcesOver(known: FactSources, model: string): FactSources {
    return this.#fresh(model).reduce(
      (sources, { facts }) => changedSources(sources, { changes: facts, origin: ORIGIN }),
      known,
    );
  }

  #fresh(model: string): readonly Learnt[] {
    if (this.#ofModels.size === 0 && this.#ofAll === NOTHING) return NOTHING;
    const own = this.#ofModels.get(model) ?? NOTHING;
    if (own === NOTHING && this.#ofAll === NOTHING) return NOTHING;
    const now = this.#now();
    return [...this.#ofAll, ...own].filter(({ until }) => until > now);
  }

  /** Names that are too long to be kept teach nothing. */
  learn(facts: ModelFacts, { model, keptMs = Infinity }: LearnedOf): void {
    if (model !== undefined && model.length > MAX_NAME) return;
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
