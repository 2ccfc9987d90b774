import type { KeyShape } from '../contract/index.ts';

const SET = String.raw`\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[\w.~+/=-])+\]`;
/** A beginning that is written out, and sets of characters behind it: nothing that could take long over any text. */
const SHAPE = new RegExp(String.raw`^([\w-]{3,}?)((?:${SET}(?:\{\d{1,3}\})?)*${SET}\{\d{1,3}(?:,\d{0,3})?\})$`);
/** With fewer characters behind its beginning, ordinary words would look like a key. */
const LEAST = 8;

export function isKeyShape(value: unknown): boolean {
  const [, , sets = ''] = typeof value === 'string' ? (SHAPE.exec(value) ?? []) : [];
  const counts = sets.match(new RegExp(String.raw`${SET}(?:\{\d+)?`, 'g')) ?? [];
  const least = counts.reduce((sum, set) => sum + Number(/\{(\d+)$/.exec(set)?.[1] ?? 1), 0);
  return least >= LEAST && isPattern(sets);
}

/** Not for a set such as `[z-a]`. */
function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

/** What each credential of these shapes begins with, without those that another one covers. */
export function beginningsOf(shapes: readonly KeyShape[]): readonly string[] {
  const all = new Set(shapes.map(beginningOf));
  return [...all].filter((one) => ![...all].some((other) => other !== one && one.startsWith(other)));
}

const beginningOf = ({ shape }: KeyShape): string => SHAPE.exec(shape)?.[1] ?? '';

/** Those with the longest beginning first: `sk-acme-…` is a key of its own, not one that begins with `sk-`. */
export function keyPatterns(shapes: readonly KeyShape[]): readonly (readonly [pattern: RegExp, marker: string])[] {
  return shapes
    .toSorted((a, b) => beginningOf(b).length - beginningOf(a).length)
    .map(({ shape, shownAs }) => [new RegExp(shape, 'g'), `[REDACTED_${shownAs}]`]);
}
