import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { AUDIT_SCHEMA } from '../../builtins/stores/audit-schema.ts';
import type { Database } from '../../builtins/stores/database/database.ts';
import { SHARED_SCHEMA } from '../../builtins/stores/replicas/replica-schema.ts';
import { KEY_SCHEMA } from '../../builtins/stores/key-schema.ts';
import { tellNobody } from '../../builtins/stores/database/listen.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { SqlAudit } from '../../builtins/stores/sql-audit.ts';
import { SqlKeys } from '../../builtins/stores/sql-keys.ts';
import { SqlLogs } from '../../builtins/stores/log/sql-logs.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { MOST_SUM } from '../../host/common/bounded-sum.ts';
import type { RequestLogRow } from '../../host/contract/index.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { AuditStore } from '../../host/stores/audit/audit-store.ts';
import { KeyStore } from '../../host/stores/keys/key-store.ts';
import { digestOf } from '../../host/stores/principals.ts';
import { RequestLogStore } from '../../host/stores/log/request-log-store.ts';
import type { StoreDeps } from '../../host/stores/store-deps.ts';
import { atEnd, Dice, fakeClock, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const ROWS = 700;
const REFUSED = 'a row was refused by its store';

interface Told {
  readonly deps: StoreDeps;
  /** Messages of errors, with whatever names the row. */
  readonly lines: unknown[];
}

function telling(): Told {
  const lines: unknown[] = [];
  const error = (message: string, { store: _store, error: _error, ...row }: Record<string, unknown> = {}): void => {
    lines.push([message, row]);
  };
  return { lines, deps: { clock: fakeClock(), log: { ...SILENT, error }, redactor: createRedactor({}), randomBytes } };
}

/** From now on the table refuses rows of which this holds. */
async function refuse({ knex, dialect }: Database, table: string, condition: (row: string) => string): Promise<void> {
  if (dialect.name === 'postgres')
    await knex.raw(`ALTER TABLE ${table} ADD CONSTRAINT none CHECK (NOT (${condition('')}))`);
  else
    for (const event of ['INSERT', 'UPDATE'])
      await knex.raw(
        `CREATE TRIGGER none_${event} BEFORE ${event} ON ${table} WHEN ${condition('NEW.')} BEGIN SELECT RAISE(ABORT, 'none'); END`,
      );
}

const row = (more: Partial<RequestLogRow>): RequestLogRow => ({
  trace_id: 't',
  stage: 'after_request',
  model: 'm',
  created_at: 1,
  ...more,
});

function logOf(database: Database, { deps }: Told): { readonly log: RequestLogStore; readonly dropped: () => number } {
  let dropped = 0;
  const retention = { days: undefined, rows: undefined };
  return {
    log: new RequestLogStore(new SqlLogs(database), {
      ...deps,
      backend: 'test',
      retention,
      dropped: (rows) => {
        dropped += rows;
      },
    }),
    dropped: () => dropped,
  };
}

function suite(open: () => Promise<Database>): void {
  it('of the request log is left out, and all others arrive', async () => {
    const database = await open();
    await refuse(database, 'request_logs', (of) => `${of}model = 'bad'`);
    const told = telling();
    const { log, dropped } = logOf(database, told);
    for (let at = 0; at < ROWS; at += 1)
      log.append(row({ trace_id: `t${at}`, model: at % 300 === 7 ? 'bad' : `m${at}` }));
    await log.close();
    const models = (await new SqlLogs(database).list({ stages: [] }, ROWS, 0)).rows.map(({ model }) => model);
    expect(models).to.have.members(
      Array.from({ length: ROWS }, (_, at) => `m${at}`).filter((_name, at) => at % 300 !== 7),
    );
    expect(told.lines).to.deep.equal(
      [7, 307, 607].map((at) => [REFUSED, { stage: 'after_request', trace_id: `t${at}` }]),
    );
    expect(dropped()).to.equal(3);
  });

  it('of the request log is kept without the numbers that its columns cannot hold', async () => {
    const database = await open();
    const told = telling();
    const { log } = logOf(database, told);
    const numbers = [Number.MAX_SAFE_INTEGER, 2 ** 53, 1e23, Infinity, NaN, -5, 0.5];
    for (const [at, number] of numbers.entries()) {
      log.append(
        row({
          created_at: at,
          prompt_tokens: number,
          completion_tokens: number,
          total_tokens: number,
          cost_usd: number,
          bytes_up: number,
        }),
      );
    }
    log.append(
      row({ created_at: numbers.length, cost_usd: Number.MAX_VALUE, prompt_tokens: '7' as unknown as number }),
    );
    await log.close();
    const { rows } = await new SqlLogs(database).list({ stages: [] }, 100, 0);
    const shown = rows
      .toReversed()
      .map(({ prompt_tokens, completion_tokens, total_tokens, bytes_up, cost_usd }) => [
        prompt_tokens,
        completion_tokens,
        total_tokens,
        bytes_up,
        cost_usd,
      ]);
    const whole = (value: number): (number | null)[] => [value, value, value, value];
    expect(shown).to.deep.equal([
      [...whole(Number.MAX_SAFE_INTEGER), 9007199254740990],
      [0, 0, 0, null, 9007199254740990],
      [0, 0, 0, null, 1e23],
      [0, 0, 0, null, null],
      [0, 0, 0, null, null],
      [...whole(-5), -5],
      [0, 0, 0, null, 0.5],
      [0, 0, 0, null, null],
    ]);
    expect(told.lines).to.deep.equal([]);
  });

  it('of the request log does not break the figures, whatever numbers it holds', async () => {
    const database = await open();
    const logs = new SqlLogs(database);
    const { log } = logOf(database, telling());
    const most = Number.MAX_SAFE_INTEGER;
    for (let at = 0; at < 1100; at += 1)
      log.append(
        row({ created_at: 1000, prompt_tokens: most, completion_tokens: most, total_tokens: most, cost_usd: 1e308 }),
      );
    log.append(row({ created_at: 1000, cost_usd: 0.5 }));
    await log.close();
    await database.knex.raw('UPDATE request_logs SET cost_usd = ? WHERE id = 1', [Infinity]); // as an earlier version may have written
    const {
      groups: [group],
    } = await logs.statistics({ stages: [] }, undefined);
    expect(group).to.deep.include({ count: 1101, costUsd: 0.5 });
    expect([group?.promptTokens, group?.totalTokens].map((sum) => (sum ?? 0) / most)).to.deep.equal([1100, 1100]);
    const { points } = await logs.series({ stages: [] }, { start: 0, end: 2000, buckets: 1 });
    expect((points[0]?.promptTokens ?? 0) / most).to.equal(1100);
  });

  it('of the audit trail is left out, and all others arrive in their order', async () => {
    const database = await open();
    await refuse(database, 'audit_log', (of) => `${of}action = 'bad'`);
    const { deps, lines } = telling();
    const audit = new AuditStore(deps);
    audit.supply('test', new SqlAudit(database));
    for (let at = 0; at < ROWS; at += 1)
      audit.append({ action: at === 250 ? 'bad' : `${at}`, actor: 'ada', actorId: 'id', outcome: 'ok' });
    await audit.close();
    const { entries, total } = await new SqlAudit(database).list({ limit: ROWS, offset: 0 });
    expect(total).to.equal(ROWS - 1);
    expect(entries.map(({ action }) => action).toReversed()).to.deep.equal(
      Array.from({ length: ROWS }, (_, at) => `${at}`).filter((_action, at) => at !== 250),
    );
    expect(lines).to.deep.equal([[REFUSED, { action: 'bad', actor_id: 'id' }]]);
  });

  it('of the uses of keys is left out, and all others are counted', async () => {
    const database = await open();
    const { deps, lines } = telling();
    const keys = new KeyStore(deps);
    const repository = new SqlKeys(database, tellNobody);
    keys.supply('test', repository);
    const made = await Promise.all(['a', 'bad', 'b', 'c'].map((name) => keys.create({ name, scopes: [] })));
    await refuse(database, 'api_keys', (of) => `${of}name = 'bad' AND ${of}usage_count > 0`);
    for (let use = 0; use < 3; use += 1)
      for (const { key } of made) await (keys.find(digestOf(key)) ?? keys.ask(digestOf(key)));
    await keys.close();
    expect(
      await Promise.all(made.map(async ({ record: { id } }) => (await repository.get(id))?.usageCount)),
    ).to.deep.equal([3, 0, 3, 3]);
    expect(lines).to.deep.equal([[REFUSED, { api_key_id: made[1]?.record.id, uses: 3 }]]);
  });

  it('of the uses of keys stops at the largest number', async () => {
    const database = await open();
    const { deps, lines } = telling();
    const keys = new KeyStore(deps);
    const repository = new SqlKeys(database, tellNobody);
    keys.supply('test', repository);
    const {
      record: { id },
    } = await keys.create({ name: 'a', scopes: [] });
    for (const [before, after] of [
      ['9223372036854775807', MOST_SUM],
      [`${MOST_SUM - 1}`, MOST_SUM],
      ['5', 7],
    ] as const) {
      await database.knex.raw(`UPDATE api_keys SET usage_count = ${before}`);
      await repository.addUses([{ id, count: 2, at: 1 }]);
      expect((await repository.get(id))?.usageCount).to.equal(after);
    }
    expect(lines).to.deep.equal([]);
  });
}

async function migrated(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  for (const schema of [SHARED_SCHEMA, KEY_SCHEMA, AUDIT_SCHEMA, LOG_SCHEMA])
    await migrate(database, schema, SILENT, Date.now);
  return database;
}

describe('a row with absurd numbers, or one that its store refuses, on SQLite', () =>
  suite(async () => {
    const folder = await temporaryFolder();
    return migrated(() => openSqlite(join(folder, 'all.db'), folder));
  }));

describe('a row with absurd numbers, or one that its store refuses, on Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite(startPostgres);
  const open = async (): Promise<Database> => {
    const dsn = await server().createDatabase();
    return migrated(() => openPostgres(dsn));
  };
  suite(open);

  it('of the request log holds up no other one where a model has a name that is too long for its index', async () => {
    const database = await open();
    const told = telling();
    const { log } = logOf(database, told);
    const dice = new Dice(1);
    const long = String.fromCodePoint(...Array.from({ length: 1024 }, () => 0x4e00 + dice.below(20_000)));
    for (const [at, model] of ['a', long, 'b'].entries()) log.append(row({ trace_id: `t${at}`, model }));
    await log.close();
    expect((await new SqlLogs(database).list({ stages: [] }, 10, 0)).rows.map(({ model }) => model)).to.deep.equal([
      'b',
      'a',
    ]);
    expect(told.lines).to.deep.equal([[REFUSED, { stage: 'after_request', trace_id: 't1' }]]);
  });
});
