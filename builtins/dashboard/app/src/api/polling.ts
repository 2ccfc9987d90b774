import { keepPreviousData, QueryClient, type QueryKey, useQuery } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';

/**
 * How every read behaves: no retries behind the reader's back, no polling in a hidden tab, a fresh answer at once when a
 * stale tab is shown again, and the last good answer kept while a later one fails.
 */
export function makeQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: false,
        networkMode: 'always',
        refetchOnReconnect: true,
        refetchOnWindowFocus: true,
        refetchIntervalInBackground: false,
        staleTime: 5000,
        gcTime: 60_000,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

export interface Polled<Data> {
  readonly key: QueryKey;
  /** The signal ends with the last reader of this key: a filter that changed, a page that was left. */
  readonly read: (signal: AbortSignal) => Promise<Data>;
  /** Seconds between two reads; never again when it is left out. */
  readonly everySeconds?: number;
  readonly isEnabled?: boolean;
  /** Whether the answer to the last key stands until the next one is there. */
  readonly keepsLast?: boolean;
}

/** What is known of a read: nothing yet, its failure, or data, which a later failure leaves standing. */
export interface Reading<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
  /** Whether `data` answers an earlier question. */
  readonly isPrevious: boolean;
  readonly retry: () => void;
}

/** An answer without a body says nothing that could be shown. */
export function given<Data>(data: Data): Data {
  if (data === undefined || data === null) throw new ApiError(200, 'The gateway answered without data.');
  return data;
}

/** Reads now and then again while the tab is visible. A tick that meets a read in flight is left out. */
export function usePolled<Data>({
  key,
  read,
  everySeconds,
  isEnabled = true,
  keepsLast = false,
}: Polled<Data>): Reading<Data> {
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery<Data>({
    queryKey: key,
    queryFn: async ({ signal }) => given(await read(signal)),
    enabled: isEnabled,
    ...(everySeconds === undefined
      ? {}
      : { refetchInterval: everySeconds * 1000, staleTime: (everySeconds * 1000) / 2 }),
    ...(keepsLast ? { placeholderData: keepPreviousData } : {}),
  });
  return {
    data,
    error,
    isFetching,
    isPrevious: isPlaceholderData,
    retry: () => {
      void refetch();
    },
  };
}
