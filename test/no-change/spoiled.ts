import type { Chance } from './chance.ts';

/** What is written in place of a value, or beside values: of the wrong type, out of bounds, or of no meaning. */
const WRONG: readonly unknown[] = [
  -1,
  0,
  1.5,
  '',
  'nowhere',
  ' gpt*',
  null,
  true,
  [],
  {},
  [1],
  ['', ''],
  { a: 1 },
  'sk-0123456789abcdef0123456789',
  '${NAME}',
  '-3s',
];

type Place = Record<string | number, unknown>;

/** The document with one to three things wrong, as it may be: some replacements are valid, too. */
export function spoiled(document: object, chance: Chance): object {
  const copy = structuredClone(document) as Place;
  for (let times = 1 + chance.below(3); times > 0; times -= 1) {
    const place = chance.of(placesIn(copy));
    const keys = Object.keys(place);
    const key = keys.length === 0 ? 'unknown' : chance.of(keys);
    if (chance.isTrue(0.15)) {
      place[Array.isArray(place) ? place.length : 'no_such_key'] = chance.of(WRONG);
      continue;
    }
    const isLeftOut = chance.isTrue(0.15) && !Array.isArray(place);
    if (isLeftOut) delete place[key];
    else place[key] = structuredClone(chance.of(WRONG));
  }
  return copy;
}

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Place, ...Object.values(value).flatMap(placesIn)];
}
