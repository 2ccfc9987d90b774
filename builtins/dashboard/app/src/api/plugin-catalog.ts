import { useQuery } from '@tanstack/react-query';
import { useApi } from '../services.ts';
import { given, type Reading } from './polling.ts';
import type { PluginCatalog } from './wire.ts';

/** The plugins that there are, read once for a session: they change with the process only. */
export function usePluginCatalog(): Reading<PluginCatalog> {
  const api = useApi();
  const { data, error, isFetching, refetch } = useQuery<PluginCatalog>({
    queryKey: ['plugins', 'catalog'],
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }) => given(await api.json<PluginCatalog>('/admin/plugins/catalog', { signal })),
  });
  return {
    data,
    error,
    isFetching,
    isPrevious: false,
    retry: () => {
      void refetch();
    },
  };
}
