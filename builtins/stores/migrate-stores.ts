import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { StoreSettings } from '../../host/environment/store-settings.ts';
import type { Host } from '../../host/host.ts';
import type { MigrationRun } from '../../host/host-hooks.ts';
import { CONFIG_SCHEMA } from './configuration/config-schema.ts';
import { additiveText, nameOf, pendingSteps } from './database/bring-up.ts';
import type { Database } from './database/database.ts';
import { migrate, type Schema } from './database/migrate.ts';
import { openSqliteFile } from './database/open-file.ts';
import { openPostgres } from './database/postgres.ts';
import { openSqlite } from './database/sqlite.ts';
import { isMemory, readSqliteDsn } from './database/sqlite-dsn.ts';
import { LOG_SCHEMA } from './log/log-schema.ts';
import { LOG_PAGE_BYTES } from './log/open-request-log.ts';
import { KEY_SCHEMAS } from './open-postgres.ts';
import { keyFiles } from './open-sqlite.ts';
import { REPLICA_SCHEMA, SHARED_SCHEMA } from './replicas/replica-schema.ts';

/** Tables that stand together: in a file of SQLite, or a database of Postgres. */
interface Place {
  readonly backend: 'sqlite' | 'postgres';
  readonly dsn: string;
  readonly schemas: readonly Schema[];
  readonly what: string;
  readonly pageBytes?: number;
}

/** Brings the tables of every configured store up to date, or tells what they lack. Nothing else is opened or served. */
export async function migrateStores({ host, isCheck, found, report }: MigrationRun<Host>): Promise<void> {
  const { keyStore, configurationStore, logStore } = host.settings;
  const places = [...keyPlaces(keyStore), ...onePlace(configurationStore, CONFIG), ...onePlace(logStore, LOG)];
  for (const place of places) {
    found();
    if (isCheck) await tellPending(host, place, report);
    else await migratePlace(host, place, report);
  }
}

const CONFIG = { file: 'gw-config.db', what: 'the configuration store', schema: CONFIG_SCHEMA };
const LOG = {
  file: 'gw-requests.db',
  what: 'the request log store',
  schema: LOG_SCHEMA,
  pageBytes: LOG_PAGE_BYTES,
};

function keyPlaces({ backend, dsn, listenDsn }: StoreSettings): readonly Place[] {
  const what = 'the key store';
  if (backend === 'memory') return [];
  if (backend === 'sqlite') return keyFiles(dsn).map((file) => ({ backend, what, ...file }));
  return [{ backend, dsn: listenDsn ?? dsn ?? '', what, schemas: [SHARED_SCHEMA, REPLICA_SCHEMA, ...KEY_SCHEMAS] }];
}

function onePlace(
  settings: StoreSettings | undefined,
  { file, what, schema, ...more }: typeof CONFIG,
): readonly Place[] {
  if (!settings || settings.backend === 'memory') return [];
  const { backend, dsn } = settings;
  return backend === 'sqlite'
    ? [{ backend, dsn: dsn ?? file, what, schemas: [schema], ...more }]
    : [{ backend, dsn: dsn ?? '', what, schemas: [SHARED_SCHEMA, schema] }];
}

type Report = MigrationRun<Host>['report'];

async function tellPending(host: Host, place: Place, report: Report): Promise<void> {
  for (const [schema, steps] of await pendingAt(host, place))
    for (const step of steps) {
      const dialect = { name: place.backend };
      report({ store: nameOf(schema), pending: `${step.version} ${step.name}`, kind: additiveText(step, dialect) });
    }
}

async function migratePlace(host: Host, place: Place, report: Report): Promise<void> {
  const pending = await pendingAt(host, place);
  await takeSteps(host, place);
  for (const [schema, steps] of pending) {
    if (steps.length === 0) continue;
    const missing = new Set(steps);
    const done = schema.migrations.filter((step) => !missing.has(step));
    report({
      store: nameOf(schema),
      backend: place.backend,
      from: done.at(-1)?.version ?? 0,
      to: schema.migrations.at(-1)?.version ?? 0,
      steps: steps.map(({ name }) => name),
    });
  }
}

/** Steps that are missing, by schema. A file that is not there lacks all, and is not made. */
async function pendingAt(
  host: Host,
  place: Place,
): Promise<readonly (readonly [Schema, Awaited<ReturnType<typeof pendingSteps>>])[]> {
  const database = await openAt(host, place);
  if (!database) return place.schemas.map((schema) => [schema, schema.migrations]);
  try {
    const found: (readonly [Schema, Awaited<ReturnType<typeof pendingSteps>>])[] = [];
    for (const schema of place.schemas) found.push([schema, await pendingSteps(database, schema)]);
    return found;
  } finally {
    await database.close();
  }
}

async function openAt({ workingDirectory }: Host, { backend, dsn }: Place): Promise<Database | undefined> {
  if (backend === 'postgres') return openPostgres(dsn);
  const source = readSqliteDsn(dsn);
  const isThere = !isMemory(source) && (await stat(resolve(workingDirectory, source.file)).catch(() => undefined));
  return isThere ? openSqlite(dsn, workingDirectory) : undefined;
}

async function takeSteps(host: Host, { backend, dsn, schemas, what, pageBytes }: Place): Promise<void> {
  if (backend === 'sqlite') {
    await (await openSqliteFile(host, dsn, { what, schemas, pageBytes, migrates: true })).close();
    return;
  }
  const database = await openPostgres(dsn);
  try {
    for (const schema of schemas) await migrate(database, schema, host.log, host.services.clock.now);
  } finally {
    await database.close();
  }
}
