import { closestMatch } from 'leven';

/** Longer names are not misspellings of ours, and comparing takes time in proportion to both. */
const MAX_SUGGESTED = 64;

/** Shorter beginnings say nothing. */
const MIN_BEGINNING = 3;

/** The known name that was probably meant: one with few other letters, or the only one that begins so. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name === '' || name.length > MAX_SUGGESTED) return undefined;
  const names = [...known];
  const near = closestMatch(name, names, { maxDistance: Math.max(2, Math.floor(name.length / 2)) });
  if (near !== undefined || name.length < MIN_BEGINNING) return near;
  const longer = names.filter((one) => one.startsWith(name));
  return longer.length === 1 ? longer[0] : undefined;
}

/** What to write instead of an unknown name: the one that was probably meant, and all of them. */
export function useOneOf(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return `${near === undefined ? '' : `did you mean "${near}"? `}use one of: ${known.join(', ')}`;
}
