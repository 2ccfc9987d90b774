import type { Family, Series } from './family.ts';

/** Source: prometheus.io/docs/instrumenting/exposition_formats, read 2026-11-22. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The text form of figures. A figure without a series is named with its help and type all the same. */
export function exposition(families: Iterable<Family>): string {
  const lines: string[] = [];
  for (const {
    description: { name, kind, help, buckets },
    series,
  } of families) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
    for (const each of series) {
      if (each.inBucket) addHistogram(lines, name, buckets ?? [], each, each.inBucket);
      else lines.push(`${name}${labelText(each.labels)} ${numberText(each.value)}`);
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Buckets count what is at or below their bound, so that each holds the ones before it. */
function addHistogram(
  lines: string[],
  name: string,
  bounds: readonly number[],
  { labels, value }: Series,
  inBucket: Float64Array,
): void {
  let count = 0;
  inBucket.forEach((own, place) => {
    count += own;
    lines.push(`${name}_bucket${labelText(labels, `le="${numberText(bounds[place] ?? Infinity)}"`)} ${count}`);
  });
  lines.push(`${name}_sum${labelText(labels)} ${numberText(value)}`, `${name}_count${labelText(labels)} ${count}`);
}

function labelText(labels: Readonly<Record<string, unknown>>, more?: string): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  if (more !== undefined) parts.push(more);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

function escaped(value: unknown): string {
  return String(value).replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
