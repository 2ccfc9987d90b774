import { type ReactNode, useId } from 'react';

export interface PanelProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Controls at the right of the title. */
  readonly actions?: ReactNode;
  /** Whether the content reaches the panel's edges, as a table does. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

/** A titled section of a page. */
export function Panel({ title, description, actions, isFlush = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <header className="panel-header">
        <div className="panel-heading">
          <h2 className="panel-title" id={id}>
            {title}
          </h2>
          {description !== undefined && <p className="panel-description">{description}</p>}
        </div>
        {actions !== undefined && <div className="panel-actions">{actions}</div>}
      </header>
      <div className="panel-body" data-flush={isFlush || undefined}>
        {children}
      </div>
    </section>
  );
}

/** Panels side by side where there is room. */
export function Columns({ children, count = 2 }: { readonly children: ReactNode; readonly count?: 2 | 3 | 4 }) {
  return (
    <div className="columns" data-count={count}>
      {children}
    </div>
  );
}
