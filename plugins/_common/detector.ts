import type { Steps } from 'gw/contract';

/** Something that was found in a text: from `start` up to, not including, `end`. */
export interface Found {
  readonly start: number;
  readonly end: number;
  /** What it is, in the words of placeholders: `EMAIL`, `SECRET`. */
  readonly kind: string;
  /** What it reads as, where that is not as it is written: without the escapes of JSON. */
  readonly value?: string;
}

/** Characters that are looked at before others may be served. */
export const STEP = 16 * 1024;

/** Finds what should not be seen. Takes time in proportion to the text, in steps. */
export interface Detector {
  /** In the order of the text, without overlaps. */
  find(text: string): Steps<readonly Found[]>;
  /** From where on the text may become part of something that is found, once more of it has arrived. */
  open(text: string): number;
  /** Both at once, where that is less work. */
  look?(text: string): Steps<Look>;
}

export interface Look {
  readonly found: readonly Found[];
  readonly open: number;
}

/**
 * What was found, without overlaps: the one that begins first stays, and of those the longest. Each list is in the order of the text
 * already, so that they are merged and not sorted: there may be a million.
 */
export function* withoutOverlaps(...lists: readonly (readonly Found[])[]): Steps<readonly Found[]> {
  const filled = lists.filter(({ length }) => length > 0);
  const places = filled.map(() => 0);
  const kept: Found[] = [];
  let end = 0;
  for (let step = 1; ; step += 1) {
    const from = firstOf(filled, places);
    const next = filled[from]?.[places[from] ?? 0];
    if (!next) return kept;
    places.fill((places[from] ?? 0) + 1, from, from + 1);
    if (next.start >= end) {
      kept.push(next);
      ({ end } = next);
    }
    if (step % STEP === 0) yield;
  }
}

/** The list whose next one comes first; of equal ones the first list. */
function firstOf(lists: readonly (readonly Found[])[], places: readonly number[]): number {
  let first = 0;
  for (let at = 1; at < lists.length; at += 1) {
    const [one, other] = [lists[first]?.[places[first] ?? 0], lists[at]?.[places[at] ?? 0]];
    if (other && (!one || isBefore(other, one))) first = at;
  }
  return first;
}

const isBefore = (one: Found, other: Found): boolean =>
  one.start < other.start || (one.start === other.start && one.end > other.end);
