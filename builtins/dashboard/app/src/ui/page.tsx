import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';

export const PRODUCT = 'gw';

/** Whether the reader came here from another page of this application: then the heading takes the focus. */
export const ArrivalContext = createContext(false);

export interface PageProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page with its heading, which names the document too. */
export function Page({ title, description, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const hasNavigated = useContext(ArrivalContext);
  useEffect(() => {
    document.title = `${title} · ${PRODUCT}`;
  }, [title]);
  useEffect(() => {
    if (hasNavigated) heading.current?.focus();
  }, [hasNavigated]);
  return (
    <>
      <header className="page-header">
        <div className="page-heading">
          <h1 className="page-title" tabIndex={-1} ref={heading}>
            {title}
          </h1>
          {description !== undefined && <p className="page-description">{description}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}
