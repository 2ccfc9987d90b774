import { absoluteTime, DASH, relativeTime } from '../lib/format.ts';
import { useNow } from '../lib/use-now.ts';

/** How long ago; the moment itself is its tooltip. */
export function TimeAgo({ at }: { readonly at: string | null | undefined }) {
  const now = useNow();
  const moment = at ? Date.parse(at) : Number.NaN;
  if (!at || Number.isNaN(moment)) return <span>{at || DASH}</span>;
  return (
    <time dateTime={at} title={absoluteTime(moment)}>
      {relativeTime(moment, now)}
    </time>
  );
}
