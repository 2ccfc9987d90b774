import { ChevronRight, ChevronsLeft } from 'lucide-react';
import type { LogPage } from '../../api/wire.ts';
import { absoluteTime, count } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';

export interface SearchPagerProps {
  readonly summary: LogPage['summary'];
  readonly isFirst: boolean;
  /** Where older rows begin, where there may be any. */
  readonly next: string | undefined;
  readonly onChange: (cursor: string | undefined) => void;
}

/** How far a search has looked, and the way to what is older. */
export function SearchPager({ summary, isFirst, next, onChange }: SearchPagerProps) {
  const { searched_entries: searched = 0, searched_to: to } = summary;
  const until = to === undefined || to === null ? '' : `, back to ${absoluteTime(Date.parse(to))}`;
  return (
    <nav className="pager" aria-label="Parts of the search">
      <p className="pager-range" role="status">
        {`Looked at ${count(searched, 'row')}${until}`}
      </p>
      <Button size="small" icon={ChevronsLeft} disabled={isFirst} onClick={() => onChange(undefined)}>
        Newest
      </Button>
      <Button size="small" icon={ChevronRight} disabled={next === undefined} onClick={() => onChange(next)}>
        Older
      </Button>
    </nav>
  );
}
