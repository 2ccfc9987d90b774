import { type Reading, usePolled } from '../../api/polling.ts';
import type { DeepHealth, Health, ModelList, ProviderCatalog, ProviderModels } from '../../api/wire.ts';
import { useApi } from '../../services.ts';

const EVERY_SECONDS = 15;

/** What the gateway says of its providers, answer by answer. */
export interface ProviderReadings {
  readonly catalog: Reading<ProviderCatalog>;
  readonly deep: Reading<DeepHealth>;
  readonly health: Reading<Health>;
  readonly models: Reading<ModelList>;
  readonly listed: Reading<readonly ProviderModels[]>;
}

export function useProviders(): ProviderReadings {
  const api = useApi();
  const catalog = usePolled<ProviderCatalog>({
    key: ['providers', 'catalog'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/admin/providers/catalog', { signal }),
  });
  const deep = usePolled<DeepHealth>({
    key: ['health'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/admin/health', { signal }),
  });
  const health = usePolled<Health>({
    key: ['health', 'public'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/health', { signal, accepts: [503] }),
  });
  const models = usePolled<ModelList>({
    key: ['models'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/v1/models', { signal }),
  });
  const listed = usePolled<readonly ProviderModels[]>({
    key: ['providers', 'models'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/admin/providers', { signal }),
  });
  return { catalog, deep, health, models, listed };
}
