import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { runGw, temporaryFolder } from '../kit/index.ts';

const run = promisify(execFile);
const MODULE = new URL('../../host/compile-cache.js', import.meta.url).href;
const ANOTHER_USER = 12_345;
const isRoot = process.getuid?.() === 0;

interface Place {
  /** Where the code lies. */
  readonly code: string;
  /** What the user's own caches lie in. */
  readonly home: string;
  /** Where both are. */
  readonly folder: string;
}

async function place(): Promise<Place> {
  const folder = await temporaryFolder();
  const [code, home] = [join(folder, 'node_modules'), join(folder, 'home')];
  await mkdir(code);
  await mkdir(home, { mode: 0o700 });
  return { folder, code, home };
}

/** The folder that Node keeps compiled code in, without its own part of it; empty where there is none. */
async function cacheOf({ code, home }: Place, umask = 0o022): Promise<string> {
  const script = `
    process.umask(${umask});
    const { useCompileCache } = await import('${MODULE}');
    const { getCompileCacheDir } = await import('node:module');
    useCompileCache({ beside: '${code}', name: '.cache/gw', cacheHome: undefined });
    process.stdout.write(getCompileCacheDir() ?? '');`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    env: { HOME: home, TMPDIR: join(home, 'never') },
  });
  return stdout.replace(/\/v\d[^/]*$/, '');
}

describe('compiled code for the next start', function (this: Mocha.Suite) {
  before(function skipWithoutUsers() {
    if (!process.getuid) this.skip();
  });

  it('lies beside the code, in a folder of this user alone', async () => {
    const at = await place();
    expect(await cacheOf(at)).to.equal(join(at.code, '.cache/gw'));
    expect((await stat(join(at.code, '.cache/gw'))).mode & 0o777).to.equal(0o700);
    expect(await cacheOf(at), 'the next start').to.equal(join(at.code, '.cache/gw'));
  });

  it('lies in a folder of the user where none can be made beside the code', async () => {
    const at = await place();
    await writeFile(join(at.code, '.cache'), 'in the way');
    expect(await cacheOf(at)).to.equal(join(at.home, '.cache/gw'));
    expect((await stat(join(at.home, '.cache/gw'))).mode & 0o777).to.equal(0o700);
    expect(await cacheOf({ ...at, code: join(at.folder, 'not there') })).to.equal(join(at.home, '.cache/gw'));
    expect(await readdir(at.folder), 'nothing is installed by it').to.not.include('not there');
  });

  const planted: Record<string, (folder: string) => Promise<unknown>> = {
    'is a link': async (folder) => {
      await mkdir(`${folder}-elsewhere`, { recursive: true, mode: 0o700 });
      await symlink(`${folder}-elsewhere`, folder);
    },
    'others may write': async (folder) => {
      await mkdir(folder);
      await chmod(folder, 0o777);
    },
    'its group may write': async (folder) => {
      await mkdir(folder);
      await chmod(folder, 0o775);
    },
    'holds a folder that others may write': async (folder) => {
      await mkdir(join(folder, 'v26'), { recursive: true, mode: 0o700 });
      await chmod(join(folder, 'v26'), 0o777);
    },
  };
  if (isRoot) {
    planted['belongs to another user'] = async (folder) => {
      await mkdir(folder, { mode: 0o700 });
      await chown(folder, ANOTHER_USER, ANOTHER_USER);
    };
    planted['holds a folder of another user'] = async (folder) => {
      await mkdir(join(folder, 'v26'), { recursive: true, mode: 0o700 });
      await chown(join(folder, 'v26'), ANOTHER_USER, ANOTHER_USER);
    };
  }

  for (const [what, plant] of Object.entries(planted)) {
    it(`is neither read from nor written to a folder that ${what}, beside the code or in the home of the user`, async () => {
      const at = await place();
      await mkdir(join(at.code, '.cache'));
      await plant(join(at.code, '.cache/gw'));
      expect(await cacheOf(at)).to.equal(join(at.home, '.cache/gw'));

      const next = await place();
      await mkdir(join(next.home, '.cache'), { recursive: true });
      await plant(join(next.home, '.cache/gw'));
      expect(await cacheOf({ ...next, code: join(next.folder, 'not there') })).to.equal('');
    });
  }

  it('is not kept where others could have put the folder, or would be let into it', async () => {
    const at = await place();
    const open = join(at.folder, 'open');
    await mkdir(open);
    await chmod(open, 0o777);
    await mkdir(join(open, 'home'), { mode: 0o700 });
    expect(await cacheOf({ ...at, code: '/not there', home: join(open, 'home') })).to.equal('');
    await chmod(open, 0o1777);
    expect(await cacheOf({ ...at, code: '/not there', home: join(open, 'home') })).to.not.equal('');
    await mkdir(join(at.code, '.cache/gw'), { recursive: true });
    expect(await cacheOf(at, 0)).to.equal(join(at.home, '.cache/gw'));
    expect(await cacheOf(at)).to.equal(join(at.code, '.cache/gw'));
  });

  it('is never looked for among temporary files', async () => {
    const { folder, home } = await place();
    const { code } = await runGw(['version'], { variables: { TMPDIR: folder, HOME: home }, isCheckout: true });
    expect(code).to.equal(0);
    expect(await readdir(folder)).to.have.members(['node_modules', 'home']);
  });
});
