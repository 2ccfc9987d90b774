import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { type AdminHost, startAdmin } from '../admin/kit.ts';
import { type CommandResult, runCommand } from '../cli/commands.ts';
import { MASTER_KEY, type PostgresServer, temporaryFolder, type TestHostOptions } from '../kit/index.ts';

interface Table {
  readonly columns: Readonly<Record<string, string>>;
  readonly id: readonly string[];
}

/** Tables of five versions of LiteLLM, out of its own schema: test/fixtures/litellm-db/generate.py. */
export const SCHEMAS = (
  JSON.parse(readFileSync(new URL('../fixtures/litellm-db/schemas.json', import.meta.url), 'utf8')) as {
    schemas: Readonly<Record<string, Readonly<Record<string, Table>>>>;
  }
).schemas;
export const VERSIONS = Object.keys(SCHEMAS);
export const NEWEST = VERSIONS.at(-1)!;

/** As LiteLLM keeps a key: `hash_token` of its proxy. */
export const digestOf = (key: string): string => hash('sha256', key);

export type Row = Readonly<Record<string, unknown>>;
/** Rows by table, without `LiteLLM_`. */
export type Rows = Readonly<Record<string, readonly Row[]>>;

export interface LitellmWorld {
  readonly dsn: string;
  readonly client: Client;
  insert(rows: Rows): Promise<void>;
}

/** A database as a version of LiteLLM makes it. Columns that a row names and the version does not have are left out. */
export async function litellmWorld(server: PostgresServer, version = NEWEST): Promise<LitellmWorld> {
  const dsn = await server.createDatabase();
  const client = new Client({ connectionString: dsn });
  await client.connect();
  const tables = SCHEMAS[version]!;
  for (const [name, { columns, id }] of Object.entries(tables)) {
    const lines = Object.entries(columns).map(([column, type]) => `"${column}" ${type}`);
    const key = id.map((column) => `"${column}"`).join(', ');
    await client.query(`CREATE TABLE "${name}" (${lines.join(', ')}, PRIMARY KEY (${key}))`);
  }
  const insert = async (rows: Rows): Promise<void> => {
    for (const [table, all] of Object.entries(rows)) {
      const known = tables[`LiteLLM_${table}`];
      if (known) await insertAll(client, `LiteLLM_${table}`, known, all);
    }
  };
  return { dsn, client, insert };
}

const WRITTEN_BY: Row = { created_by: 'admin', updated_by: 'admin', updated_at: '2026-11-01T00:00:00Z' };

async function insertAll(client: Client, name: string, { columns }: Table, rows: readonly Row[]): Promise<void> {
  for (const row of rows) {
    const given = Object.entries({ ...WRITTEN_BY, ...row }).filter(([column]) => columns[column] !== undefined);
    const values = given.map(([column, value]) =>
      columns[column]!.startsWith('JSONB')
        ? JSON.stringify(value)
        : columns[column]!.startsWith('TIMESTAMP')
          ? utc(value)
          : value,
    );
    const places = given.map((_value, at) => `$${at + 1}`).join(', ');
    const list = given.map(([column]) => `"${column}"`).join(', ');
    await client.query(`INSERT INTO "${name}" (${list}) VALUES (${places})`, values);
  }
}

/** Columns of moments have no zone there. */
const utc = (value: unknown): unknown => (typeof value === 'string' ? value.replace(/Z$/, '') : value);

/** A gateway that keeps its keys in a file, as an import needs it. */
export async function gatewayFor(options: TestHostOptions = {}, config?: object): Promise<AdminHost> {
  const file = join(await temporaryFolder(), 'keys.db');
  const variables = { API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: file, ...options.variables };
  return startAdmin({ ...options, variables }, config);
}

/** Runs `gw import litellm-db` against a gateway. */
export function importing(t: { readonly url: string }, dsn: string, ...args: string[]): Promise<CommandResult> {
  const all = ['import', 'litellm-db', ...(dsn === '' ? [] : ['--dsn', 'env:SOURCE']), ...args];
  return runCommand([...all, '--gateway-url', t.url, '--api-key', MASTER_KEY], { variables: { SOURCE: dsn } });
}

export const importingJson = async (t: { readonly url: string }, dsn: string, ...args: string[]): Promise<any> => {
  const { stdout, stderr } = await importing(t, dsn, ...args, '--format', 'json');
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
};
