import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../builtins/stores/database/database.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { atEnd, eventually, MASTER_KEY, startHost, temporaryFolder } from '../kit/index.ts';

/** It would take minutes. */
const LONG =
  'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) SELECT max(i) FROM n';

/** A request log whose statistics take minutes; its rows are kept in another table. */
async function slowLog(file: string): Promise<Database> {
  const database = await openSqlite(file, '.');
  atEnd(() => database.close());
  const names = (await database.knex('request_logs').columnInfo()) as Record<string, unknown>;
  const columns = Object.keys(names).filter((name) => name !== 'id');
  await database.knex.raw('ALTER TABLE request_logs RENAME TO kept_rows');
  await database.knex.raw(`CREATE VIEW request_logs AS SELECT * FROM kept_rows WHERE (${LONG}) > 0`);
  await database.knex.raw(
    `CREATE TRIGGER keep INSTEAD OF INSERT ON request_logs BEGIN INSERT INTO kept_rows (${columns.join(', ')}) VALUES (${columns.map((name) => `NEW.${name}`).join(', ')}); END`,
  );
  return database;
}

describe('statistics of a large request log', function statistics() {
  this.timeout(60_000);

  it('keep no row from being written, and end with their clients', async () => {
    const file = join(await temporaryFolder(), 'requests.db');
    const t = await startHost(
      {
        targets: [{ virtual_key: 'echo' }],
        plugins: [{ name: 'request-logger', stage: 'after_request', enabled: true, config: { persist: true } }],
      },
      { variables: { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: file } },
    );
    const chat = async (): Promise<number> =>
      (await t.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hi' }] })).status;
    expect(await chat()).to.equal(200); // what is empty is read at once
    expect((await t.get('/admin/logs')).json().summary.total_entries).to.equal(1);
    const database = await slowLog(file);
    const left = new AbortController();
    let settled = 0;
    const asking = Array.from({ length: 4 }, async () => {
      await fetch(`${t.url}/admin/logs/stats`, {
        headers: { authorization: `Bearer ${MASTER_KEY}` },
        signal: left.signal,
      }).catch(() => {});
      settled += 1;
    });
    const requests = 20;
    for (let at = 1; at < requests; at += 1) expect(await chat()).to.equal(200);
    const rows = async (): Promise<number> =>
      Number(((await database.knex('kept_rows').count({ rows: '*' }).first()) as { readonly rows: unknown }).rows);
    await eventually(async () => (await rows()) === requests);
    expect(await rows()).to.equal(requests);
    expect(settled).to.equal(0);
    left.abort();
    await Promise.all(asking);
    await database.knex.raw('DROP VIEW request_logs');
    await database.knex.raw('ALTER TABLE kept_rows RENAME TO request_logs');
    const statistics = await t.get('/admin/logs/stats'); // the connection is free, without the limit having passed
    expect(statistics.json().summary.total_entries).to.equal(requests);
    expect(t.lines.filter(({ msg }) => /given up|does not answer/.test(String(msg)))).to.deep.equal([]);
  });
});
