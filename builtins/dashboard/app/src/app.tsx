import { type ReactNode, useEffect, useRef, useState } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { returnPath } from './lib/destination.ts';
import { FIRST_PAGE, PAGES, UNKNOWN_PAGE } from './pages.ts';
import { LoginPage } from './pages/login/page.tsx';
import { ReturnPage } from './pages/login/return-page.tsx';
import { type Services, ServicesContext, useServices, useSession } from './services.ts';
import { refreshScopes } from './session/session-calls.ts';
import { ErrorBoundary } from './shell/error-boundary.tsx';
import { Shell } from './shell/shell.tsx';
import { ArrivalContext } from './ui/page.tsx';
import { Loading } from './ui/states.tsx';

/** The application below the path that it was built for. */
export function App({ services }: { readonly services: Services }) {
  return (
    <ErrorBoundary>
      <ServicesContext value={services}>
        <QueryClientProvider client={services.queries}>
          <Router base={import.meta.env.BASE_URL.replace(/\/$/, '')}>
            <Restored>
              <Signed />
            </Restored>
          </Router>
        </QueryClientProvider>
      </ServicesContext>
    </ErrorBoundary>
  );
}

/** Waits until the gateway has said whether it still knows the session of this tab. */
function Restored({ children }: { readonly children: ReactNode }) {
  const services = useServices();
  const [isKnown, setKnown] = useState(services.session.current === undefined);
  useEffect(() => {
    if (isKnown) return undefined;
    const given = new AbortController();
    refreshScopes(services, given.signal)
      .catch(() => undefined)
      .finally(() => {
        if (!given.signal.aborted) setKnown(true);
      });
    return () => given.abort();
  }, [isKnown, services]);
  return isKnown ? (
    children
  ) : (
    <div className="boot">
      <Loading what="the session" />
    </div>
  );
}

/** Sign-in for who has no session, and back to where they were after it. */
function Signed() {
  const session = useSession();
  const [path] = useLocation();
  const { pathname, search, hash } = window.location;
  const issuer = /^\/login\/([a-z0-9-]+)$/.exec(path)?.[1];
  if (issuer !== undefined) return <ReturnPage key={issuer} name={issuer} />;
  if (session)
    return path === '/login' ? (
      <Redirect to={returnPath(new URLSearchParams(search).get('from'))} replace />
    ) : (
      <Pages />
    );
  if (path === '/login') return <LoginPage />;
  const base = import.meta.env.BASE_URL.replace(/\/$/, '');
  const from = pathname.slice(base.length) + search + hash;
  return <Redirect to={from === '/' ? '/login' : `/login?from=${encodeURIComponent(from)}`} replace />;
}

function Pages() {
  const [path] = useLocation();
  const first = useRef<string>(undefined); // the page that was opened, not an address that leads to it
  const [hasNavigated, setNavigated] = useState(false);
  useEffect(() => {
    if (!PAGES.some((page) => page.path === path)) return;
    first.current ??= path;
    if (path !== first.current) setNavigated(true);
  }, [path]);
  return (
    <ArrivalContext value={hasNavigated}>
      <Shell location={path}>
        <Switch>
          {PAGES.map(({ path, Content }) => (
            <Route key={path} path={path}>
              <Content />
            </Route>
          ))}
          <Route path="/">
            <Redirect to={FIRST_PAGE} replace />
          </Route>
          <Route>
            <Redirect to={UNKNOWN_PAGE} replace />
          </Route>
        </Switch>
      </Shell>
    </ArrivalContext>
  );
}
