import './charts.css';

/** How much of the largest an amount is; the amount itself stands beside it as text. */
export function Share({ of }: { readonly of: number }) {
  const width = Number.isFinite(of) ? Math.min(100, Math.max(0, of * 100)) : 0;
  return (
    <svg className="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect className="share-track" width="100" height="6" rx="1" />
      <rect className="share-value" width={width} height="6" rx="1" />
    </svg>
  );
}
