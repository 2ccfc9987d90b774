import type { Database } from '../database/database.ts';
import { rowsOf } from '../database/database.ts';

/** What a server of Postgres gives to all who use it. */
export interface ConnectionBudget {
  /** Its `max_connections`. */
  readonly most: number;
  /** Those that are open now, of whatever program. */
  readonly open: number;
  /** Replicas of this gateway that are alive, by their rows. */
  readonly live: number;
}

/** The part of a server's connections that replicas may have together: the rest is for administrators, backups and a rollout. */
const SHARE = 0.8;

export async function readBudget(database: Database): Promise<ConnectionBudget> {
  const knex = database.on('reads');
  const [server] = rowsOf(
    await knex.raw(
      `SELECT current_setting('max_connections')::int AS most, (SELECT sum(numbackends)::int FROM pg_stat_database) AS open,
      to_regclass('gw_replicas') IS NOT NULL AS has_replicas`,
    ),
  );
  const [replicas] =
    server?.['has_replicas'] === true
      ? rowsOf(await knex.raw('SELECT count(*)::int AS live FROM gw_replicas WHERE until > clock_timestamp()'))
      : [];
  return {
    most: Number(server?.['most']),
    open: Number(server?.['open']),
    live: Number(replicas?.['live'] ?? 0),
  };
}

/** Why so many connections of each of these replicas are too many for the server; `undefined` where they are not. */
export function tooMany({ most }: ConnectionBudget, live: number, connections: number): string | undefined {
  const all = live * connections;
  if (all <= SHARE * most) return undefined;
  const replicas = live === 1 ? 'this replica' : `${live} live replicas`;
  return `${replicas} may hold ${all} of the ${most} connections of the database server, more than four fifths; lower GW_PG_CONNECTIONS, or raise max_connections there`;
}
