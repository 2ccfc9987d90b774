import type { RequestLog, SharedState } from '../contract/index.ts';
import { type Ledgers, MEMORY_LEDGERS } from './ledgers.ts';
import { type ConfigurationStore, UnstoredConfiguration } from './configuration-store.ts';
import { Place } from './place.ts';
import { Principals } from './principals.ts';

/** What a builtin may supply in `open`, and what stands there without one. */
export interface Stores {
  /** Whose a credential is. Without a store: the keys of the environment. */
  readonly principals: Principals;
  /** Where rows of the request log go. Without a store they go nowhere. */
  readonly requestLog: Place<RequestLog | undefined>;
  /** Where changes of the configuration are kept. Without a store: nowhere, the file counts at the next start. */
  readonly configuration: Place<ConfigurationStore>;
  /** What replicas share. Without a store: the memory of this process. */
  readonly state: Place<SharedState>;
  /** What is spent, by key. Without a store: the memory of this process. */
  readonly ledgers: Place<Ledgers>;
}

export function createStores(memory: SharedState): Stores {
  return {
    principals: new Principals(),
    requestLog: new Place<RequestLog | undefined>('request log', 'disabled', undefined),
    configuration: new Place<ConfigurationStore>('configuration store', 'memory', new UnstoredConfiguration()),
    state: new Place<SharedState>('shared state', 'memory', memory),
    ledgers: new Place<Ledgers>('ledgers', 'memory', MEMORY_LEDGERS),
  };
}

/** From here on nothing can be supplied any more. */
export function sealStores({ principals, requestLog, configuration, state, ledgers }: Stores): void {
  for (const place of [principals, requestLog, configuration, state, ledgers]) place.seal();
}
