import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import {
  type Answer,
  forSuite,
  some,
  startHost,
  startPostgres,
  temporaryFolder,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

export const ECHO = { targets: [{ virtual_key: 'echo' }] };

export const as = (credential: string): Record<string, string> => ({ authorization: `Bearer ${credential}` });
export const NOBODY = { authorization: '' };

/** A key as its creation showed it. */
export interface KeyObject {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly [member: string]: any;
}

export interface AdminHost extends TestHost {
  /** Makes a key with the master key. */
  makeKey(body?: object): Promise<KeyObject>;
  adminKey(name?: string): Promise<KeyObject>;
  /** Signs in, and gives what the answer says. */
  signIn(credential: string): Promise<{ readonly token: string; readonly [member: string]: any }>;
  /** The id of the only session there is, or of the newest. */
  newestSession(): Promise<string>;
  /** Rows of the audit trail, newest first. */
  trail(query?: string): Promise<Record<string, any>[]>;
}

export async function startAdmin(options: TestHostOptions = {}, config: object = ECHO): Promise<AdminHost> {
  const t = await startHost(config, options);
  const made = async (work: Promise<Answer>, status: number): Promise<any> => {
    const answer = await work;
    expect(answer.status, answer.text).to.equal(status);
    return answer.json();
  };
  const makeKey = (body: object = {}): Promise<KeyObject> => made(t.post('/admin/keys', { name: 'key', ...body }), 201);
  return {
    ...t,
    makeKey,
    adminKey: (name = 'admin') => makeKey({ name, scopes: ['admin'] }),
    signIn: (credential) => made(t.request('POST', '/admin/session', undefined, as(credential)), 201),
    newestSession: async () => ((await made(t.get('/admin/sessions'), 200)) as { data: { id: string }[] }).data[0]!.id,
    trail: async (query = '') =>
      ((await made(t.get(`/admin/audit?limit=200${query}`), 200)) as { data: Record<string, any>[] }).data,
  };
}

type Start = (options?: TestHostOptions, config?: object) => Promise<AdminHost>;

const startOn =
  (variables: Readonly<Record<string, string>>): Start =>
  (options = {}, config = ECHO) =>
    startAdmin({ ...options, variables: { ...variables, ...options.variables } }, config);

/** Leaves a third of the tests of a suite, and in the soak all of them. */
function thin(suite: Mocha.Suite, from: number): void {
  suite.tests = [...some(suite.tests, { from })];
  for (const inner of suite.suites) thin(inner, from);
}

/**
 * Runs tests over every backend of the key store, each of them on an empty one: all of them in memory, and a third on each of the databases, whose
 * repositories have tests of their own (test/stores/repositories.test.ts).
 */
export function forBackends(title: string, suite: (start: Start) => void): void {
  describe(`${title}, in memory`, () => suite(startAdmin));
  describe(`${title}, on SQLite`, function onSqlite() {
    suite(async (...given) => {
      const folder = await temporaryFolder();
      return startOn({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(folder, 'keys.db') })(...given);
    });
    thin(this, 1);
  });
  describe(`${title}, on Postgres`, function onPostgres() {
    this.timeout(60_000);
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());
    suite(async (...given) => {
      await emptyTables(dsn());
      return startOn({ API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn() })(...given);
    });
    thin(this, 2);
  });
}

/** Empties the tables of the gateway before, if there was one. */
async function emptyTables(dsn: string): Promise<void> {
  const client = new Client({ connectionString: dsn });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE tablename IN ('api_keys', 'sessions', 'audit_log', 'accounts', 'raises', 'spend', 'spend_entries', 'ledger_accounts', 'identities')",
  );
  if (rows.length > 0) await client.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')}`);
  await client.end();
}

/** Status and code of an error. */
export function refusal(answer: Answer): [number, string] {
  return [answer.status, answer.json().error.code];
}
