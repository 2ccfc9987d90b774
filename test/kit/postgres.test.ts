import { access, mkdir, mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Missing } from './missing.ts';
import { type PostgresPlace, removeLeftFolders } from './postgres-programs.ts';
import { launchPostgres } from './postgres-server.ts';
import { temporaryFolder } from './index.ts';

const SHELL = '#!/bin/sh';
const ENDS = `${SHELL}\necho "FATAL:  could not map shared memory of $PWD" >&2\nexit 1\n`;

/** A place whose programs are these files. */
async function placeOf(initdb: string, postgres = '', mode = 0o755): Promise<PostgresPlace> {
  const folder = await mkdtemp(join(await temporaryFolder(), 'gw-postgres-'));
  const files = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  await writeFile(files.initdb, initdb, { mode });
  await writeFile(files.postgres, postgres, { mode });
  return { ...files, folder, user: undefined };
}

const failure = (place: PostgresPlace): Promise<unknown> =>
  launchPostgres(() => Promise.resolve(place)).catch((error: unknown) => error);

describe('the Postgres of the tests', () => {
  before(function onlyWithShell() {
    if (process.platform === 'win32') this.skip();
  });

  const cases: readonly (readonly [what: string, reason: RegExp, place: () => Promise<PostgresPlace>])[] = [
    ['cannot be run', /^spawn its folder\/initdb EACCES$/, () => placeOf('', '', 0o644)],
    ['makes no cluster', /^FATAL: +could not map shared memory of its folder$/, () => placeOf(ENDS)],
    ['does not start', /^FATAL: +could not map shared memory of its folder$/, () => placeOf(`${SHELL}\n`, ENDS)],
    [
      'has a server that cannot be run',
      /^spawn its folder\/none ENOENT$/,
      async () => {
        const place = await placeOf(`${SHELL}\n`);
        return { ...place, postgres: join(place.folder, 'none') };
      },
    ],
  ];
  for (const [what, reason, open] of cases) {
    it(`is said to be missing, in one line, where it ${what}; nothing stays`, async () => {
      const place = await open();
      const missing = await failure(place);
      expect(missing).to.be.instanceOf(Missing);
      expect((missing as Missing).why)
        .to.match(reason)
        .and.not.include('\n');
      expect(await access(place.folder).catch(() => 'gone')).to.equal('gone');
    });
  }

  it('removes what a run that was killed has left, and nothing that is used or new', async () => {
    const parent = await temporaryFolder();
    const pidIn = async (name: string, pid: number): Promise<void> => {
      await mkdir(join(parent, name, 'data'), { recursive: true });
      await writeFile(join(parent, name, 'data', 'postmaster.pid'), `${pid}\n/data\n`);
    };
    for (const name of ['gw-postgres-left', 'gw-postgres-new', 'another']) await mkdir(join(parent, name));
    await pidIn('gw-postgres-used', process.pid);
    await pidIn('gw-postgres-dead', 2 ** 22 + 1);
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of ['gw-postgres-left', 'gw-postgres-used', 'gw-postgres-dead', 'another'])
      await utimes(join(parent, name), old, old);
    await removeLeftFolders(parent);
    expect((await readdir(parent)).toSorted()).to.deep.equal(['another', 'gw-postgres-new', 'gw-postgres-used']);
  });
});
