import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readEnvironment } from '../../host/environment/settings.ts';
import { makeDataFolder } from '../../host/start/make-data-folder.ts';
import { createGateway } from 'gw';
import { MASTER_KEY, temporaryFolder } from '../kit/index.ts';

const STORES = ['API_KEY_STORE', 'CONFIG_STORE', 'REQUEST_LOG_STORE'] as const;
const OWN = { _BACKEND: 'sqlite', _DSN: 'own.db' } as const;

const storesOf = (variables: Record<string, string>): (string | undefined)[] => {
  const { keyStore, configurationStore, logStore } = readEnvironment(variables);
  return [keyStore, configurationStore, logStore].map((store) => (store?.backend === 'sqlite' ? store.dsn : undefined));
};

const rulesOf = (variables: Record<string, string>): (string | undefined)[] =>
  readEnvironment(variables).notes.flatMap(({ rule }) => (rule === 'WN70' ? [rule] : []));

describe('GW_DATA_DIR', () => {
  it('keeps every store that has no variables of its own', () => {
    expect(storesOf({ GW_DATA_DIR: ' /data/ ' })).to.deep.equal([
      '/data/keys.db',
      '/data/config.db',
      '/data/requests.db',
    ]);
    expect(storesOf({ GW_DATA_DIR: ' ' })).to.deep.equal([undefined, undefined, undefined]);
    expect(readEnvironment({ GW_DATA_DIR: ' /data ' }).dataFolder).to.equal('/data');
  });

  for (const store of STORES)
    for (const [suffix, value] of Object.entries(OWN))
      it(`leaves ${store} to ${store}${suffix}`, () => {
        const all = storesOf({ GW_DATA_DIR: 'd' });
        const with_ = storesOf({ GW_DATA_DIR: 'd', [store + suffix]: value });
        const alone = storesOf({ [store + suffix]: value });
        const at = STORES.indexOf(store);
        expect(with_).to.deep.equal(all.with(at, alone[at]));
        expect(storesOf({ GW_DATA_DIR: 'd', [store + suffix]: '  ' })).to.deep.equal(all);
      });

  it('is warned of by WN70 where no store keeps anything there, and makes no folder then', () => {
    const all = Object.fromEntries(STORES.map((store) => [`${store}_BACKEND`, 'sqlite']));
    expect(rulesOf({ GW_DATA_DIR: 'd', ...all })).to.deep.equal(['WN70']);
    expect(readEnvironment({ GW_DATA_DIR: 'd', ...all }).dataFolder).to.equal(undefined);
    expect(rulesOf({ GW_DATA_DIR: 'd', CONFIG_STORE_BACKEND: 'memory' })).to.deep.equal([]);
  });

  it('is made for its owner alone, where its parent exists, and refused with path, reason and user where it cannot be used', async () => {
    const folder = await temporaryFolder();
    const make = (dataFolder: string): Promise<void> =>
      makeDataFolder({ settings: { dataFolder }, workingDirectory: folder } as Parameters<typeof makeDataFolder>[0]);
    await make('new');
    expect((await stat(join(folder, 'new'))).mode & 0o777).to.equal(0o700);
    await make('new');
    await writeFile(join(folder, 'file'), '');
    await mkdir(join(folder, 'there'));
    for (const [path, code] of [
      ['no/parent', 'ENOENT'],
      ['file', 'ENOTDIR'],
      ['file/below', 'ENOTDIR'],
    ] as const) {
      const error = (await make(path).catch((refused: unknown) => refused)) as Error;
      expect(error.message).to.equal(
        `GW_DATA_DIR: ${path} cannot be used: ${code}; make it one that user ${process.getuid?.()} can write`,
      );
    }
  });

  it('holds what a gateway keeps, with signs in its name that addresses of SQLite have another use for', async () => {
    const folder = join(await temporaryFolder(), 'a?b#c%d');
    const lines: string[] = [];
    const gateway = await createGateway({
      env: { GW_DATA_DIR: folder, MASTER_KEY, RATE_LIMIT_RPS: '0' },
      log: (line) => void lines.push(line),
    });
    await gateway.drain(0);
    expect((await readdir(folder)).filter((name) => name.endsWith('.db')).toSorted()).to.deep.equal([
      'config.db',
      'keys-audit.db',
      'keys-sessions.db',
      'keys.db',
      'requests.db',
    ]);
    expect(JSON.parse(lines.find((line) => line.includes('gw started')) ?? '')).to.include({ data_dir: folder });
  });
});
