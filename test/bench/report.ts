import { FIGURE_NAMES, FIGURES, type Figure, type Row } from './figures.ts';
import type { Facts } from './machine.ts';
import type { MemoryReading } from './memory.ts';

/** All that a run found out; what `--json` writes. */
export interface Report {
  readonly at: string;
  readonly facts: Facts & { readonly load: string; readonly upstream: string };
  readonly isQuick: boolean;
  readonly rows: readonly Row[];
  readonly memory: readonly MemoryReading[];
}

/** Markdown, aligned, so that it reads the same in a terminal and on a page. */
export function formatReport({ facts, isQuick, rows, memory }: Report): string {
  const { cpu, cores, memoryGb, system, node, pinning, load, upstream } = facts;
  const lines = [
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}`,
    `load: ${load}; upstream: ${upstream}; pinning: ${pinning}`,
    ...(isQuick ? ['a quick run: its figures say little'] : []),
    `in parentheses: the figure divided by that of ${rows[0]?.subject ?? 'the floor'}`,
    '',
    ...formatTable(['shape', 'model', 'subject', ...FIGURE_NAMES.map((name) => FIGURES[name].title)], rows.map(cells)),
  ];
  if (memory.length > 0)
    lines.push(
      '',
      ...formatTable(
        ['unary requests', 'gateway RSS MB'],
        memory.map(({ requests, residentMb }) => [String(requests), residentMb.toFixed(0)]),
      ),
    );
  return `${lines.join('\n')}\n`;
}

function cells({ shape, naming, subject, values, ratios }: Row): string[] {
  const cell = (name: Figure): string => {
    const [value, ratio] = [values[name], ratios[name]];
    if (value === null) return '-';
    return `${value.toFixed(FIGURES[name].digits)} (${ratio === null ? '-' : ratio.toFixed(2)})`;
  };
  return [shape, naming, subject, ...FIGURE_NAMES.map(cell)];
}

/** Words to the left, figures to the right. */
export function formatTable(head: readonly string[], body: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...body.map((row) => row[column]?.length ?? 0)));
  const isFigure = head.map((_title, column) => body.every((row) => /^[-\d]/.test(row[column] ?? '')));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, column) => (isFigure[column] ? text.padStart(widths[column]!) : text.padEnd(widths[column]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => `${'-'.repeat(width + 1)}${isFigure[column] ? ':' : '-'}`).join('|')}|`;
  return [line(head), rule, ...body.map(line)];
}
