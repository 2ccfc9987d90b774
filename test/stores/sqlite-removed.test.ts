import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { eventually, fakeClock, type FakeClock, startHost, temporaryFolder, type TestHost } from '../kit/index.ts';

const LOOK_MS = 5000;
const HOUR_MS = 60 * 60 * 1000;

interface Scene {
  readonly t: TestHost;
  readonly clock: FakeClock;
  readonly file: string;
  /** A key that is in use. */
  readonly key: string;
}

const variablesOf = (folder: string): Record<string, string> => ({
  API_KEY_STORE_BACKEND: 'sqlite',
  API_KEY_STORE_DSN: join(folder, 'keys.db'),
  CONFIG_STORE_BACKEND: 'sqlite',
  CONFIG_STORE_DSN: join(folder, 'config.db'),
  REQUEST_LOG_STORE_BACKEND: 'sqlite',
  REQUEST_LOG_STORE_DSN: join(folder, 'requests.db'),
});
const start = (folder: string, clock: FakeClock): Promise<TestHost> =>
  startHost({ targets: [{ virtual_key: 'echo' }] }, { clock, variables: variablesOf(folder) });

async function scene(): Promise<Scene> {
  const folder = await temporaryFolder();
  const clock = fakeClock();
  const t = await start(folder, clock);
  const { key } = await t.host.stores.keys.create({ name: 'ada', scopes: ['read_only'] });
  const all = { t, clock, file: join(folder, 'keys.db'), key };
  expect(await statusOf(all)).to.equal(200);
  return all;
}

const statusOf = async ({ t, key }: Scene): Promise<number> =>
  (await t.get('/v1/models', { authorization: `Bearer ${key}` })).status;

async function component(t: TestHost, name: string): Promise<string> {
  const { components } = (await t.get('/admin/health')).json();
  return components.find((one: { name: string }) => one.name === name).status;
}

const replaced = ({ lines }: TestHost): Record<string, unknown>[] =>
  lines.filter(({ msg }) => String(msg).endsWith('was replaced or removed'));

/** Time passes until the file has been looked at, and found to be another. */
async function looked({ t, clock }: Scene): Promise<void> {
  const before = clock.monotonic();
  await eventually(() => {
    if (clock.monotonic() - before < LOOK_MS) clock.advance(LOOK_MS);
    return replaced(t).length > 0;
  });
}

describe('the file of the key store', function file() {
  this.timeout(60_000);

  const others: readonly (readonly [what: string, happens: (file: string) => Promise<unknown>, path?: string])[] = [
    ['is removed', (file) => rm(file)],
    [
      'is removed with all that stands beside it',
      (file) => Promise.all(['', '-wal', '-shm', '-owner'].map((end) => rm(`${file}${end}`))),
    ],
    ['is renamed', (file) => rename(file, `${file}.old`)],
    [
      'is replaced by a copy',
      async (file) => {
        await copyFile(file, `${file}.copy`);
        await rename(`${file}.copy`, file);
      },
    ],
    [
      'is replaced by a folder',
      async (file) => {
        await rm(file);
        await mkdir(file);
      },
    ],
    ['loses its journal', (file) => rm(`${file}-wal`), '-wal'],
  ];
  for (const [what, happens, path = ''] of others) {
    it(`that ${what} is not used any more within 5 s: changes are 503, lists 500, keys in use go on`, async () => {
      const all = await scene();
      const { t, file } = all;
      await happens(file);
      await looked(all);
      expect(replaced(t).map(({ level, msg, file: named }) => [level, msg, named])).to.deep.equal([
        ['ERROR', 'the file of the key store was replaced or removed', `${file}${path}`],
      ]);
      const change = await t.post('/admin/keys', { name: 'lost', scopes: ['read_only'] });
      expect([change.status, change.json().error.code]).to.deep.equal([503, 'store_unavailable']);
      expect((await t.get('/admin/keys')).status).to.equal(500);
      expect(await component(t, 'Key store')).to.equal('unavailable');
      expect(await component(t, 'Config store')).to.equal('healthy');
      expect(await statusOf(all)).to.equal(200);
    });
  }

  it('that comes back is not trusted before a restart, which heals it', async () => {
    const all = await scene();
    const { t, file, clock, key } = all;
    await rename(file, `${file}.away`);
    await looked(all);
    await rename(`${file}.away`, file);
    clock.advance(LOOK_MS);
    expect((await t.post('/admin/keys', { name: 'lost', scopes: ['read_only'] })).status).to.equal(503);
    expect(await component(t, 'Key store')).to.equal('unavailable');
    await t.close();
    const second = await start(join(file, '..'), fakeClock(clock.now()));
    expect((await second.get('/v1/models', { authorization: `Bearer ${key}` })).status).to.equal(200);
    expect((await second.post('/admin/keys', { name: 'kept', scopes: ['read_only'] })).status).to.equal(201);
    expect(await component(second, 'Key store')).to.equal('healthy');
  });

  it('that was away between two looks is the same one', async () => {
    const { t, file, clock } = await scene();
    await rename(file, `${file}.away`);
    await rename(`${file}.away`, file);
    clock.advance(LOOK_MS);
    expect(await component(t, 'Key store')).to.equal('healthy');
    expect((await t.post('/admin/keys', { name: 'kept', scopes: ['read_only'] })).status).to.equal(201);
    expect(replaced(t)).to.deep.equal([]);
  });

  it('is looked at whenever the health is asked for', async () => {
    const { t, file } = await scene();
    await rm(file);
    expect(await component(t, 'Key store')).to.equal('unavailable');
    expect(replaced(t)).to.have.length(1);
    expect((await t.post('/admin/keys', { name: 'lost', scopes: ['read_only'] })).status).to.equal(503);
  });

  it('serves keys in use for an hour without it, and none that were not', async () => {
    const all = await scene();
    const { t, clock, file } = all;
    const { key: unused } = await t.host.stores.keys.create({ name: 'bob', scopes: ['read_only'] });
    await rm(file);
    await looked(all);
    expect((await t.get('/v1/models', { authorization: `Bearer ${unused}` })).status).to.equal(503);
    clock.advance(HOUR_MS / 2);
    expect(await statusOf(all)).to.equal(200);
    clock.advance(HOUR_MS / 2 + LOOK_MS);
    expect(await statusOf(all)).to.equal(503);
  });
});

describe('the files of the other stores', function others() {
  this.timeout(60_000);

  it('are looked at likewise, each named by what it holds', async () => {
    const all = await scene();
    const { t, clock, file } = all;
    const folder = join(file, '..');
    await Promise.all(
      ['keys-sessions.db', 'keys-audit.db', 'config.db', 'requests.db'].map((name) => rm(join(folder, name))),
    );
    clock.advance(LOOK_MS);
    await eventually(() => replaced(t).length === 4);
    expect(
      replaced(t)
        .map(({ msg, file: named }) => `${String(msg)}: ${basename(String(named))}`)
        .toSorted(),
    ).to.deep.equal([
      'the file of the audit store was replaced or removed: keys-audit.db',
      'the file of the configuration store was replaced or removed: config.db',
      'the file of the request log store was replaced or removed: requests.db',
      'the file of the session store was replaced or removed: keys-sessions.db',
    ]);
    const { components } = (await t.get('/admin/health')).json();
    expect(
      components
        .filter(({ status }: { status: string }) => status === 'unavailable')
        .map(({ name }: { name: string }) => name),
    ).to.deep.equal(['Config store', 'Request logs', 'Audit log']);
    expect((await t.request('PUT', '/admin/config', { targets: [{ virtual_key: 'echo' }] })).status).to.equal(500);
    expect((await t.get('/admin/logs')).status).to.equal(500);
    expect(await statusOf(all)).to.equal(200);
  });
});
