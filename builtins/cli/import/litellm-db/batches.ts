/** Keys of one call, and characters of its body. */
const MOST_KEYS = 500;
const MOST_CHARACTERS = 1024 * 1024;

/** Parts of a list that a call takes. One item that is larger by itself goes alone. */
export function batchesOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  let part: T[] = [];
  let length = 0;
  for (const item of items) {
    const size = JSON.stringify(item).length;
    if (part.length > 0 && (part.length === MOST_KEYS || length + size > MOST_CHARACTERS)) {
      batches.push(part);
      [part, length] = [[], 0];
    }
    part.push(item);
    length += size;
  }
  return part.length > 0 ? [...batches, part] : batches;
}
