import type { Exchange } from './exchange.ts';
import { routed } from './faces.ts';
import { type HouseName, HOUSES } from './houses.ts';
import { questions } from './questions.ts';

export const TOTAL = 2000;
const SEED = 20_261_126;

export const HOUSE_NAMES = Object.keys(HOUSES) as readonly HouseName[];

/** An exchange with its number, which it keeps however few are asked for. */
export interface Numbered extends Exchange {
  readonly number: number;
}

/** The fixed set, house by house. */
export function allScenes(): Numbered[] {
  const own = questions(HOUSE_NAMES);
  const all = [...own, ...routed(TOTAL - own.length, SEED)];
  return HOUSE_NAMES.flatMap((name) => all.filter(({ house }) => house === name)).map((each, at) => ({
    ...each,
    number: at + 1,
  }));
}

/** Those whose title holds the text, at most so many, evenly over all. */
export function chosen(only: string, count: number): Numbered[] {
  const meant = allScenes().filter(({ title }) => title.includes(only));
  const every = Math.max(1, meant.length / count);
  return Array.from({ length: Math.min(count, meant.length) }, (_, at) => meant[Math.floor(at * every)]).filter(
    (scene) => scene !== undefined,
  );
}
