import { type ReactNode, Suspense, useState } from 'react';
import { Menu, PanelLeftClose, PanelLeftOpen, X } from 'lucide-react';
import { useApi, useServices } from '../services.ts';
import { Brand } from '../ui/brand.tsx';
import { IconButton } from '../ui/button.tsx';
import { Loading } from '../ui/states.tsx';
import { useModal } from '../ui/use-modal.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { Identity } from './identity.tsx';
import { Nav } from './nav.tsx';
import { ThemeButton } from './theme-button.tsx';

const RAIL_KEY = 'gw.rail';

/** What stands around every page: the way to the others, who is signed in, and where the page goes. */
export function Shell({ location, children }: { readonly location: string; readonly children: ReactNode }) {
  const { preferences } = useServices();
  const [isNarrow, setNarrow] = useState(() => preferences.read(RAIL_KEY) === 'narrow');
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const fold = (): void => {
    preferences.write(RAIL_KEY, isNarrow ? null : 'narrow');
    setNarrow(!isNarrow);
  };
  return (
    <div className="shell" data-narrow={isNarrow || undefined}>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="top-bar">
        <IconButton icon={Menu} label="Open the navigation" onClick={() => setDrawerOpen(true)} />
        <Brand />
        <ThemeButton />
      </header>
      <header className="rail">
        <div className="rail-head">
          <Brand />
          <IconButton
            icon={isNarrow ? PanelLeftOpen : PanelLeftClose}
            label={isNarrow ? 'Widen the navigation' : 'Narrow the navigation'}
            aria-expanded={!isNarrow}
            onClick={fold}
          />
        </div>
        <Nav />
        <RailFoot />
      </header>
      {isDrawerOpen && <Drawer onClose={() => setDrawerOpen(false)} />}
      <main className="main" id="main" tabIndex={-1}>
        <div className="content">
          <ErrorBoundary key={location}>
            <Suspense fallback={<Loading what="the page" />}>{children}</Suspense>
          </ErrorBoundary>
        </div>
      </main>
    </div>
  );
}

function RailFoot() {
  const api = useApi();
  return (
    <div className="rail-foot">
      <Identity />
      <div className="rail-links">
        <a href={`${api.origin}/openapi.json`} target="_blank" rel="noreferrer">
          API reference
        </a>
        <ThemeButton />
      </div>
    </div>
  );
}

/** The navigation of a narrow screen. */
function Drawer({ onClose }: { readonly onClose: () => void }) {
  const element = useModal();
  return (
    <dialog
      ref={element}
      className="drawer"
      aria-label="Navigation"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div className="drawer-content">
        <div className="rail-head">
          <Brand />
          <IconButton icon={X} label="Close the navigation" onClick={onClose} />
        </div>
        <Nav onFollow={onClose} />
        <RailFoot />
      </div>
    </dialog>
  );
}
