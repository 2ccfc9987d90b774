import { CircleAlert, RefreshCw } from 'lucide-react';
import { messageOf } from '../api/api-error.ts';
import { Button } from './button.tsx';

/** In the place of what could not be had. */
export function Failed({
  what,
  error,
  onRetry,
}: {
  readonly what: string;
  readonly error: unknown;
  readonly onRetry?: () => void;
}) {
  return (
    <div className="state" role="alert">
      <CircleAlert className="state-icon" data-tone="bad" size={26} aria-hidden="true" />
      <p className="state-title">{what} could not be loaded</p>
      <p className="state-text">{messageOf(error)}</p>
      {onRetry && (
        <Button icon={RefreshCw} onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  );
}
