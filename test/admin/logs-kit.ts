import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import type { RequestLogRow } from '../../host/contract/index.ts';
import { fakeClock, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { type AdminHost, ECHO, startAdmin } from './kit.ts';

type StartLogged = (config?: object, variables?: Readonly<Record<string, string>>) => Promise<AdminHost>;

const STAGES = ['before_request', 'after_request', 'on_error'];
export const logger = (stages = STAGES): object[] =>
  stages.map((stage) => ({ name: 'request-logger', type: 'logging', stage, enabled: true, config: { persist: true } }));
export const NOON = Date.parse('2026-11-22T12:00:00.000Z');

/** Runs tests over every backend of the request log, each of them on an empty one. */
export function forLogs(title: string, suite: (start: StartLogged) => void): void {
  const startOn =
    (store: Readonly<Record<string, string>>): StartLogged =>
    (config = ECHO, variables = {}) =>
      startAdmin({ variables: { ...store, ...variables }, clock: fakeClock(NOON) }, config);
  describe(`${title}, on SQLite`, () =>
    suite(async (...given) => {
      const folder = await temporaryFolder();
      return startOn({ REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: join(folder, 'requests.db') })(
        ...given,
      );
    }));
  describe(`${title}, on Postgres`, function onPostgres() {
    this.timeout(60_000);
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());
    suite(async (...given) => {
      const client = new Client({ connectionString: dsn() });
      await client.connect();
      await client.query('DROP TABLE IF EXISTS request_logs, request_log_schema_migrations');
      await client.end();
      return startOn({ REQUEST_LOG_STORE_BACKEND: 'Postgresql', REQUEST_LOG_STORE_DSN: dsn() })(...given);
    });
  });
}

export const row = (more: Partial<RequestLogRow> = {}): RequestLogRow => ({
  trace_id: 't',
  stage: 'after_request',
  model: 'm',
  provider: 'p',
  created_at: NOON,
  ...more,
});

export function fill(t: AdminHost, rows: readonly RequestLogRow[]): void {
  for (const each of rows) t.host.stores.requestLog.value!.append(each);
}

export async function read(t: AdminHost, path: string): Promise<any> {
  const answer = await t.get(path);
  expect(answer.status, answer.text).to.equal(200);
  return answer.json();
}

export const models = async (t: AdminHost, query: string): Promise<string[]> =>
  (await read(t, `/admin/logs${query}`)).data.map(({ model }: { model: string }) => model);
