import type { Terminal } from '../../../host/cli/command.ts';
import { cutToWidth, padded, widthOf } from '../../../host/cli/text-width.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import { cutTo, isRow, type Row, textOf } from '../show.ts';

/** Longest bar, and longest name beside one, in columns. */
const MAX_BAR = 40;
const MAX_NAME = 32;

interface Bar {
  readonly name: string;
  readonly count: number;
  readonly errors: number;
}

/** The figures of logged requests for people: sums, times, and bars of what was asked of whom. */
export function logCharts(statistics: Row, terminal: Terminal): string {
  const summary = fieldsOf(statistics['summary']);
  const cost = numberOf(summary['cost_usd']);
  const unpriced = numberOf(summary['unpriced_requests']);
  const parts = [
    [
      `Requests: ${countOf(summary['total_entries'])}   errors: ${countOf(summary['error_entries'])}   tokens: ${countOf(summary['total_tokens'])}   cost: $${cost.toFixed(cost < 1 ? 4 : 2)}${unpriced > 0 ? ` and ${unpriced} unpriced` : ''}`,
      ...timesLine('Latency', statistics['latency_ms']),
      ...timesLine('First token', statistics['ttft_ms']),
    ],
    chart('By provider', barsIn(statistics['by_provider']), terminal),
    chart('By model', barsIn(statistics['by_model']), terminal),
    chart('By stage', barsIn(statistics['by_stage']), terminal),
    errorLines(statistics['top_errors']),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => cutTo(line, terminal)).join('\n'))
    .join('\n\n');
}

const fieldsOf = (value: unknown): Row => (isFields(value) ? value : {});
const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
const countOf = (value: unknown): string => String(Math.round(numberOf(value)));

/** Nothing where nothing was measured. */
function timesLine(title: string, value: unknown): string[] {
  if (!isFields(value)) return [];
  return [`${title}: ${['p50', 'p95', 'p99', 'max'].map((name) => `${name} ${countOf(value[name])}ms`).join('   ')}`];
}

/** Counts by name, as numbers or in an object each. */
function barsIn(value: unknown): Bar[] {
  return Object.entries(fieldsOf(value)).map(([name, one]) => {
    const fields = fieldsOf(one);
    return {
      name: textOf(name),
      count: numberOf(typeof one === 'number' ? one : fields['count']),
      errors: numberOf(fields['errors']),
    };
  });
}

function chart(title: string, bars: readonly Bar[], { columns }: Terminal): string[] {
  if (bars.length === 0) return [];
  const names = Math.min(
    bars.reduce((most, { name }) => Math.max(most, widthOf(name)), 0),
    MAX_NAME,
  );
  const most = bars.reduce((top, { count }) => Math.max(top, count), 1);
  const room = Math.max(Math.min(MAX_BAR, (columns || Infinity) - names - String(most).length - 20), 1);
  return [
    title,
    ...bars.map(({ name, count, errors }) => {
      const shown = padded(cutToWidth(name, names), names);
      const bar = '█'.repeat(count === 0 ? 0 : Math.max(Math.round((count / most) * room), 1));
      return `  ${shown}  ${bar} ${count}${errors > 0 ? `, ${errors} failed` : ''}`;
    }),
  ];
}

function errorLines(value: unknown): string[] {
  const errors = Array.isArray(value) ? value.filter(isRow) : [];
  return errors.length === 0
    ? []
    : ['Most frequent errors', ...errors.map(({ message, count }) => `  ${countOf(count)}  ${textOf(message)}`)];
}
