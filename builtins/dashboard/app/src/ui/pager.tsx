import { ChevronLeft, ChevronRight } from 'lucide-react';
import { integer } from '../lib/format.ts';
import { Button } from './button.tsx';

export interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
  readonly onChange: (offset: number) => void;
}

/** Which part of a longer list is shown, and the way to the parts beside it. */
export function Pager({ offset, limit, total, onChange }: PagerProps) {
  const last = Math.min(offset + limit, total);
  return (
    <nav className="pager" aria-label="Parts of the list">
      <p className="pager-range" role="status">
        {total === 0 ? 'No entries' : `${integer(Math.min(offset + 1, total))}–${integer(last)} of ${integer(total)}`}
      </p>
      <Button
        size="small"
        icon={ChevronLeft}
        disabled={offset === 0}
        onClick={() => onChange(Math.max(0, offset - limit))}
      >
        Previous
      </Button>
      <Button size="small" icon={ChevronRight} disabled={last >= total} onClick={() => onChange(offset + limit)}>
        Next
      </Button>
    </nav>
  );
}
