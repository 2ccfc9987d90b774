import { randomInt } from 'node:crypto';
import { type Database, rowsOf } from '../database/database.ts';

/** Any number below 2^48: while it is locked by one address, the other sees it. */
const MOST = 2 ** 48 - 1;

/**
 * Whether two addresses reach the same database: what is locked through one is seen through the other. It is asked before anything is made there, so a
 * copy, a standby or another database of the server is found, also one that is empty.
 */
export function isSameDatabase(one: Database, other: Database): Promise<boolean> {
  const number = randomInt(1, MOST);
  return one.knex.transaction(async (trx) => {
    await trx.raw('SELECT pg_advisory_xact_lock(?)', [number]);
    const [row] = rowsOf(
      await other.on('state').raw(
        `SELECT count(*) > 0 AS seen FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND objsubid = 1 AND ((classid::bigint << 32) | objid::bigint) = ?`,
        [number],
      ),
    );
    return row?.['seen'] === true;
  });
}
