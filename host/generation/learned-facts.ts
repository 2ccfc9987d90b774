import { changedSources, type FactSources } from '../common/fact-sources.ts';
import type { ModelFacts } from '../contract/index.ts';

/** Most models that something was learned of; the one that was learned first leaves. */
const MAX_MODELS = 1_000;

/** What a provider's refusals said of single models of a target. Kept until another configuration is applied. */
export class LearnedFacts {
  readonly #learned = new Map<string, ModelFacts>();

  /** What is known of a model, with what was learned laid over it. */
  over(known: ModelFacts, model: string): ModelFacts {
    const own = this.#learned.get(model);
    return own ? { ...known, ...own } : known;
  }

  /** What `over` gives, with what set each fact. */
  sourcesOver(known: FactSources, model: string): FactSources {
    const own = this.#learned.get(model);
    const origin = { rule: 'a refusal of the provider', source: [], checked: '' };
    return own ? changedSources(known, { changes: own, origin }) : known;
  }

  learn(model: string, facts: ModelFacts): void {
    this.#learned.set(model, Object.freeze({ ...this.#learned.get(model), ...facts }));
    if (this.#learned.size > MAX_MODELS) for (const first of this.#learned.keys().take(1)) this.#learned.delete(first);
  }
}
