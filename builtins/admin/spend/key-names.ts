import type { KeyStore } from '../../../host/stores/keys/key-store.ts';
import type { SpendSums } from '../../../host/stores/spend/spend-ledger.ts';

/** Keys that are looked for at once. */
const SLICE = 200;

/** Names of the keys that sums were made for; the empty text for one that is gone, and for the master key. */
export async function namesOfKeys(
  keys: Pick<KeyStore, 'page'>,
  sums: readonly SpendSums[],
): Promise<(id: string) => string> {
  const ids = new Set(sums.flatMap(({ key_id: id = '' }) => (id === '' ? [] : [id])));
  const names = new Map<string, string>();
  const asked = [...ids];
  for (let at = 0; at < asked.length; at += SLICE) {
    const page = await keys.page({ ids: asked.slice(at, at + SLICE) }, SLICE);
    for (const { id, name } of page.keys) names.set(id, name);
  }
  return (id) => names.get(id) ?? '';
}
