import { createContext, useContext, useSyncExternalStore } from 'react';
import type { QueryClient } from '@tanstack/react-query';
import type { ApiClient } from './api/client.ts';
import type { Kept } from './lib/storage.ts';
import type { Session, SessionStore } from './session/session-store.ts';

/** Everything with a life of its own, made once when the page starts. */
export interface Services {
  readonly api: ApiClient;
  readonly session: SessionStore;
  readonly queries: QueryClient;
  /** Storage that outlives the tab: preferences only. */
  readonly preferences: Kept;
  /** Storage of this tab, gone with it. */
  readonly tab: Kept;
  /** What the reader typed and has not sent yet, by the name of its field. In memory alone, and theirs alone. */
  readonly unsent: Map<string, unknown>;
  /** Names of what of it is work that a reload would lose: the browser asks first. */
  readonly losable: Set<string>;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error('this component stands outside the application');
  return services;
}

export function useApi(): ApiClient {
  return useServices().api;
}

export function useSession(): Session | undefined {
  const { session } = useServices();
  return useSyncExternalStore(session.subscribe, () => session.current);
}

/** Whether the reader may change anything: what they may not do is not shown. */
export function useCanWrite(): boolean {
  return useSession()?.scopes.includes('admin') ?? false;
}
