import { type Fields, isFields, memberOf } from '../contract/index.ts';

/** Paths such as `tools[3].name` in the order in which a body writes them; those of nothing that it holds come last. */
export function inBodyOrder(paths: readonly string[], body: Readonly<Fields>): readonly string[] {
  const ranks = new Map<object, ReadonlyMap<string, number>>();
  const placed = paths.map((path) => ({ path, place: placeOf(path, body, ranks) }));
  return placed.toSorted((a, b) => compare(a.place, b.place)).map(({ path }) => path);
}

const STEP = /[^.[\]]+/g;

/** The place of each step among its neighbours. A name may be written in snake_case in the body. */
function placeOf(
  path: string,
  body: Readonly<Fields>,
  ranks: Map<object, ReadonlyMap<string, number>>,
): readonly number[] {
  const place: number[] = [];
  let value: unknown = body;
  for (const [step] of path.matchAll(STEP)) {
    if (Array.isArray(value)) {
      const index = Number(step);
      place.push(Number.isInteger(index) ? index : Infinity);
      value = value[index];
      continue;
    }
    if (!isFields(value)) return place;
    const name = Object.hasOwn(value, step) ? step : step.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    let known = ranks.get(value);
    if (!known) ranks.set(value, (known = new Map(Object.keys(value).map((own, rank) => [own, rank]))));
    place.push(known.get(name) ?? Infinity);
    value = memberOf(value, name);
  }
  return place;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, rank] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    if (rank !== other) return rank < other ? -1 : 1;
  }
  return a.length - b.length;
}
