import { join } from 'node:path';
import { expect } from 'chai';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { atEnd, eventually, type GatewayProcess, startGateway, temporaryFolder } from '../kit/index.ts';

const ALL = { stages: [] };
const BEFORE = 30;
const LATE = 30;

describe('a gateway with a request log that is killed', function killed() {
  this.timeout(60_000);

  it('has written its rows without a stop and without a reader, and starts again with whole ones', async () => {
    const cwd = await temporaryFolder();
    const file = join(cwd, 'rows.db');
    const start = (): Promise<GatewayProcess> =>
      startGateway({
        cwd,
        variables: { RATE_LIMIT_RPS: '0', REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: file },
      });
    const chat = async ({ url, key }: GatewayProcess): Promise<string> => {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hi' }] }),
      });
      await answer.text();
      expect(answer.status).to.equal(200);
      return answer.headers.get('x-request-id') ?? '';
    };
    const first = await start();
    const acknowledged = await Promise.all(Array.from({ length: BEFORE }, () => chat(first)));
    const database = await openSqlite(file, cwd);
    atEnd(() => database.close());
    const logs = new SqlLogs(database);
    await eventually(async () => (await logs.count(ALL)) === BEFORE);
    const late = Promise.all(Array.from({ length: LATE }, () => chat(first).catch(() => '')));
    await Promise.race([chat(first).catch(() => ''), late]);
    await first.stop('SIGKILL');
    await late;

    const second = await start();
    const { rows, total } = await logs.list(ALL, 200, 0);
    expect([rows.length, new Set(rows.map(({ trace_id: id }) => id)).size]).to.deep.equal([total, total]);
    expect(total).to.be.within(BEFORE, BEFORE + LATE + 1);
    expect(rows.map(({ trace_id: id }) => id)).to.include.members(acknowledged);
    for (const row of rows) expect(row).to.include({ stage: 'after_request', provider: 'echo', error_message: null });
    const counted = (await database.knex('request_logs').count({ rows: '*' }).first()) as { rows: number };
    expect(counted.rows).to.equal(total);
    const after = await chat(second);
    const page = (await (
      await fetch(`${second.url}/admin/logs?limit=1`, { headers: { authorization: `Bearer ${second.key}` } })
    ).json()) as { data: { trace_id: string }[]; summary: { total_entries: number } };
    expect([page.data[0]?.trace_id, page.summary.total_entries]).to.deep.equal([after, total + 1]);
  });
});
