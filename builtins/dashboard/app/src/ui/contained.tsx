import { Component, type ReactNode } from 'react';
import { Failed } from './failed.tsx';

export interface ContainedProps {
  /** What is shown here, in the title of the failure: `Providers`. */
  readonly what: string;
  /** The answers that it is drawn from. Others are tried afresh. */
  readonly of: readonly unknown[];
  readonly onRetry?: () => void;
  readonly children: ReactNode;
}

interface State {
  readonly of: readonly unknown[];
  readonly hasFailed: boolean;
}

const NOT_UNDERSTOOD =
  'The gateway answered with something that this page does not understand. It may be of another version.';

/** A part of a page that an answer in an unknown form cannot take the rest of the page with. */
export class Contained extends Component<ContainedProps, State> {
  override readonly state: State = { of: this.props.of, hasFailed: false };

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true };
  }

  static getDerivedStateFromProps({ of }: ContainedProps, before: State): State | null {
    return of.every((answer, at) => answer === before.of[at]) ? null : { of, hasFailed: false };
  }

  override render(): ReactNode {
    const { what, onRetry, children } = this.props;
    return this.state.hasFailed ? (
      <Failed what={what} error={NOT_UNDERSTOOD} {...(onRetry ? { onRetry } : {})} />
    ) : (
      children
    );
  }
}
