import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import knex, { type Knex } from 'knex';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { KEY_SCHEMA } from '../../builtins/stores/key-schema.ts';
import { atEnd, MASTER_KEY, some, startGateway, startHost, temporaryFolder, type TestHost } from '../kit/index.ts';
import { runCommand } from '../cli/commands.ts';
import { SILENT } from './backends.ts';

const sqlite = (dsn?: string): Record<string, string> => ({
  API_KEY_STORE_BACKEND: 'sqlite',
  ...(dsn !== undefined && { API_KEY_STORE_DSN: dsn }),
});

function open(filename: string): Knex {
  const db = knex({ client: 'sqlite3', connection: { filename }, useNullAsDefault: true });
  atEnd(() => db.destroy());
  return db;
}

const startOn = (dsn: string): Promise<TestHost> =>
  startHost({ targets: [{ virtual_key: 'echo' }] }, { variables: sqlite(dsn) });

describe('a gateway on SQLite', function onSqlite() {
  this.timeout(60_000);

  it('keeps keys, sessions, uses and the audit trail over a restart', async () => {
    const dsn = join(await temporaryFolder(), 'keys.db');
    const first = await startOn(dsn);
    const { keys, sessions, audit } = first.host.stores;
    const { key, record } = await keys.create({ name: 'ada', scopes: ['read_only'], limits: { rpm: 5 } });
    const { token } = await sessions.create({ credentialId: record.id, subject: 'ada', scopes: record.scopes });
    const status = async (t: TestHost, bearer: string): Promise<number> =>
      (await t.get('/v1/models', { authorization: `Bearer ${bearer}` })).status;
    expect([await status(first, key), await status(first, key), await status(first, token)]).to.deep.equal([
      200, 200, 200,
    ]);
    audit.append({ action: 'key.create', actor: 'ada', outcome: 'ok', targetId: record.id });
    await first.close();
    const second = await startOn(dsn);
    expect(await second.host.stores.keys.get(record.id)).to.deep.include({
      name: 'ada',
      usageCount: 2,
      limits: { rpm: 5 },
    });
    expect([await status(second, key), await status(second, token)]).to.deep.equal([200, 200]);
    expect(
      (await second.host.stores.audit.list({ limit: 9, offset: 0 })).entries.map(({ targetId }) => targetId),
    ).to.deep.equal([record.id]);
    await second.host.stores.keys.revoke(record.id, 'another');
    expect([await status(second, key), await status(second, token)]).to.deep.equal([401, 401]);
  });

  it('names the file that is not a database, and one that is a folder, once', async () => {
    for (const [name, variables] of some([
      ['gw-audit.db', sqlite()],
      ['gw-config.db', { CONFIG_STORE_BACKEND: 'sqlite' }],
      ['gw-requests.db', { REQUEST_LOG_STORE_BACKEND: 'sqlite' }],
    ] as const)) {
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, name), 'something else '.repeat(500));
      const garbage = await runCommand(['serve'], { cwd, variables: { PORT: '0', ...variables } });
      expect(garbage.code).to.equal(1);
      expect(garbage.stderr)
        .to.contain(`the file ${join(cwd, name)}: SQLITE_NOTADB`)
        .and.to.match(/cannot be opened; correct [A-Z_]+_DSN, or unset [A-Z_]+_BACKEND/);
      const other = await temporaryFolder();
      await mkdir(join(other, name));
      const folder = await runCommand(['serve'], { cwd: other, variables: { PORT: '0', ...variables } });
      expect(folder.stderr.split('is not a file')).to.have.length(2);
      expect(folder.stderr).to.contain(join(other, name));
    }
  });

  it('keeps nothing that could be used in its files', async () => {
    const folder = await temporaryFolder();
    const t = await startOn(join(folder, 'keys.db'));
    const { key, record } = await t.host.stores.keys.create({ name: 'ada', scopes: [] });
    const { token } = await t.host.stores.sessions.create({ credentialId: record.id, subject: 'ada', scopes: [] });
    await t.close();
    const rows = [
      ...(await open(join(folder, 'keys.db')).table('api_keys').select('*')),
      ...(await open(join(folder, 'keys-sessions.db')).table('sessions').select('*')),
    ];
    expect(rows).to.have.length(2);
    for (const secret of [key, token, key.slice(3), token.slice(4)])
      expect(JSON.stringify(rows)).not.to.include(secret);
    expect(rows[0]).to.deep.include({ key_display: `${key.slice(0, 8)}...` });
  });

  it('makes files of its own for each store, for its owner alone, and says which', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'gw-keys.db'), '');
    await chmod(join(cwd, 'gw-keys.db'), 0o644);
    const gateway = await startGateway({ cwd, variables: { MASTER_KEY, ...sqlite('  ') } });
    const files = (await readdir(cwd)).filter((name) => name.includes('.db'));
    expect(files).to.include.members(['gw-keys.db', 'gw-sessions.db', 'gw-audit.db']);
    for (const name of files) expect((await stat(join(cwd, name))).mode & 0o777, name).to.equal(0o600);
    const told = gateway.lines.find(({ msg }) => /SQLite/.test(String(msg)));
    expect(told).to.include({ keys: 'gw-keys.db', sessions: 'gw-sessions.db', audit: 'gw-audit.db' });
    expect(gateway.lines.find(({ msg }) => msg === 'gw started')).to.include({
      api_key_store: 'sqlite',
      audit_store: 'sqlite',
      config_store: 'memory',
    });
    expect(gateway.stderr()).to.include('in memory only: configuration');
    expect((await fetch(`${gateway.url}/readyz`)).status).to.be.oneOf([200, 503]);
    expect(await gateway.stop()).to.equal(0);
  });

  it('takes a table that is there already, with what it holds', async () => {
    const file = join(await temporaryFolder(), 'old.db');
    const db = open(file);
    await db.raw(`CREATE TABLE api_keys (id TEXT PRIMARY KEY, key_hash TEXT NOT NULL UNIQUE, key_display TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, created_at DATETIME NOT NULL,
      revoked_at DATETIME, expires_at DATETIME, rotated_at DATETIME, active BOOLEAN NOT NULL, usage_count INTEGER NOT NULL DEFAULT 0, last_used_at DATETIME)`);
    await db('api_keys').insert({
      id: 'old',
      key_hash: 'h',
      key_display: 'gw_01234...',
      name: 'old',
      scopes: '["admin"]',
      created_at: '2025-01-02 03:04:05+00:00',
      active: true,
    });
    const t = await startOn(file);
    expect(await t.host.stores.keys.get('old')).to.deep.include({
      name: 'old',
      scopes: ['admin'],
      createdAt: Date.parse('2025-01-02T03:04:05Z'),
      active: true,
      limits: {},
    });
    await t.close();
    expect(
      (await db('api_key_schema_migrations').select('version').orderBy('version')).map(({ version }) => version),
    ).to.deep.equal([1, 2, 3, 4]);
  });

  it('migrates once, however many do so at once', async () => {
    const folder = await temporaryFolder();
    const databases = await Promise.all([1, 2, 3].map(() => openSqlite(join(folder, 'keys.db'), folder)));
    for (const database of databases) atEnd(() => database.close());
    await Promise.all(databases.map((database) => migrate(database, KEY_SCHEMA, SILENT, Date.now)));
    const versions = await databases[0]?.knex(KEY_SCHEMA.ledger).pluck('version');
    const additions = await databases[0]?.knex('api_key_schema_additions').pluck('version');
    expect([...(versions ?? []), ...(additions ?? [])]).to.have.members(
      KEY_SCHEMA.migrations.map(({ version }) => version),
    );
  });
});

describe('a gateway with a request log', function withLog() {
  this.timeout(60_000);
  const plugins = ['before_request', 'after_request', 'on_error'].map((stage) => ({
    name: 'request-logger',
    type: 'logging',
    stage,
    enabled: true,
    config: { persist: true },
  }));

  it('loses nothing by a clean stop, keeps it for its owner alone, and shows it after the next start', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), JSON.stringify({ targets: [{ virtual_key: 'echo' }], plugins }));
    const variables = {
      MASTER_KEY,
      GATEWAY_CONFIG: 'config.yaml',
      REQUEST_LOG_STORE_BACKEND: 'sqlite',
      RATE_LIMIT_RPS: '0',
    };
    const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
    const first = await startGateway({ cwd, variables });
    expect(first.lines.find(({ msg }) => msg === 'gw started')).to.include({ request_log_store: 'sqlite' });
    const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hi' }] });
    const statuses = await Promise.all(
      Array.from(
        { length: 20 },
        async () => (await fetch(`${first.url}/v1/chat/completions`, { method: 'POST', headers, body })).status,
      ),
    );
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(await first.stop()).to.equal(0);
    expect((await stat(join(cwd, 'gw-requests.db'))).mode & 0o777).to.equal(0o600);
    const second = await startGateway({ cwd, variables: { ...variables, REQUEST_LOG_RETENTION: '30d,1000r' } });
    const page = (await (await fetch(`${second.url}/admin/logs?stage=all`, { headers })).json()) as {
      summary: { total_entries: number };
    };
    expect(page.summary.total_entries).to.equal(40);
    expect(await second.stop()).to.equal(0);
  });

  it('takes a table that is there already, with what it holds', async () => {
    const file = join(await temporaryFolder(), 'old.db');
    const db = open(file);
    await db.raw(`CREATE TABLE request_logs (id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id TEXT, stage TEXT NOT NULL, model TEXT, provider TEXT, prompt_tokens INTEGER NOT NULL,
      completion_tokens INTEGER NOT NULL, total_tokens INTEGER NOT NULL, error_message TEXT, created_at DATETIME NOT NULL)`);
    await db('request_logs').insert({
      trace_id: 't',
      stage: 'after_request',
      model: 'm',
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      created_at: '2025-01-02 03:04:05+00:00',
    });
    const t = await startHost(
      { targets: [{ virtual_key: 'echo' }] },
      { variables: { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: file } },
    );
    const { data } = (await t.get('/admin/logs')).json();
    expect(data[0]).to.include({
      trace_id: 't',
      model: 'm',
      total_tokens: 3,
      created_at: '2025-01-02T03:04:05Z',
      duration_ms: null,
      api_key_id: '',
    });
    expect((await t.get('/admin/logs?api_key_id=none')).json().summary.total_entries).to.equal(1);
  });

  it('is answered 500, and a purge 503 with its row in the trail, while the database is away', async () => {
    const file = join(await temporaryFolder(), 'requests.db');
    const t = await startHost(
      { targets: [{ virtual_key: 'echo' }] },
      { variables: { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: file } },
    );
    await open(file).raw('DROP TABLE request_logs');
    for (const path of ['/admin/logs', '/admin/logs/stats', '/admin/explain/x', '/admin/dashboard']) {
      const answer = await t.get(path);
      expect([answer.status, answer.json().error.code], path).to.deep.equal([500, 'internal_error']);
      expect(answer.text).not.to.match(/SELECT|no such table/i);
    }
    const purge = await t.request('DELETE', '/admin/logs?before=2027-01-01T00:00:00Z');
    expect([purge.status, purge.json().error.code]).to.deep.equal([503, 'store_unavailable']);
    const { data } = (await t.get('/admin/audit?action=logs.purge')).json();
    expect(data[0]).to.include({ outcome: 'error', target_id: '*' });
    const health = (await t.get('/admin/health')).json();
    expect([health.status, health.components[3]]).to.deep.equal([
      'degraded',
      { name: 'Request logs', status: 'unavailable' },
    ]);
  });
});

describe('a start that cannot open its stores', function refused() {
  this.timeout(60_000);

  /** What it says, by the way it ends: exit code 1, the variable and the way out, and no password. */
  async function refusal(variables: Record<string, string>, cwd: string): Promise<string> {
    const { code, stderr, stdout, lines } = await runCommand(['serve'], {
      cwd,
      variables: { MASTER_KEY, PORT: '0', ...variables },
    });
    expect(code, stderr).to.equal(1);
    expect(stderr + stdout + JSON.stringify(lines)).not.to.include('the-password');
    expect(lines.map(({ level }) => level as string)).to.include('ERROR');
    return stderr;
  }

  it('names an unknown backend, and those there are', async () => {
    expect(await refusal({ API_KEY_STORE_BACKEND: 'mysql' }, await temporaryFolder())).to.match(
      /API_KEY_STORE_BACKEND is "mysql"; use one of: memory, in-memory, inmemory, sqlite, postgres, postgresql/,
    );
  });

  it('names a missing DSN', async () => {
    for (const dsn of ['', '   ']) {
      expect(await refusal({ API_KEY_STORE_BACKEND: 'PostgreSQL', API_KEY_STORE_DSN: dsn }, await temporaryFolder()))
        .to.match(/API_KEY_STORE_DSN is not set, and API_KEY_STORE_BACKEND=postgres needs it/)
        .and.to.not.contain('[REDACTED');
    }
  });

  it('names a folder that is not there, and an address that is none of a file', async () => {
    const cwd = await temporaryFolder();
    expect(await refusal(sqlite('no/keys.db'), cwd)).to.match(/API_KEY_STORE_DSN.*the folder .*no does not exist/);
    expect(await refusal(sqlite('file://elsewhere/keys.db'), cwd)).to.match(
      /API_KEY_STORE_DSN.*authority is "elsewhere"/,
    );
    await mkdir(join(cwd, 'folder'));
    expect(await refusal(sqlite('folder'), cwd)).to.match(/API_KEY_STORE_DSN/);
    await writeFile(
      join(cwd, 'text.db'),
      'this file does not hold a database, and it is longer than its header would be: '.repeat(20),
    );
    expect(await refusal(sqlite('text.db'), cwd)).to.match(/API_KEY_STORE_DSN.*not a database/);
  });

  it('names a ledger that is newer than the program', async () => {
    const cwd = await temporaryFolder();
    const db = open(join(cwd, 'keys.db'));
    await db.raw(
      'CREATE TABLE api_key_schema_migrations (version INTEGER PRIMARY KEY, name TEXT, applied_at DATETIME)',
    );
    await db('api_key_schema_migrations').insert({ version: 99, name: 'of tomorrow', applied_at: 'x' });
    expect(await refusal(sqlite('keys.db'), cwd)).to.match(
      /API_KEY_STORE_DSN.*api_key_schema_migrations holds version 99, and this program knows up to 9/,
    );
    expect(await db.schema.hasTable('api_keys')).to.equal(false);
  });

  it('names a Postgres that does not answer', async () => {
    const dsn = 'postgres://gw:the-password@127.0.0.1:1/gw';
    expect(
      await refusal({ API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn }, await temporaryFolder()),
    ).to.match(/API_KEY_STORE_DSN.*ECONNREFUSED/);
  });
});
