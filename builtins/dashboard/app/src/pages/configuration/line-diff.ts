/** A line of a comparison, or a run of lines that both sides share. */
export type DiffLine =
  | { readonly kind: 'same' | 'added' | 'removed'; readonly text: string }
  | { readonly kind: 'folded'; readonly count: number };

/** Lines beyond which the middle is shown as a whole: comparing takes their product. */
const MOST_LINES = 1500;
const CONTEXT = 3;

/** Compares two texts line by line, and folds what is the same away from the changes. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, young] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < old.length && head < young.length && old[head] === young[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < young.length - head && old.at(-1 - tail) === young.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  const middle = compare(old.slice(head, old.length - tail), young.slice(head, young.length - tail));
  return folded([...same(old.slice(0, head)), ...middle, ...same(tail === 0 ? [] : old.slice(-tail))]);
}

/** By the longest common run of lines. */
function compare(old: readonly string[], young: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (old.length > MOST_LINES || young.length > MOST_LINES) return [...old.map(removed), ...young.map(added)];
  const lengths = commonLengths(old, young);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < young.length) {
    const [a, b] = [old[i], young[j]];
    if (a !== undefined && a === b) {
      lines.push({ kind: 'same', text: a });
      [i, j] = [i + 1, j + 1];
    } else if (a !== undefined && (b === undefined || (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))) {
      lines.push(removed(a));
      i += 1;
    } else if (b !== undefined) {
      lines.push(added(b));
      j += 1;
    }
  }
  return lines;
}

/** At `[i][j]` how many lines the rest of both have in common, in order. */
function commonLengths(old: readonly string[], young: readonly string[]): readonly (readonly number[])[] {
  const rows: number[][] = [];
  let below: readonly number[] = Array.from({ length: young.length + 1 }, () => 0);
  for (const line of old.toReversed()) {
    const row: number[] = [0];
    for (const [at, other] of young.toReversed().entries()) {
      const j = young.length - 1 - at;
      row.unshift(line === other ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[0] ?? 0));
    }
    rows.unshift(row);
    below = row;
  }
  return [...rows, Array.from({ length: young.length + 1 }, () => 0)];
}

function folded(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ kind }) => kind !== 'same'),
  );
  const shown: DiffLine[] = [];
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isNear[at]) shown.push(line);
    else if (last?.kind === 'folded') shown[shown.length - 1] = { kind: 'folded', count: last.count + 1 };
    else shown.push({ kind: 'folded', count: 1 });
  }
  return shown;
}
