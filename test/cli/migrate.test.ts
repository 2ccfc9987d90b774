import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { createGateway } from 'gw';
import { forSuite, MASTER_KEY, startPostgres, temporaryFolder } from '../kit/index.ts';
import { type CommandResult, runCommand } from './commands.ts';

const gw = (variables: Record<string, string>, ...args: string[]): Promise<CommandResult> =>
  runCommand(['migrate', ...args], { variables });

/** Starts and ends a gateway; what a start that is refused says. */
async function started(variables: Record<string, string>): Promise<{ lines: Record<string, any>[]; error?: string }> {
  const lines: Record<string, any>[] = [];
  const log = (line: string): void => {
    lines.push(JSON.parse(line) as Record<string, any>);
  };
  try {
    const gateway = await createGateway({ env: { MASTER_KEY, ...variables }, log });
    await gateway.drain(0);
    return { lines };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: Error };
    return { lines, error: `${message} ${cause?.message ?? ''}` };
  }
}

/** Takes the newest steps of the request log back, as an older program has left it. */
async function forget(folder: string, ...versions: readonly number[]): Promise<void> {
  const database = await openSqlite(join(folder, 'requests.db'), folder);
  for (const table of ['request_log_schema_migrations', 'request_log_schema_additions'])
    await database
      .knex(table)
      .whereIn('version', [...versions])
      .delete();
  await database.close();
}

describe('gw migrate', () => {
  it('says so where no store keeps tables', async () => {
    for (const args of [[], ['--check']]) {
      const { code, stdout } = await gw({}, ...args);
      expect([code, stdout]).to.deep.equal([0, '[OK] no store keeps tables\n']);
    }
  });

  it('tells with --check what new files would get, and makes none; then makes them, and has nothing left to do', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const variables = { GW_DATA_DIR: folder };
    const before = await gw(variables, '--check');
    expect([before.code, before.stderr]).to.deep.equal([1, '']);
    expect(before.stdout).to.match(/^api_key 1 [^\n]+ \((?:not additive|additive, from \d+)\)\n/);
    expect(before.stdout.trim().split('\n').length).to.be.greaterThan(20);
    expect(await readdir(join(folder, '..'))).to.deep.equal([]);

    const made = await gw(variables);
    expect([made.code, made.stderr]).to.deep.equal([0, '']);
    expect(made.stdout)
      .to.match(/^STORE +BACKEND +FROM +TO +STEPS\n/)
      .and.to.match(/\nrequest_log +sqlite +0 +\d+ +/);
    for (const args of [[], ['--check']])
      expect((await gw(variables, ...args)).stdout).to.equal('[OK] nothing to do\n');
    expect((await started({ ...variables, GW_MIGRATE: 'off' })).error).to.equal(undefined);
  });

  it('is what a start asks for where GW_MIGRATE is off and steps are missing, and indexes alone are warned of', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const variables = { GW_DATA_DIR: folder };
    await gw(variables);
    const index = LOG_SCHEMA.migrations.findLast((step) => 'indexes' in step);
    const column = LOG_SCHEMA.migrations.findLast((step) => 'up' in step);
    await forget(folder, index!.version);
    const warned = await started({ ...variables, GW_MIGRATE: ' OFF ' });
    expect([warned.error, warned.lines.some(({ rule }) => rule === 'WN73')]).to.deep.equal([undefined, true]);
    await forget(folder, index!.version, column!.version);
    const refused = await started({ ...variables, GW_MIGRATE: 'off' });
    expect(refused.error)
      .to.include(`${column!.version} ${column!.name}`)
      .and.to.include('run "gw migrate", or unset GW_MIGRATE');
    const { code, stdout } = await gw(variables, '--check');
    expect([code, stdout.split('\n').filter((line) => line.startsWith('request_log ')).length]).to.deep.equal([1, 2]);
  });

  it('refuses what it cannot read, as a start does', async () => {
    expect((await gw({ GW_MIGRATE: 'never' })).stderr).to.equal('Error: GW_MIGRATE is "never"; use start or off\n');
    const missing = await gw({ GW_DATA_DIR: '/nowhere/data' });
    expect([missing.code, missing.stderr]).to.deep.equal([
      1,
      `Error: GW_DATA_DIR: /nowhere/data cannot be used: ENOENT; make it one that user ${process.getuid?.()} can write\n`,
    ]);
  });

  describe('on Postgres', () => {
    const postgres = forSuite(() => startPostgres());

    it('takes every step once, also when two run at the same time', async () => {
      const dsn = await postgres().createDatabase();
      const variables = Object.fromEntries(
        ['API_KEY_STORE', 'CONFIG_STORE', 'REQUEST_LOG_STORE'].flatMap((store) => [
          [`${store}_BACKEND`, 'postgres'],
          [`${store}_DSN`, dsn],
        ]),
      );
      expect((await gw(variables, '--check')).code).to.equal(1);
      const both = await Promise.all([gw(variables), gw(variables)]);
      expect(both.map(({ code, stderr }) => `${code} ${stderr}`)).to.deep.equal(['0 ', '0 ']);
      expect((await gw(variables, '--check')).stdout).to.equal('[OK] nothing to do\n');
      expect((await started({ ...variables, GW_MIGRATE: 'off' })).error).to.equal(undefined);
    });
  });
});
