import { CLOSE_LIMIT_MS, closeAll } from '../common/close-all.ts';
import type { Stores } from './stores.ts';

/** Milliseconds that are left for the databases to close. */
const LAST_MS = 250;

/**
 * Writes what waits, before the repositories close: all stores at the same time, and within five seconds together. What is lost is logged. The request log
 * writes the rest by itself when its builtin closes.
 */
export async function finishStores({ keys, audit, ledgers, logReader, end }: Stores): Promise<void> {
  end.comeWithin(CLOSE_LIMIT_MS - LAST_MS);
  await closeAll([
    () => ledgers.value.close?.(),
    () => keys.close(),
    () => audit.flush(),
    () => logReader.value?.flush?.(),
  ]);
  await audit.close(); // with what the others have left there
}

/** Milliseconds for a database to close, once its stores have finished. */
export function databaseLimitMs({ stores }: { readonly stores: Pick<Stores, 'end'> }): number {
  return Math.max(LAST_MS, stores.end.leftMs);
}
