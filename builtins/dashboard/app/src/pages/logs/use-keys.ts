import type { ApiKey } from '../../api/admin-wire.ts';
import { usePolled } from '../../api/polling.ts';
import { rowsIn } from '../../lib/fields.ts';
import { withQuery } from '../../lib/query-string.ts';
import { useApi } from '../../services.ts';
import { isMaster, type KnownKeys } from './key-names.ts';

const EVERY_SECONDS = 30;
/** Ids that one request may name: more than a page of the log has. */
const MOST_IDS = 200;
/** Keys that a reader can choose from without looking for one. */
const MOST_CHOICES = 100;

/** The stored keys behind the credentials of some rows. */
export function useKeysOf(credentials: readonly string[]): KnownKeys {
  const api = useApi();
  const ids = [...new Set(credentials.filter((id) => id !== '' && !isMaster(id)))].toSorted().slice(0, MOST_IDS);
  const { data, isPrevious } = usePolled<readonly ApiKey[]>({
    key: ['keys', 'names', ids],
    read: (signal) => api.json(withQuery('/admin/keys', { ids: ids.join(',') }), { signal }),
    everySeconds: EVERY_SECONDS,
    isEnabled: ids.length > 0,
    keepsLast: true,
  });
  return { keys: rowsIn(data), isWhole: data !== undefined && !isPrevious };
}

export interface KeyChoices {
  readonly keys: readonly ApiKey[];
  /** Whether there are more than are shown, so that one must be looked for by its name. */
  readonly areMany: boolean;
}

/** The newest keys; those with a text in their names, where one is looked for. */
export function useKeyChoices(name: string): KeyChoices {
  const api = useApi();
  const { data } = usePolled<{ readonly keys: readonly ApiKey[]; readonly total: number }>({
    key: ['keys', 'choices', name],
    read: async (signal) => {
      const path = withQuery('/admin/keys', { limit: MOST_CHOICES, q: name });
      const { data: keys, headers } = await api.answered(path, { signal });
      return { keys: keys as readonly ApiKey[], total: Number(headers.get('x-total-count')) };
    },
    everySeconds: EVERY_SECONDS,
    keepsLast: true,
  });
  return { keys: rowsIn(data?.keys), areMany: (data?.total ?? 0) > MOST_CHOICES };
}
