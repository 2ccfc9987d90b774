import { Component, type ReactNode } from 'react';
import { RefreshCw } from 'lucide-react';
import { messageOf } from '../api/api-error.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';

interface State {
  readonly error: unknown;
  readonly hasFailed: boolean;
}

/** What is shown where a page broke, or where its chunk is gone since a newer build replaced it. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override readonly state: State = { error: undefined, hasFailed: false };

  static getDerivedStateFromError(error: unknown): State {
    return { error, hasFailed: true };
  }

  override render(): ReactNode {
    const { error, hasFailed } = this.state;
    if (!hasFailed) return this.props.children;
    const reload = (
      <Button tone="primary" icon={RefreshCw} onClick={() => location.reload()}>
        Reload
      </Button>
    );
    return (
      <div role="alert">
        <Empty title="This page stopped working" action={reload}>
          {messageOf(error)}
        </Empty>
      </div>
    );
  }
}
