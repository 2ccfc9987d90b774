import { PG_CONNECTIONS } from '../../../host/environment/store-settings.ts';
import type { Lane } from '../database/database.ts';

/** What may stand in a database of Postgres. */
export type Role = 'keys' | 'configuration' | 'log';

/** Bounds of what one purpose asks, in milliseconds; 0 for none. The server gives up first, then this process, then who waits. See docs/stores.md#limits. */
export interface LaneLimits {
  /** For a statement, on the server. */
  readonly statementMs: number;
  /** For a lock that a statement waits for, on the server. */
  readonly lockMs: number;
  /** For a statement, here. A connection that takes longer is destroyed. */
  readonly clientMs: number;
  /** For a connection, until one is free. */
  readonly waitMs: number;
}

const ANSWERED_SOON: LaneLimits = { statementMs: 2000, lockMs: 2000, clientMs: 2500, waitMs: 2000 };
const WRITTEN_BEHIND: LaneLimits = { statementMs: 5000, lockMs: 5000, clientMs: 6000, waitMs: 6000 };

export const LANE_LIMITS: Readonly<Record<Lane, LaneLimits>> = {
  lookups: ANSWERED_SOON,
  changes: { statementMs: 8000, lockMs: 7000, clientMs: 9000, waitMs: 9000 },
  ledger: WRITTEN_BEHIND,
  log: WRITTEN_BEHIND,
  state: ANSWERED_SOON,
  reads: { statementMs: 10_000, lockMs: 5000, clientMs: 11_000, waitMs: 10_000 },
};

/** Milliseconds after which the server ends a transaction in which nothing happens. */
export const IDLE_IN_TRANSACTION_MS = 5000;

/** Connections to an address, the listening one among them, that may stay while the process drains. */
export const DRAINED_CONNECTIONS = 5;

const LANES_OF: Readonly<Record<Role, readonly Lane[]>> = {
  keys: ['lookups', 'changes', 'ledger'],
  configuration: ['lookups', 'changes'],
  log: ['log'],
};

/** How many connections each purpose has to itself at one address, where these things stand. What has none uses another's (`Slots`). */
export function laneSizes(connections: number, roles: readonly Role[]): ReadonlyMap<Lane, number> {
  const made = new Set<Lane>(['state', ...roles.flatMap((role) => LANES_OF[role])]);
  const more = Math.floor((connections - PG_CONNECTIONS.least) / 5);
  const sizes = new Map<Lane, number>(
    made.values().map((lane) => [lane, lane === 'lookups' || lane === 'changes' ? 1 + more : 1]),
  );
  return sizes.set('reads', connections - 1 - placesIn(sizes)); // one listens
}

/** Places while the process drains: one each. Where that would be more than may stay, pages wait for the place of changes, and rows of the log for that of the ledger. */
export function drainedSizes(sizes: ReadonlyMap<Lane, number>): ReadonlyMap<Lane, number> {
  const drained = new Map(sizes.keys().map((lane) => [lane, 1]));
  for (const lane of ['reads', 'log'] as const)
    if (placesIn(drained) + 1 > DRAINED_CONNECTIONS && drained.has(lane)) drained.set(lane, 0);
  return drained;
}

const placesIn = (sizes: ReadonlyMap<Lane, number>): number => sizes.values().reduce((sum, size) => sum + size, 0);
