import { lookup } from 'node:dns/promises';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { eventually, type GatewayProcess, startGateway, temporaryFolder } from '../kit/index.ts';
import { SILENT } from '../stores/backends.ts';

const ROWS = 5_000_000;
const BATCH = 500_000;
const READERS = 4;
const ROUNDS = 3;
const CLIENTS = 8;
/** Milliseconds that a reading has, and what a busy machine adds. */
const LIMIT_MS = 10_000;
const SLACK_MS = 5000;

const CONFIG = {
  targets: [{ virtual_key: 'echo' }],
  plugins: [
    { name: 'request-logger', type: 'logging', stage: 'after_request', enabled: true, config: { persist: true } },
  ],
};

/** Rows of a month, one in twenty of which failed. */
async function filled(file: string): Promise<void> {
  const database = await openSqlite(file, '.');
  await migrate(database, LOG_SCHEMA, SILENT, Date.now);
  await database.knex.raw('PRAGMA synchronous = OFF');
  for (let at = 0; at < ROWS; at += BATCH)
    await database.knex.raw(
      `WITH RECURSIVE number (n) AS (SELECT ${at} UNION ALL SELECT n + 1 FROM number WHERE n < ${at + BATCH - 1})
        INSERT INTO request_logs (trace_id, stage, model, provider, prompt_tokens, completion_tokens, total_tokens, error_message, created_at, duration_ms, ttft_ms, cost_usd)
        SELECT printf('%032x', n), CASE n % 20 WHEN 0 THEN 'on_error' ELSE 'after_request' END, 'model-' || (n % 10), 'provider-' || (n % 4), n % 4000, n % 800, n % 4800,
          CASE n % 20 WHEN 0 THEN 'failed in way ' || (n % 12) END, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ((${ROWS} - n) / -2.0) || ' seconds'), 200 + (n * 7919) % 9000, (n * 6101) % 1500, 0.001 FROM number`,
    );
  await new SqlLogs(database).settle();
  await database.close();
}

interface Asked {
  readonly status: number;
  readonly ms: number;
}

async function ask(
  { url, key }: GatewayProcess,
  path: string,
  signal?: AbortSignal,
): Promise<Asked & { text: string }> {
  const begun = performance.now();
  const answer = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    ...(signal && { signal }),
  });
  const text = await answer.text();
  return { status: answer.status, ms: performance.now() - begun, text };
}

async function chat({ url, key }: GatewayProcess): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await answer.text();
  return answer.status;
}

describe(`statistics of ${ROWS} rows on SQLite`, function statistics() {
  this.timeout(30 * 60_000);

  it('end with their limit or their client, and not one row is lost meanwhile', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'requests.db');
    await filled(file);
    await writeFile(join(folder, 'config.json'), JSON.stringify(CONFIG));
    const gateway = await startGateway({
      cwd: folder,
      variables: {
        GATEWAY_CONFIG: 'config.json',
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: file,
      },
    });
    const over = new AbortController();
    let chats = 0;
    const chatting = Array.from({ length: CLIENTS }, async () => {
      while (!over.signal.aborted) {
        expect(await chat(gateway)).to.equal(200);
        chats += 1;
      }
    });
    const answers: Asked[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      answers.push(
        ...(await Promise.all(
          Array.from({ length: READERS }, () =>
            ask(gateway, '/admin/logs/stats?buckets=60&since=2020-01-01T00:00:00Z'),
          ),
        )),
      );
    const left = new AbortController();
    const leaving = Array.from({ length: READERS }, () =>
      ask(gateway, '/admin/logs/stats', left.signal).catch(() => {}),
    );
    await lookup('localhost');
    left.abort();
    await Promise.all(leaving);
    const list = await ask(gateway, '/admin/logs?limit=1');
    over.abort();
    await Promise.all(chatting);
    for (const { status, ms } of answers) {
      expect(status).to.be.oneOf([200, 500]);
      expect(ms).to.be.below(LIMIT_MS + SLACK_MS);
    }
    expect(list.status).to.equal(200);
    expect(list.ms, 'a page behind readings whose clients have left').to.be.below(LIMIT_MS);
    const total = async (): Promise<number> =>
      JSON.parse((await ask(gateway, '/admin/logs?limit=1')).text).summary.total_entries as number;
    await eventually(async () => (await total()) === ROWS + chats, 60_000);
    expect(await total()).to.equal(ROWS + chats);
    const metrics = await ask(gateway, '/metrics');
    expect(metrics.text).not.to.match(/^gateway_observability_events_dropped_total\{.*request_log.*\} [1-9]/m);
    const lines = gateway.lines
      .filter(({ level }) => level === 'WARN' || level === 'ERROR')
      .map(({ msg }) => String(msg));
    expect(lines.filter((msg) => /does not answer|could not be written|dropped/.test(msg))).to.deep.equal([]);
    process.stdout.write(
      `      ${chats} requests beside ${answers.length} statistics: ${answers.map(({ status, ms }) => `${status} in ${(ms / 1000).toFixed(1)} s`).join(', ')}; a list behind ${READERS} that were left: ${Math.round(list.ms)} ms\n`,
    );
    expect(await gateway.stop()).to.equal(0);
  });
});
