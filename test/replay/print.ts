import type { Difference } from './compare.ts';

const AROUND = 60;
const LONGEST = 200;

/** A difference in a few lines: which exchange, which part, before, after. Long texts begin shortly before they part. */
export function describe({ scene: { number, title }, part, before, after }: Difference): string {
  const from = Math.max(0, partingOf(before ?? '', after ?? '') - AROUND);
  return [
    `#${number} ${title}`,
    `  ${part}${from > 0 ? `, from character ${from + 1}` : ''}`,
    `  - ${excerpt(before, from)}`,
    `  + ${excerpt(after, from)}`,
  ].join('\n');
}

function partingOf(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  return at;
}

function excerpt(text: string | undefined, from: number): string {
  if (text === undefined) return '(absent)';
  const shown = JSON.stringify(text.slice(from, from + LONGEST)).slice(1, -1);
  return `${from > 0 ? '…' : ''}${shown}${text.length > from + LONGEST ? '…' : ''}`;
}

/** "2,000 exchanges, 3 differ". */
export function summary(exchanges: number, differ: number): string {
  return `${exchanges.toLocaleString('en-US')} exchanges, ${differ.toLocaleString('en-US')} differ`;
}
