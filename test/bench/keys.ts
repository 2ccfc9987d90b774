/**
 * What 100,000 keys cost on SQLite: `node test/bench/keys.ts`. Authentication of keys in use and of keys that memory does not know yet,
 * beside the digest that both need and the floor of `npm run bench`, and a page of the usage list.
 */
import { hash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../builtins/stores/database/database.ts';
import { rowOf } from '../../builtins/stores/key-rows.ts';
import { KEY_SCHEMA } from '../../builtins/stores/key-schema.ts';
import { tellNobody } from '../../builtins/stores/database/listen.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { SqlKeys } from '../../builtins/stores/sql-keys.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { systemClock } from '../../host/common/clock.ts';
import type { Log } from '../../host/contract/index.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { IdentityStore } from '../../host/stores/identities/identity-store.ts';
import { KeyStore } from '../../host/stores/keys/key-store.ts';
import type { UsageQuery } from '../../host/stores/keys/key-repository.ts';
import { Principals } from '../../host/stores/principals.ts';
import { floorUs } from './floor-cost.ts';

const KEYS = 100_000;
/** Authentication may cost this much where the floor costs that: 20 µs beside 30. */
const SHARE_OF_FLOOR = 20 / 30;
const ROUNDS = 5;
const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const keyOf = (at: number): string => `gw_${hash('sha256', `key ${at}`)}`;

export interface KeyCosts {
  readonly keys: number;
  /** CPU microseconds of the SHA-256 of a key. */
  readonly digestUs: number;
  /** Microseconds to find a key in memory, digest and count of the use included: of as many keys as there are, and of one. */
  readonly findUs: number;
  readonly findOneUs: number;
  /** Microseconds to find a key in the store. */
  readonly askUs: number;
  /** Milliseconds for a page of the usage list, by its query. */
  readonly pagesMs: Readonly<Record<string, number>>;
}

const PAGES: Readonly<Record<string, Partial<UsageQuery>>> = {
  usage: {},
  last_used: { sort: 'last_used' },
  'active only': { active: true },
  'last page': { offset: KEYS - 100 },
  'used since': { since: Date.now() - 1000 },
};

export async function keyCosts(keys = KEYS): Promise<KeyCosts> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-keys-'));
  const database = await openSqlite(join(folder, 'keys.db'), folder);
  try {
    await migrate(database, KEY_SCHEMA, SILENT, Date.now);
    await fill(database, keys);
    const deps = { clock: systemClock, log: SILENT, redactor: createRedactor({}), randomBytes };
    const store = new KeyStore(deps);
    store.supply('sqlite', new SqlKeys(database, tellNobody));
    const principals = new Principals(deps, store, new IdentityStore(deps, store.link));
    const askUs = await cpuUs(keys, (at) => principals.ask(keyOf(at)));
    const bearers = Array.from({ length: keys }, (_, at) => keyOf(at));
    const findUs = best(() =>
      spent(keys, () => {
        for (const bearer of bearers) if (!principals.find(bearer)) throw new Error('a key is missing');
      }),
    );
    const findOneUs = best(() =>
      spent(keys, () => {
        for (let at = 0; at < keys; at += 1) principals.find(bearers[0] ?? '');
      }),
    );
    const digestUs = best(() =>
      spent(keys, () => {
        for (const bearer of bearers) hash('sha256', bearer);
      }),
    );
    await store.flush();
    const pagesMs: Record<string, number> = {};
    for (const [name, query] of Object.entries(PAGES)) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const begun = performance.now();
        await store.usage({ sort: 'usage', limit: 20, offset: 0, ...query });
        times.push(performance.now() - begun);
      }
      pagesMs[name] = Math.min(...times);
    }
    await store.close();
    return { keys, digestUs, findUs, findOneUs, askUs, pagesMs };
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

/** In transactions of a thousand: one for each would take minutes. */
async function fill({ knex, dialect }: Database, keys: number): Promise<void> {
  const now = Date.now();
  for (let from = 0; from < keys; from += 1000) {
    await knex.transaction(async (trx) => {
      for (let at = from; at < Math.min(keys, from + 1000); at += 1) {
        const key = {
          id: `id-${at}`,
          digest: hash('sha256', keyOf(at)),
          display: keyOf(at).slice(0, 8),
          name: `key ${at}`,
          scopes: [],
          createdAt: now - at,
          usageCount: 0,
          active: true,
          limits: {},
        };
        await trx('api_keys').insert(rowOf(key, dialect));
      }
    });
  }
}

/** CPU microseconds per call. */
async function cpuUs(calls: number, call: (at: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let at = 0; at < calls; at += 1) await call(at);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

function spent(calls: number, work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

function best(measure: () => number): number {
  measure(); // warms up
  return Math.min(...Array.from({ length: ROUNDS }, measure));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { keys, digestUs, findUs, findOneUs, askUs, pagesMs } = await keyCosts();
  const bareUs = await floorUs();
  const lines = [
    `${keys} keys on SQLite`,
    `  SHA-256 of a key            ${digestUs.toFixed(2)} µs CPU`,
    `  one key, again and again    ${findOneUs.toFixed(2)} µs CPU`,
    `  another key each time       ${findUs.toFixed(2)} µs CPU`,
    `  a key's first use           ${askUs.toFixed(2)} µs CPU, all threads`,
    `  a request of the floor      ${bareUs.toFixed(2)} µs CPU; authentication may take ${(bareUs * SHARE_OF_FLOOR).toFixed(2)}`,
    ...Object.entries(pagesMs).map(([name, ms]) => `  usage page, ${name.padEnd(15)} ${ms.toFixed(1)} ms`),
  ];
  console.log(lines.join('\n'));
  process.exit(0); // load generators and upstreams end with it
}
