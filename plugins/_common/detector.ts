/** Something that was found in a text: from `start` up to, not including, `end`. */
export interface Found {
  readonly start: number;
  readonly end: number;
  /** What it is, in the words of placeholders: `EMAIL`, `SECRET`. */
  readonly kind: string;
  /** What it reads as, where that is not as it is written: without the escapes of JSON. */
  readonly value?: string;
}

/** Finds what should not be seen. Takes time in proportion to the text. */
export interface Detector {
  /** In the order of the text, without overlaps. */
  find(text: string): readonly Found[];
  /** From where on the text may become part of something that is found, once more of it has arrived. */
  open(text: string): number;
}

/** What was found, without overlaps: the one that begins first stays, and of those the longest. */
export function withoutOverlaps(found: Found[]): readonly Found[] {
  if (found.length < 2) return found;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Found[] = [];
  let end = 0;
  for (const each of found) {
    if (each.start < end) continue;
    kept.push(each);
    ({ end } = each);
  }
  return kept;
}
