import type { Fields } from '../contract/json/fields.ts';
import type { Redactor } from './redact.ts';

/** Characters of one log line. Collectors that allow less than a line needs cut it, and half a line is not JSON. */
export const MAX_LINE = 16 * 1024;
/** Characters of one text of a line that is too long; the second where escapes make so much of the first that the line stays too long. */
const TEXT_LIMITS = [2048, 256] as const;
const MAX_MEMBERS = 64;
const MAX_DEPTH = 4;
/** What a line keeps whatever else it holds. */
const KEPT: ReadonlySet<string> = new Set(['level', 'time', 'trace_id', 'msg']);

/**
 * A line that is too long, with each of its texts, lists and objects cut: whole JSON again, and redacted before anything was
 * cut. `finish` does with it what is done with every line.
 */
export function boundedLine(line: string, redactor: Redactor, finish: (line: string) => string): string {
  const fields = JSON.parse(line) as Fields;
  const write = (shown: Fields): string => finish(`${JSON.stringify(shown)}\n`);
  for (const limit of TEXT_LIMITS) {
    const text = write(boundedFields(fields, { redactor, limit }));
    if (text.length <= MAX_LINE) return text;
  }
  const kept = Object.fromEntries(Object.entries(fields).filter(([name]) => KEPT.has(name)));
  return write({
    ...boundedFields(kept, { redactor, limit: TEXT_LIMITS[1] }),
    left_out: Object.keys(fields).length - Object.keys(kept).length,
  });
}

interface Cutting {
  readonly redactor: Redactor;
  readonly limit: number;
}

function boundedFields(fields: Fields, cutting: Cutting): Fields {
  const own = Object.keys(fields)
    .filter((name) => !KEPT.has(name))
    .slice(0, MAX_MEMBERS);
  const shown = new Set([...KEPT, ...own]);
  const members = Object.entries(fields).filter(([name]) => shown.has(name));
  return Object.fromEntries(
    members.map(([name, member]) => [nameText(name, cutting), bounded(member, cutting, MAX_DEPTH)]),
  );
}

const nameText = (name: string, { redactor, limit }: Cutting): string => redactor.excerpt(name, limit / 8);

function bounded(value: unknown, cutting: Cutting, depth: number): unknown {
  if (typeof value === 'string') return cutting.redactor.excerpt(value, cutting.limit);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (Array.isArray(value)) {
    const items: unknown[] = value.slice(0, MAX_MEMBERS).map((item) => bounded(item, cutting, depth - 1));
    return value.length > MAX_MEMBERS ? [...items, '…'] : items;
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_MEMBERS)
      .map(([name, member]) => [nameText(name, cutting), bounded(member, cutting, depth - 1)]),
  );
}
