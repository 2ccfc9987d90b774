import { StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { ApiClient } from './api/client.ts';
import { makeQueries } from './api/polling.ts';
import { App } from './app.tsx';
import { readConfig } from './lib/config.ts';
import { keptIn } from './lib/storage.ts';
import type { Services } from './services.ts';
import { watchScopes } from './session/session-calls.ts';
import { SessionStore } from './session/session-store.ts';
import { keepUnsentFor } from './session/unsent.ts';
import { StartFailure } from './shell/start-failure.tsx';
import './styles/index.css';

function makeServices(gatewayBaseUrl: string): Services {
  const preferences = keptIn(() => window.localStorage);
  const tab = keptIn(() => window.sessionStorage);
  const session = new SessionStore(tab, preferences);
  const queries = makeQueries();
  const services: Services = {
    session,
    queries,
    preferences,
    tab,
    unsent: new Map(),
    losable: new Set(),
    api: new ApiClient({
      base: gatewayBaseUrl,
      pageOrigin: window.location.origin,
      session,
      fetch: (...call) => window.fetch(...call),
    }),
  };
  session.subscribe(() => {
    if (!session.current) queries.clear();
  }); // nothing that one reader saw stays for the next
  keepUnsentFor(session, services);
  window.addEventListener('beforeunload', (event) => {
    if (services.losable.size > 0) event.preventDefault();
  });
  watchScopes(services);
  return services;
}

async function start(root: Root): Promise<void> {
  try {
    const response = await fetch(`${import.meta.env.BASE_URL}config.json`, { cache: 'no-store' });
    if (!response.ok) throw new Error(`config.json could not be loaded: status ${response.status}`);
    const { gatewayBaseUrl } = readConfig(await response.json());
    root.render(
      <StrictMode>
        <App services={makeServices(gatewayBaseUrl)} />
      </StrictMode>,
    );
  } catch (error) {
    root.render(
      <StartFailure
        error={error}
        onRetry={() => {
          void start(root);
        }}
      />,
    );
  }
}

const element = document.getElementById('root');
if (element) void start(createRoot(element));
