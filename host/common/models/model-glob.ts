const MAX_STARS = 4;
const MAX_LENGTH = 128;

/** Why a text is not a pattern of models; `undefined` where it is one. */
export function globProblem(glob: string): string | undefined {
  if (glob === '') return 'must not be empty';
  if (glob.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  return glob.split('*').length - 1 > MAX_STARS ? `must have at most ${MAX_STARS} stars` : undefined;
}

/**
 * Whether a pattern is the whole of a name, where `*` stands for any run of characters and case does not matter.
 * Each piece between stars is looked for once, from where the one before it ended.
 */
export const matchesGlob = (glob: string, name: string): boolean => globMatcher(glob)(name.toLowerCase());

/** A pattern taken apart once, for names in lower case. */
export function globMatcher(glob: string): (name: string) => boolean {
  const [first = '', ...rest] = glob.toLowerCase().split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === first;
  return (name) => {
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
}
