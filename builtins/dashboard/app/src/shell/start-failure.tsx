import { Failed } from '../ui/failed.tsx';

/** In the place of everything, when the page does not know which gateway it belongs to. */
export function StartFailure({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <main className="boot">
      <Failed what="The dashboard's configuration" error={error} onRetry={onRetry} />
    </main>
  );
}
