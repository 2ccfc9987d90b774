const LINES = 12;
const ABOVE = 4;

/** The lines around the first that two texts do not have in common, or a word that there is none. */
export function parting(before: string, after: string): string {
  if (before === after) return 'both are the same';
  const [a, b] = [before.split('\n'), after.split('\n')];
  const at = a.findIndex((line, index) => line !== b[index]);
  const from = Math.max(0, (at < 0 ? a.length : at) - ABOVE);
  const part = (lines: readonly string[]): string => lines.slice(from, from + LINES).join('\n');
  return `before, from line ${from + 1}:\n${part(a)}\nafter:\n${part(b)}`;
}
