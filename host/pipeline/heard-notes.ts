import type { RankFigures, RankNotes } from '../contract/index.ts';

const NO_FIGURES: RankFigures = Object.freeze({});

/** What the strategy and the filters behind it say of one route. */
export class HeardNotes implements RankNotes {
  label: string | undefined;
  why: string | undefined;
  path: string | undefined;
  /** Made for the first: of most requests nothing is said. */
  #notes: Map<string, { readonly reasons: string[]; readonly figures: Record<string, number> }> | undefined;

  variant(label: string): void {
    this.label = label;
  }

  nothing(why: string): void {
    this.why = why;
  }

  rule(path: string): void {
    this.path = path;
  }

  target(virtualKey: string, why: string, figures: RankFigures = {}): void {
    this.#notes ??= new Map();
    const noted = this.#notes.get(virtualKey) ?? { reasons: [], figures: {} };
    noted.reasons.push(why);
    this.#notes.set(virtualKey, { reasons: noted.reasons, figures: { ...noted.figures, ...figures } });
  }

  reasonOf(virtualKey: string): string | undefined {
    return this.#notes?.get(virtualKey)?.reasons.join('; ');
  }

  figuresOf(virtualKey: string): RankFigures {
    return this.#notes?.get(virtualKey)?.figures ?? NO_FIGURES;
  }
}
