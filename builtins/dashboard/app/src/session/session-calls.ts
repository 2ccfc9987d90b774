import type { Services } from '../services.ts';
import { ASKS_KEY } from './issuer-sign-in.ts';

/** Exchanges a key for a session, which is all that is kept. */
export async function beginSession({ api, session }: Services, key: string): Promise<void> {
  session.begin(await api.json('/admin/session', { method: 'POST', bearer: key }));
}

/** Ends the session here, even where the gateway cannot be reached to end it there. */
export async function endSession({ api, session, tab }: Services): Promise<void> {
  const token = session.current?.token;
  if (token === undefined) return;
  await api.json('/admin/session', { method: 'DELETE' }).catch(() => undefined);
  tab.write(ASKS_KEY, 'yes'); // the provider's own session goes on: the next sign-in asks whose
  session.end(token);
}

/** Asks what the session may do now. A session that the gateway no longer knows ends by that. */
export async function refreshScopes({ api, session }: Services, signal?: AbortSignal): Promise<void> {
  const { scopes } = await api.json<{ readonly scopes?: unknown }>('/admin/health', signal ? { signal } : {});
  session.setScopes(scopes);
}

/** Asks again whenever a call was refused for its scope, one question at a time. */
export function watchScopes(services: Services): void {
  let isAsking = false;
  services.session.onDoubt(() => {
    if (isAsking) return;
    isAsking = true;
    refreshScopes(services)
      .catch(() => undefined)
      .finally(() => {
        isAsking = false;
      });
  });
}
