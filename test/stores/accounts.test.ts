import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { ACCOUNT_SCHEMA } from '../../builtins/stores/accounts/account-schema.ts';
import { SqlAccounts } from '../../builtins/stores/accounts/sql-accounts.ts';
import type { Database } from '../../builtins/stores/database/database.ts';
import { tellNobody } from '../../builtins/stores/database/listen.ts';
import { migrate } from '../../builtins/stores/database/migrate.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import type { WrittenAccount } from '../../host/common/accounts/account-members.ts';
import type { Raise } from '../../host/common/accounts/raise.ts';
import { createRedactor } from '../../host/log/redact.ts';
import type { AccountRepository, StoredAccount } from '../../host/stores/accounts/account-repository.ts';
import { AccountStore } from '../../host/stores/accounts/account-store.ts';
import { MemoryAccounts } from '../../host/stores/accounts/memory-accounts.ts';
import { StoreLink } from '../../host/stores/store-link.ts';
import { atEnd, eventually, fakeClock, forSuite, startHost, startPostgres, temporaryFolder } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');

const storedOf = (account: WrittenAccount, version = 1): StoredAccount => ({
  account,
  version,
  createdAt: NOW,
  updatedAt: NOW + version,
  importId: version > 1 ? 'imp_1' : undefined,
  importedVersion: version > 1 ? 1 : undefined,
});

/** An account with every member that may be written. */
const FULL: WrittenAccount = {
  path: '/acme/search',
  title: 'Söarch',
  blocked: true,
  budgets: [
    { usd: 0.000001, every: 'month', on: 31, at: '06:00', timezone: 'Europe/Berlin', models: ['gpt-*'] },
    { tokens: Number.MAX_SAFE_INTEGER, every: '5h', from: '2026-01-01T00:00:00Z' },
    { requests: 0 },
  ],
  rpm: 1,
  tpm: 2 ** 31 - 1,
  max_parallel: 100_000,
  models: { allow: [], deny: ['x*'] },
  providers: { allow: ['a'] },
  unpriced: 'refuse',
  required_tags: ['project'],
  child_default: { budgets: [], rpm: 5 },
};

const raiseOf = (id: string, subject: string, until: number): Raise => ({
  id,
  subject,
  unit: 'usd',
  rule: 'day@UTC+00:00',
  amount: 20_000_000,
  from: NOW,
  until,
  note: 'launch',
  actor: 'ops',
  createdAt: NOW,
});

async function migrated(open: () => Promise<Database>): Promise<Database> {
  const database = await open();
  atEnd(() => database.close());
  await migrate(database, ACCOUNT_SCHEMA, SILENT, Date.now);
  return database;
}

function suite(open: () => Promise<AccountRepository>): void {
  it('are what was written after they are read again', async () => {
    const accounts = await open();
    const kept = storedOf(FULL);
    await accounts.change(FULL.path, () => ({ stored: kept }));
    expect(await accounts.get(FULL.path)).to.deep.equal(kept);
    expect(await accounts.all()).to.deep.equal([kept]);
    const next = storedOf({ path: FULL.path }, 2);
    let seen: StoredAccount | undefined;
    await accounts.change(FULL.path, (before) => {
      seen = before;
      return { stored: next };
    });
    expect(seen).to.deep.equal(kept);
    expect(await accounts.all()).to.deep.equal([next]);
    await accounts.change(FULL.path, () => undefined);
    expect(await accounts.get(FULL.path)).to.equal(undefined);
  });

  it('stay as they are where a change is refused', async () => {
    const accounts = await open();
    const refusal = new Error('refused');
    const refused = accounts.change('/a', () => {
      throw refusal;
    });
    expect(await refused.catch((error: unknown) => error)).to.equal(refusal);
    expect(await accounts.all()).to.deep.equal([]);
  });

  it('have raises until they are over', async () => {
    const accounts = await open();
    const [long, short] = [raiseOf('r1', '/a', NOW + 2000), raiseOf('r2', '/a', NOW + 1000)];
    for (const raise of [long, short, raiseOf('r3', 'key_1', NOW + 2000)]) await accounts.addRaise(raise);
    expect(await accounts.raisesOf('/a', NOW)).to.have.deep.members([long, short]);
    expect(await accounts.raisesOf('/a', NOW + 1000)).to.deep.equal([long]);
    expect(await accounts.raises(NOW + 1000)).to.have.length(2);
    expect(await accounts.removeRaise('/b', 'r1')).to.equal(false);
    expect(await accounts.removeRaise('/a', 'r1')).to.equal(true);
    expect(await accounts.removeRaise('/a', 'r1')).to.equal(false);
    expect(await accounts.raisesOf('/a', NOW)).to.deep.equal([short]);
  });
}

describe('stored accounts', () => {
  describe('in memory', () => suite(async () => new MemoryAccounts()));
  describe('on SQLite', () =>
    suite(async () => {
      const folder = await temporaryFolder();
      return new SqlAccounts(await migrated(() => openSqlite(join(folder, 'all.db'), folder)), tellNobody);
    }));
  describe('on Postgres', function onPostgres() {
    this.timeout(60_000);
    const database = forSuite(async () => {
      const dsn = await (await startPostgres()).createDatabase();
      return migrated(() => openPostgres(dsn));
    });
    suite(async () => {
      await database().knex.raw('TRUNCATE accounts, raises');
      return new SqlAccounts(database(), tellNobody);
    });
  });
});

describe('the accounts of a process', () => {
  const opened = (): AccountStore => {
    const deps = { clock: fakeClock(), log: SILENT, redactor: createRedactor({}), randomBytes };
    return new AccountStore(deps, new StoreLink('the key store', { ...deps, backend: () => 'sqlite' }));
  };

  it('are all read at the start, which ends where they cannot be', async () => {
    const repository = new MemoryAccounts();
    await repository.change('/a', () => ({ stored: storedOf({ path: '/a' }) }));
    const store = opened();
    await store.supply('sqlite', repository);
    expect(store.accounts()).to.deep.equal([{ path: '/a' }]);
    repository.all = () => Promise.reject(new Error('lost'));
    expect(
      await opened()
        .supply('sqlite', repository)
        .catch((error: unknown) => error),
    ).to.be.instanceOf(Error);
  });

  it('move their version with each change, and tell what is stored', async () => {
    const store = opened();
    const { version } = store;
    await store.change('/a', () => ({ stored: storedOf({ path: '/a', rpm: 5 }) }));
    expect(store.version).to.be.above(version);
    expect(store.stored('/a')?.account.rpm).to.equal(5);
    await store.addRaise(raiseOf('r', '/a', Date.now() + 1e9));
    expect(store.raisesOf('/a')).to.have.length(1);
    await store.removeRaise('/a', 'r');
    expect(store.raisesOf('/a')).to.deep.equal([]);
  });
});

describe('accounts of replicas', function replicas() {
  this.timeout(60_000);

  it('are those of the replica that changed them', async () => {
    const dsn = await (await startPostgres()).createDatabase();
    const start = (): ReturnType<typeof startHost> =>
      startHost(
        { targets: [{ virtual_key: 'echo' }] },
        { variables: { API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn } },
      );
    const [one, other] = [await start(), await start()];
    const made = await one.post('/admin/accounts', { path: '/acme', rpm: 5 });
    expect(made.status).to.equal(201);
    const { accounts } = other.host.stores;
    await eventually(() => accounts.stored('/acme')?.account.rpm === 5, 20_000);
    await one.request('DELETE', `/admin/accounts/${made.json().id}`);
    await eventually(() => accounts.stored('/acme') === undefined, 20_000);
    expect(accounts.accounts()).to.deep.equal([]);
  });
});
