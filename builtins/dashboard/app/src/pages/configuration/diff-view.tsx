import { useMemo } from 'react';
import { count } from '../../lib/format.ts';
import { type DiffLine, diffLines } from './line-diff.ts';

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;
const WORDS = { same: '', added: 'added: ', removed: 'removed: ' } as const;

/** Two texts, line by line; what is the same is folded. */
export function DiffView({
  label,
  before,
  after,
}: {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  if (lines.every(({ kind }) => kind === 'folded' || kind === 'same')) return <p className="muted">No difference.</p>;
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      <ol className="diff-lines">
        {lines.map((line, at) => (
          <Line key={at} line={line} />
        ))}
      </ol>
    </div>
  );
}

function Line({ line }: { readonly line: DiffLine }) {
  if (line.kind === 'folded')
    return (
      <li className="diff-line" data-kind="folded">
        {count(line.count, 'line')} unchanged
      </li>
    );
  return (
    <li className="diff-line" data-kind={line.kind}>
      <span aria-hidden="true">{SIGNS[line.kind]} </span>
      <span className="visually-hidden">{WORDS[line.kind]}</span>
      {line.text}
    </li>
  );
}
