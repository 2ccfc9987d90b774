import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorMessage } from '../../../host/common/error-message.ts';
import type { StoreSettings } from '../../../host/environment/store-settings.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import type { Host } from '../../../host/host.ts';
import { heldBy } from './owner-lock.ts';
import { addressOf } from '../postgres/address.ts';
import { readBudget, tooMany } from '../postgres/connection-budget.ts';
import { isExposed, openPostgres } from './postgres.ts';
import { derivedDsn, isMemory, readSqliteDsn } from './sqlite-dsn.ts';

/** What each store of the environment can be opened with. Nothing is made: a start does that. */
export async function examineStores(host: Host): Promise<readonly Finding[]> {
  const { keyStore, configurationStore, logStore } = host.settings;
  const { dsn } = keyStore;
  const keyFiles =
    dsn === undefined
      ? ['gw-keys.db', 'gw-sessions.db', 'gw-audit.db']
      : () => [dsn, derivedDsn(dsn, 'sessions'), derivedDsn(dsn, 'audit')];
  return [
    ...(await examineStore(host, { what: 'keys', settings: keyStore, files: keyFiles })),
    ...(await examineStore(host, {
      what: 'configuration',
      settings: configurationStore,
      files: [configurationStore.dsn ?? 'gw-config.db'],
    })),
    ...(logStore
      ? await examineStore(host, { what: 'request log', settings: logStore, files: [logStore.dsn ?? 'gw-requests.db'] })
      : [{ level: 'absent', text: 'request log: not kept' } as const]),
  ];
}

/** Whether the servers of Postgres have enough connections for what is kept there. Nothing where nothing is. */
export async function examineConnections(host: Host): Promise<readonly Finding[]> {
  const { keyStore, configurationStore, logStore, pgConnections } = host.settings;
  const stores = [
    ['keys', keyStore],
    ['configuration', configurationStore],
    ['request log', logStore],
  ] as const;
  const addresses = new Map<string, { readonly names: string[]; readonly dsn: string }>();
  for (const [name, store] of stores) {
    if (store?.backend !== 'postgres' || store.dsn === undefined) continue;
    const { dsn } = store;
    const address = await addressOf(dsn).catch(() => undefined); // what cannot be read is said of the store
    if (address === undefined) continue;
    const known = addresses.get(address) ?? { names: [], dsn };
    known.names.push(name);
    addresses.set(address, known);
  }
  const findings = [...addresses.values()].map(({ names, dsn }) => examineBudget(names.join(', '), dsn, pgConnections));
  return (await Promise.all(findings)).flat();
}

/** What cannot be asked is said of the store as well. */
async function examineBudget(what: string, dsn: string, connections: number): Promise<Finding[]> {
  try {
    const database = await openPostgres(dsn);
    try {
      const budget = await readBudget(database);
      if (database.isPooled)
        return [{ level: 'good', text: `${what}: at most ${connections}, by a pooler, which has bounds of its own` }];
      const warning = tooMany(budget, Math.max(1, budget.live), connections);
      if (warning !== undefined) return [{ level: 'warning', text: `${what}: WN87: ${warning}` }];
      return [
        { level: 'good', text: `${what}: at most ${connections} of ${budget.most}, of which ${budget.open} are open` },
      ];
    } finally {
      await database.close();
    }
  } catch {
    return [{ level: 'absent', text: `${what}: the server does not answer` }];
  }
}

interface Examined {
  readonly what: string;
  readonly settings: StoreSettings;
  /** Files of SQLite, named as operators write them. A function where a name may be wrong. */
  readonly files: readonly string[] | (() => readonly string[]);
}

async function examineStore(host: Host, { what, settings, files }: Examined): Promise<Finding[]> {
  const { backend, prefix } = settings;
  if (backend === 'memory') return [{ level: 'absent', text: `${what}: in memory, lost at a restart` }];
  try {
    if (backend === 'postgres') return [await examinePostgres(what, settings)];
    return await Promise.all(
      (typeof files === 'function' ? files() : files).map((file) => examineSqlite(host, what, file)),
    );
  } catch (error) {
    return [{ level: 'bad', text: `${what}: ${prefix}_DSN: ${host.redactor.redact(errorMessage(error))}` }];
  }
}

async function examinePostgres(what: string, { dsn = '', prefix }: StoreSettings): Promise<Finding> {
  const database = await openPostgres(dsn);
  try {
    await database.knex.raw('SELECT 1');
  } finally {
    await database.close();
  }
  if (isExposed(dsn))
    return { level: 'warning', text: `${what}: Postgres answers; ${prefix}_DSN reaches a public address without TLS` };
  return { level: 'good', text: `${what}: Postgres answers` };
}

async function examineSqlite({ workingDirectory }: Host, what: string, dsn: string): Promise<Finding> {
  const source = readSqliteDsn(dsn);
  if (isMemory(source)) return { level: 'warning', text: `${what}: SQLite in memory, lost at a restart` };
  const file = resolve(workingDirectory, source.file);
  const stats = await stat(file).catch(() => undefined);
  if (!stats) {
    if (await may(dirname(file), constants.W_OK))
      return { level: 'good', text: `${what}: ${file} does not exist yet, a start makes it` };
    return { level: 'bad', text: `${what}: ${file} cannot be made: its folder does not exist, or may not be written` };
  }
  if (!stats.isFile() || !(await may(file, constants.R_OK | constants.W_OK)))
    return { level: 'bad', text: `${what}: ${file} may not be read and written` };
  const mode = stats.mode & 0o777;
  if ((mode & 0o077) !== 0)
    return {
      level: 'warning',
      text: `${what}: ${file} is open to other users (mode ${mode.toString(8)}); run chmod 600`,
    };
  const holder = await heldBy(await realpath(file));
  return { level: 'good', text: `${what}: ${file}${holder === undefined ? '' : `, open in ${holder}`}` };
}

const may = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
