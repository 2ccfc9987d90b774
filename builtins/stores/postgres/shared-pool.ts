import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import type { Host } from '../../../host/host.ts';
import type { Database } from '../database/database.ts';
import { databaseOn } from '../database/postgres.ts';
import { addressOf } from './address.ts';
import { AddressPool } from './address-pool.ts';
import { readBudget, tooMany } from './connection-budget.ts';
import { drainedSizes, laneSizes, type Role } from './lanes.ts';

/** The connections to the database of a DSN that all stores of this gateway share, however each of them writes it. */
export async function openSharedPostgres(host: Host, dsn: string): Promise<Database> {
  const [{ default: driver }, address] = await Promise.all([import('pg'), addressOf(dsn)]);
  const sizes = laneSizes(host.settings.pgConnections, await rolesAt(host, address));
  const drained = drainedSizes(sizes);
  const view = host.carryover.open();
  let forget: (() => void) | undefined;
  const make = (): AddressPool => {
    const opened = new AddressPool(dsn, driver, {
      clock: host.services.clock,
      sizes: () => (host.isLeaving ? drained : sizes),
    });
    forget = host.stores.connections.add(() => opened.counts);
    return opened;
  };
  const pool = view.lease(`postgres ${address}`, make, (opened) => {
    forget?.();
    return opened.close();
  });
  try {
    await pool.refuseStatementMode();
    const database = await databaseOn(pool, () => view.release());
    if (forget && !database.isPooled) await warnOfConnections(host, database);
    return database;
  } catch (error) {
    await view.release();
    throw error;
  }
}

/** This process has no row yet. A role that may not ask is not in the way. */
async function warnOfConnections({ log, settings }: Host, database: Database): Promise<void> {
  const budget = await readBudget(database).catch(() => undefined);
  const warning = budget && tooMany(budget, budget.live + 1, settings.pgConnections);
  if (warning !== undefined) log.warn(warning, { rule: 'WN87' });
}

/** What stands in the database at an address, by the settings of all stores. */
export async function rolesAt({ settings }: Host, address: string): Promise<readonly Role[]> {
  const stores: readonly (readonly [Role, StoreSettings | undefined])[] = [
    ['keys', settings.keyStore],
    ['configuration', settings.configurationStore],
    ['log', settings.logStore],
  ];
  const roles: Role[] = [];
  for (const [role, store] of stores)
    if (store?.backend === 'postgres' && (await isAt(store.dsn, address))) roles.push(role);
  return roles;
}

/** A DSN that cannot be read is another's fault, and is named where that store is opened. */
const isAt = (dsn = '', address: string): Promise<boolean> =>
  addressOf(dsn).then(
    (other) => other === address,
    () => false,
  );
