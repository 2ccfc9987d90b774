import type { Redactor } from '../../log/redact.ts';
import { redactedCopy } from '../../log/redacted-copy.ts';
import type { AuditChange } from './audit-entry.ts';

const MOST_CHANGES = 50;
/** Characters of one side. */
const LONGEST_SIDE = 512;
/** Characters of all of it. */
const LONGEST_TEXT = 16 * 1024;

interface Shown extends Partial<Omit<AuditChange, 'field'>> {
  readonly field: string;
  /** How many changes are left out. */
  readonly more?: number;
}

/** Changes as a row of the audit trail keeps them: nothing secret in them, and a bound on each side, their number and the whole. `undefined` for none. */
export function changeText(changes: readonly AuditChange[], redactor: Redactor): string | undefined {
  if (changes.length === 0) return undefined;
  const shown: Shown[] = [];
  let length = 0;
  for (const change of changes.slice(0, MOST_CHANGES)) {
    const bounded = boundedChange(redactedCopy(change, redactor));
    length += JSON.stringify(bounded).length + 1;
    if (length > LONGEST_TEXT - 64) break;
    shown.push(bounded);
  }
  const left = changes.length - shown.length;
  return JSON.stringify(left === 0 ? shown : [...shown, { field: '…', more: left }]);
}

const boundedChange = ({ field, before, after }: AuditChange): AuditChange => ({
  field: cut(field, LONGEST_SIDE),
  before: boundedSide(before),
  after: boundedSide(after),
});

/** What is longer becomes the beginning of its text. */
function boundedSide(side: unknown): unknown {
  if (typeof side === 'string') return cut(side, LONGEST_SIDE);
  const text = JSON.stringify(side) ?? 'null';
  return text.length <= LONGEST_SIDE ? (side ?? null) : cut(text, LONGEST_SIDE);
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
